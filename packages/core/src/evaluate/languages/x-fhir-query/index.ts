import type { CriteriaLanguage } from '../language.js'
import { QUERY_LANGUAGE, queryEvaluator, VALUE_LANGUAGE } from './query-evaluator.js'

/** Criteria that are FHIR searches, which the storage counts, and strata by values that FHIRPath finds in what is counted. */
export const xFhirQuery: CriteriaLanguage = {
  names: [QUERY_LANGUAGE],
  valueNames: [VALUE_LANGUAGE],
  evaluator: queryEvaluator,
}
