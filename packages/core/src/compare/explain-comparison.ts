import { quoted } from '../errors/index.js'
import type { ExplanationStep } from '../explain/index.js'
import { codesText } from '../terminology/index.js'
import { relationshipOf, type Overlap, type OverlapCodes, type Relationship } from './overlap.js'

const TAKES: Readonly<Record<Relationship, string>> = {
  same: 'both take the same codes',
  subset: 'the second takes more',
  superset: 'the first takes more',
  overlapping: 'they have codes in common, and each takes more',
  disjoint: 'they have no code in common',
  empty: 'neither takes a code',
  indeterminate: 'that cannot be told without listing codes',
}

/** What two value sets take of one code system, by their definitions; `undefined` where these do not tell. */
export function systemStep(system: string, overlap: Overlap | undefined): ExplanationStep {
  const relationship = overlap === undefined ? 'indeterminate' : relationshipOf(overlap)
  return {
    kind: 'code-system',
    outcome: outcomeOf(relationship),
    definition: system,
    text: `Of ${quoted(system)}: ${TAKES[relationship]}.`,
  }
}

/** Whether definitions told enough. */
export function definitionsStep(tell: boolean): ExplanationStep {
  const text = tell ? 'The definitions tell how the value sets relate.' : 'The definitions do not tell enough, so all codes are compared.'
  return { kind: 'value-set', outcome: tell ? 'holds' : 'unknown', text }
}

/** What a comparison came to; with the number of codes where they were compared one by one. */
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
