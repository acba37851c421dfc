export { coverageHtml, coverageLcov, explanationHtml } from './clause-html.js'
export { mergeCoverage } from './criteria.js'
export type {
  ClauseCounts,
  ClauseResources,
  Coverage,
  CoveredClause,
  CoveredDefinition,
  CoveredLibrary,
  CriterionResult,
  ExplainedCriteria,
  ExplainedCriterion,
  MissedBy,
  NearMiss,
  ReasonStep,
  SourcePart,
} from './criteria.js'
export type {
  ExplainedCoding,
  Explain,
  Explanation,
  ExplanationKind,
  ExplanationOutcome,
  ExplanationReason,
  ExplanationStep,
  NearestCode,
} from './explanation.js'
export { createRecorder, explainCriteria, type Recorder } from './recorder.js'
export { COVERAGE, coverageExtension, criteriaItems, EXPLANATION, explanationExtension, explanationParameter } from './write-explanation.js'
