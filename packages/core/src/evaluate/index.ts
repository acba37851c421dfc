export { evaluateMeasure, type EvaluateMeasureInput, type EvaluateMeasureOptions } from './evaluate-measure.js'
export type {
  CriteriaLanguage,
  GroupCounts,
  KeptResults,
  ParameterUse,
  RequiredData,
  RequirementScope,
  Requirements,
  Scope,
  MeasureCounts,
  SubjectFailure,
  SupplementValues,
} from './languages/index.js'
export type {
  ComponentName,
  Criterion,
  GroupPlan,
  Population,
  Stratifier,
  StratifierCriterion,
  Evidence,
  Supplement,
} from './measure-plan.js'
export {
  createLiveMeasure,
  watchMeasure,
  type LiveMeasure,
  type LiveMeasureOptions,
  type WatchMeasureOptions,
} from './live/live-measure.js'
export { addReferences } from './live/change-reader.js'
export type { ChangeReader, ReadTypes, TouchedSubjects } from './live/change-reader.js'
export type { Period } from './period.js'
export { toMeasureReport } from './report.js'
export type {
  EvaluatedGroup,
  EvaluatedPopulation,
  EvaluatedPopulations,
  EvaluatedStratifier,
  EvaluatedStratum,
  EvaluateMeasureResult,
  StratumComponent,
  EvaluatedEvidence,
  EvaluatedSupplement,
} from './result.js'
export type {
  Stratum,
  StratumValue,
  Tally,
  Amount,
  GroupSum,
  MeasureSums,
  PopulationSums,
  SumOfStratum,
  SumOfValue,
} from './totals/sums.js'
export { stratumKey } from './totals/sums.js'
export { type Subject, singleSubject, subjectConditions, subjectLinks, type SubjectLinks, isInPart, type SubjectsPart } from './subject.js'
export { membershipsOf, type Membership, decidedBy, populationTitle } from './membership.js'
export {
  dataRequirements,
  toLibrary,
  type DataRequirementsInput,
  type DataRequirementsOptions,
  type DataRequirementsResult,
  mergedRequirements,
} from './requirements/data-requirements.js'
export {
  collectData,
  toParameters,
  type CollectDataInput,
  type CollectDataResult,
  isExactFilter,
  requirementConditions,
} from './collect/collect-data.js'
export { canonicalOfMeasure, manifestOf, pinnedVersions, type PinnedVersions } from './find-measure.js'
export { coverageHtml, coverageLcov, explanationHtml } from '../explain/index.js'
export { readEvaluate } from './read-request.js'
export {
  groupTotal,
  type GroupTotal,
  type Observed,
  type StrataOfMembers,
  type SubjectResult,
  supplementTotal,
} from './totals/group-total.js'
export { MAX_FAILURES } from './languages/index.js'
export { evaluateMeasurePart, mergeMeasureParts, type MeasurePart } from './parts/measure-part.js'
