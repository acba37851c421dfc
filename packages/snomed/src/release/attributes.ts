import type { Lists } from './lists.js'

/** Attribute relationships in rows; those of one concept follow each other, in the order of their groups. */
export interface AttributeRows {
  /** Ordinal of the attribute. */
  readonly types: Uint32Array
  /** Number of the role group; 0 for none. */
  readonly groups: Uint32Array
  /** Ordinal of the value, or the number of a concrete value with `CONCRETE` added. */
  readonly values: Uint32Array
}

/** The attribute relationships of all concepts. */
export interface AttributeTable extends AttributeRows {
  /** By concept: where its rows start; one more entry than there are concepts. */
  readonly start: Uint32Array
  /** By value concept: the concepts that have it as a value. */
  readonly users: Lists
}

/** Marks a concrete value in `AttributeRows.values`. */
export const CONCRETE = 0x80000000

/** True when the value is a number, a string or a boolean instead of a concept. */
export function isConcrete(value: number): boolean {
  return value >= CONCRETE
}
