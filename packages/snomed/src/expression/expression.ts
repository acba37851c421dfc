/** One attribute of an expression. */
export interface ExpressionAttribute {
  /** Ordinal of the attribute. */
  readonly type: number
  /** An ordinal, or a concrete value as it was written (`#5`, `"text"`). */
  readonly value: number | string
}

/** A postcoordinated expression over the concepts of one version. @see https://confluence.ihtsdotools.org/display/DOCSCG */
export interface Expression {
  /** Ordinals. */
  readonly foci: readonly number[]
  readonly ungrouped: readonly ExpressionAttribute[]
  readonly groups: readonly (readonly ExpressionAttribute[])[]
}
