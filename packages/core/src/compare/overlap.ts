import { quoted } from '../errors/index.js'
import type { ExplanationStep } from '../explain/index.js'
import { codesText } from '../terminology/index.js'

/** Whether two value sets share codes, and whether one has codes that the other lacks. */
export interface Overlap {
  /** True if there is a code that both have. */
  readonly common: boolean
  /** True if the first has a code that the second lacks. */
  readonly missing: boolean
  /** True if the second has a code that the first lacks. */
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

/** Relationship of a value set to a second one. */
export type Relationship = 'same' | 'subset' | 'superset' | 'overlapping' | 'disjoint' | 'empty' | 'indeterminate'

/** Returns the relationship for an overlap. */
export function relationshipOf({ common, missing, extra }: Overlap): Exclude<Relationship, 'indeterminate'> {
  if (!common) return missing || extra ? 'disjoint' : 'empty'
  if (missing && extra) return 'overlapping'
  if (missing) return 'superset'
  return extra ? 'subset' : 'same'
}

/** Joins the overlaps of two code systems, which have no code in common. Codes are present if both have them. */
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

/** Creates an overlap from the codes of a comparison. */
export function overlapOf(codes: OverlapCodes): Overlap {
  return { common: codes.common.length > 0, missing: codes.missing.length > 0, extra: codes.extra.length > 0, codes }
}

const TAKES: Readonly<Record<Relationship, string>> = {
  same: 'both take the same codes',
  subset: 'the second takes more',
  superset: 'the first takes more',
  overlapping: 'they have codes in common, and each takes more',
  disjoint: 'they have no code in common',
  empty: 'neither takes a code',
  indeterminate: 'the definitions alone do not decide it',
}

/** Explains how two value sets relate in one code system. @param overlap `undefined` where the definitions do not decide it. */
export function systemStep(system: string, overlap: Overlap | undefined): ExplanationStep {
  const relationship = overlap === undefined ? 'indeterminate' : relationshipOf(overlap)
  return {
    kind: 'code-system',
    outcome: outcomeOf(relationship),
    definition: system,
    text: `Of ${quoted(system)}: ${TAKES[relationship]}.`,
  }
}

/** Explains whether the definitions were enough to decide. */
export function definitionsStep(decided: boolean): ExplanationStep {
  const text = decided
    ? 'The definitions show how the value sets relate.'
    : 'The definitions alone do not decide it, so all codes are compared.'
  return { kind: 'value-set', outcome: decided ? 'holds' : 'unknown', text }
}

/** Explains the result of a comparison, with the numbers of codes where they were compared one by one. */
export function comparisonStep({ relationship, message, codes }: Compared): ExplanationStep {
  const [both, mine, others] = [codes?.common, codes?.missing, codes?.extra].map((list) => codesText(list?.length ?? 0))
  const counts = codes === undefined ? '' : `: ${both} in both, ${mine} in the first alone, ${others} in the second alone.`
  return { kind: 'value-set', outcome: outcomeOf(relationship), text: `${message}${counts}` }
}

interface Compared {
  readonly relationship: Relationship
  readonly message: string
  readonly codes?: OverlapCodes | undefined
}

function outcomeOf(relationship: Relationship): ExplanationStep['outcome'] {
  if (relationship === 'indeterminate') return 'unknown'
  return relationship === 'same' || relationship === 'empty' ? 'holds' : 'fails'
}
