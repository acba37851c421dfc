import type { CriteriaLanguage } from '../language.js'
import { queryEvaluator } from './query-evaluator.js'

/** Criteria that are FHIR searches. What a search matches is counted by the storage; no resource is read. */
export const xFhirQuery: CriteriaLanguage = { names: ['application/x-fhir-query'], evaluator: queryEvaluator }
