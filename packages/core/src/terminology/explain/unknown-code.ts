import { formatCanonical } from '../../content/index.js'
import type { Pace } from '../../context/index.js'
import { quoted } from '../../errors/index.js'
import type { Explain, NearestCode } from '../../explain/index.js'
import type { CodeSystemProvider } from '../../code-system/index.js'
import { conceptTexts, mainText } from '../concept-texts.js'
import { paced } from '../../work/index.js'
import { nearestOf, type Candidate, type NearItem } from './nearest.js'

/** A code that its code system does not have. */
export interface UnknownCode {
  readonly provider: CodeSystemProvider
  readonly code: string
}

const MOST = 5

/** Writes down that a code does not exist, why, and which codes are written much like it. */
export async function explainUnknownCode(explain: Explain | undefined, pace: Pace, { provider, code }: UnknownCode): Promise<void> {
  if (explain === undefined) return
  const { url, version } = provider.header
  const definition = formatCanonical(url, version)
  const why = provider.grammar?.whyNot(code)
  explain.step({
    kind: 'code',
    outcome: provider.header.complete ? 'fails' : 'unknown',
    reason: 'unknown-code',
    definition,
    coding: { system: url, code },
    text: `${quoted(code)} is not a code of ${quoted(definition)}${why === undefined ? '' : `: ${why}`}.`,
  })
  if (!explain.wantsNearest()) return
  const found = await paced(nearestOf(code, candidatesIn(provider)), pace)
  explain.nearest(eachOnce(found).map((near) => nearestCode(provider, near)))
}

type Named = readonly [concept: number, by: NearestCode['by']]

/** All codes, then all texts; of a system that makes its codes, those in common use. */
function* candidatesIn(provider: CodeSystemProvider): Generator<Candidate<Named>> {
  if (provider.grammar?.common !== undefined) provider.index?.all()
  const size = provider.index?.size ?? 0
  for (let concept = 0; concept < size; concept++) yield { text: provider.code(concept), item: [concept, 'code'] }
  for (let concept = 0; concept < size; concept++) {
    for (const { value } of conceptTexts(provider, concept)) yield { text: value, item: [concept, 'text'] }
  }
}

function eachOnce(found: readonly NearItem<Named>[]): readonly NearItem<Named>[] {
  const concepts = new Set<number>()
  return found.filter(({ item: [concept] }) => !concepts.has(concept) && concepts.add(concept)).slice(0, MOST)
}

function nearestCode(provider: CodeSystemProvider, { item: [concept, by], distance }: NearItem<Named>): NearestCode {
  const { url, version } = provider.header
  const display = mainText(provider, concept)?.value
  const coding = {
    system: url,
    ...(version !== undefined && { version }),
    code: provider.code(concept),
    ...(display !== undefined && { display }),
  }
  return { coding, distance, by }
}
