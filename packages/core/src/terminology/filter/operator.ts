import type { CodeSystemProvider, ConceptSet, Filter } from '../../code-system/index.js'

/**
 * Selects the concepts for which a filter holds.
 *
 * @returns `undefined` when the operator cannot be used with that property.
 */
export type FilterOperator = (provider: CodeSystemProvider, filter: Filter) => ConceptSet | undefined
