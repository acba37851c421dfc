import type { CodeSystemProvider } from '../../code-system/index.js'
import { formatCanonical } from '../../content/index.js'
import type { Pace } from '../../context/index.js'
import { quoted } from '../../errors/index.js'
import type { Explain, NearestCode } from '../../explain/index.js'
import { distancesFrom } from '../../text/index.js'
import { conceptTexts, mainText } from '../concept-texts.js'
import { foldTerm } from '../words.js'

/** A code that does not exist in its code system. */
interface UnknownCode {
  readonly provider: CodeSystemProvider
  readonly code: string
}

/** Maximum number of similar codes that an explanation lists for one code. */
export const MOST_NEAREST = 5

/** Records that a code does not exist, why, and which codes are written similarly. */
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
  const found = await nearestOf(pace, code, candidatesIn(provider))
  explain.nearest(eachOnce(found).map((near) => nearestCode(provider, near)))
}

type Named = readonly [concept: number, by: NearestCode['by']]

/** Yields all codes, then all texts; for a computed system, those in common use. */
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
  return found.filter(({ item: [concept] }) => !concepts.has(concept) && concepts.add(concept)).slice(0, MOST_NEAREST)
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

/** A candidate with its text. */
export interface Candidate<T> {
  readonly text: string
  readonly item: T
}

/** A candidate that is similar to the written text. */
export interface NearItem<T> {
  readonly item: T
  readonly distance: number
}

const MOST_ITEMS = 5
const MOST_ERRORS = 4
/** Maximum number of candidates that are compared. */
const BUDGET = 500_000
const LONGEST = 200
const STEPS = 1_024

/**
 * Finds the most similar candidates, at most five per distance, those with the fewest errors first, then in their order. A third of the letters may be
 * wrong, at most four; case and accents are ignored. Only the first 200 characters of the text and the first 500,000 candidates are compared.
 */
export async function nearestOf<T>(pace: Pace, written: string, candidates: Iterable<Candidate<T>>): Promise<readonly NearItem<T>[]> {
  const wanted = foldTerm(written.slice(0, LONGEST))
  const most = Math.min(MOST_ERRORS, Math.max(1, Math.floor(wanted.length / 3)))
  const byDistance = Array.from({ length: most + 1 }, (): NearItem<T>[] => [])
  const distanceTo = distancesFrom(wanted, most)
  let seen = 0
  for (const { text, item } of candidates) {
    if (++seen > BUDGET) break
    if (seen % STEPS === 0) await pace.step()
    if (Math.abs(text.length - wanted.length) > most) continue
    const distance = distanceTo(foldTerm(text))
    const alike = byDistance[distance]
    if (alike !== undefined && alike.length < MOST_ITEMS) alike.push({ item, distance })
  }
  return byDistance.flat()
}
