export { evaluateMeasure, type EvaluateMeasureInput } from './evaluate-measure.js'
export { createLiveMeasure, watchMeasure, type LiveMeasure } from './live/live-measure.js'
export { evaluateMeasureOperation, measureOperations } from './measure-operations.js'
export type { CriteriaLanguage, Scope } from './languages/index.js'
export { toMeasureReport } from './report.js'
export type { EvaluateMeasureResult } from './result.js'
export {
  dataRequirements,
  toLibrary,
  type DataRequirementsInput,
  type DataRequirementsResult,
  type ModuleDefinition,
} from './requirements/data-requirements.js'
export { collectData, toParameters, type CollectDataInput, type CollectDataResult } from './collect/collect-data.js'
export { coverageHtml, coverageLcov, explanationHtml } from '../explain/index.js'
export { evaluateMeasurePart, mergeMeasureParts, type MeasurePart } from './parts/measure-part.js'
