/** Which codes two value sets share, and which only one of them has. */
export interface Overlap {
  /** True when there is a code that both have. */
  readonly common: boolean
  /** True when the first has a code that the second does not have. */
  readonly missing: boolean
  /** True when the second has a code that the first does not have. */
  readonly extra: boolean
  /** The codes themselves, where they were compared one by one. */
  readonly codes?: OverlapCodes
}

/** The codes of an overlap. */
export interface OverlapCodes {
  readonly common: readonly string[]
  readonly missing: readonly string[]
  readonly extra: readonly string[]
}

/** How a value set stands to a second one. */
export type Relationship = 'same' | 'subset' | 'superset' | 'overlapping' | 'disjoint' | 'empty' | 'indeterminate'

/** What an overlap comes to. */
export function relationshipOf({ common, missing, extra }: Overlap): Exclude<Relationship, 'indeterminate'> {
  if (!common) return missing || extra ? 'disjoint' : 'empty'
  if (missing && extra) return 'overlapping'
  if (missing) return 'superset'
  return extra ? 'subset' : 'same'
}

/** Adds up what two pairs of parts, which have no code in common, come to. Codes are known when those of both are. */
export function joined(a: Overlap, b: Overlap): Overlap {
  return {
    common: a.common || b.common,
    missing: a.missing || b.missing,
    extra: a.extra || b.extra,
    ...(a.codes !== undefined && b.codes !== undefined && { codes: joinedCodes(a.codes, b.codes) }),
  }
}

function joinedCodes(a: OverlapCodes, b: OverlapCodes): OverlapCodes {
  return { common: [...a.common, ...b.common], missing: [...a.missing, ...b.missing], extra: [...a.extra, ...b.extra] }
}

/** What the comparison of two lists of codes comes to. */
export function overlapOf(codes: OverlapCodes): Overlap {
  return { common: codes.common.length > 0, missing: codes.missing.length > 0, extra: codes.extra.length > 0, codes }
}
