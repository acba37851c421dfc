import type { AttributeRows } from '../release/attributes.js'
import type { SnomedIndex } from '../release/snomed-index.js'

/** The attribute relationships of one concept or expression: some rows of a table. */
export interface RowRange {
  readonly rows: AttributeRows
  readonly from: number
  readonly to: number
  /** The concept itself; absent for an expression. */
  readonly concept?: number
}

/** The rows of a concept. */
export function rowsOf(index: SnomedIndex, concept: number): RowRange {
  const attributes = index.attributes()
  return { rows: attributes, from: attributes.start[concept] ?? 0, to: attributes.start[concept + 1] ?? 0, concept }
}
