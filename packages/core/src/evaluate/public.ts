export { evaluateMeasure, type EvaluateMeasureInput, type EvaluateMeasureOptions } from './evaluate-measure.js'
export { evaluateMeasureOperation, type EvaluateMeasureOperationOptions } from './operation.js'
export type { CriteriaLanguage, GroupCounts, MeasureCounts, Scope, SubjectFailure, SupplementValues } from './languages/index.js'
export type { Criterion, Evidence, GroupPlan, Population, Stratifier, StratifierCriterion, Supplement } from './measure-plan.js'
export type { Period } from './period.js'
export { toMeasureReport } from './report.js'
export type {
  EvaluatedEvidence,
  EvaluatedGroup,
  EvaluatedPopulation,
  EvaluatedPopulations,
  EvaluatedStratifier,
  EvaluatedStratum,
  EvaluatedSupplement,
  EvaluateMeasureResult,
  StratumComponent,
} from './result.js'
export type { Stratum, StratumValue } from './stratum.js'
export type { Subject } from './subject.js'
export type { Tally } from './tally.js'
