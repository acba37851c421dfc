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
export {
  type ExplainedCoding,
  type Explain,
  type Explanation,
  type ExplanationKind,
  type ExplanationOutcome,
  type ExplanationReason,
  type ExplanationStep,
  type NearestCode,
  createRecorder,
  explainCriteria,
  type Recorder,
} from './explanation.js'
export { COVERAGE, coverageExtension, criteriaItems, EXPLANATION, explanationExtension, explanationParameter } from './write-explanation.js'
