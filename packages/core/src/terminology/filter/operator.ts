import type { CodeSystemProvider } from '../code-system/provider.js'
import type { ConceptSet } from './concept-set.js'

/** One filter of an include: `property op value`. */
export interface Filter {
  readonly property: string
  readonly op: string
  readonly value: string
}

/**
 * Selects the concepts for which a filter holds.
 *
 * @returns `undefined` when the operator cannot be used with that property.
 */
export type FilterOperator = (provider: CodeSystemProvider, filter: Filter) => ConceptSet | undefined
