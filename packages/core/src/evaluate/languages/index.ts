import type { CriteriaLanguage } from './language.js'
import { xFhirQuery } from './x-fhir-query/x-fhir-query.js'

/** The languages of the engine. */
export const CRITERIA_LANGUAGES: readonly CriteriaLanguage[] = [xFhirQuery]

export { LANGUAGES, MAX_FAILURES, NO_COUNTS } from './language.js'
export { canSupplement, foreignIn, mixedLanguage } from './mixed-languages.js'
export type {
  CriteriaLanguage,
  GroupCounts,
  KeptResults,
  MeasureCounts,
  ParameterUse,
  RequiredData,
  RequirementScope,
  Requirements,
  Scope,
  SubjectFailure,
  SupplementValues,
} from './language.js'
