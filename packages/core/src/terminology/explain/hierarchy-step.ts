import { formatCanonical } from '../../content/index.js'
import { quoted } from '../../errors/index.js'
import type { ExplanationStep } from '../../explain/index.js'
import type { CodeSystemProvider } from '../../code-system/index.js'

/** Two concepts of one code system. */
export interface Pair {
  readonly a: number
  readonly b: number
}

/** Whether one of two concepts is above the other, with the shortest way between them. */
export function hierarchyStep(provider: CodeSystemProvider, { a, b }: Pair): ExplanationStep {
  const { hierarchy, header } = provider
  const name = (concept: number): string => quoted(provider.code(concept))
  const base = { kind: 'hierarchy', definition: formatCanonical(header.url, header.version) } as const
  if (a === b) return { ...base, outcome: 'holds', text: `${name(a)} is the same concept.` }
  const pair = [
    { from: a, to: b },
    { from: b, to: a },
  ].find(({ from, to }) => hierarchy.isWithin(from, to))
  if (pair === undefined) return { ...base, outcome: 'fails', text: `Neither of ${name(a)} and ${name(b)} is above the other.` }
  const way = wayUp(provider, pair)
  const text = way === undefined ? `${name(pair.from)} is below ${name(pair.to)} by what it means.` : `${way.map(name).join(' is below ')}.`
  return { ...base, outcome: 'holds', text }
}

const MOST_SEEN = 10_000

/** The shortest way from a concept up to another by stated parents; `undefined` when it is not found within bounds. */
function wayUp(
  { hierarchy }: CodeSystemProvider,
  { from, to }: { readonly from: number; readonly to: number },
): readonly number[] | undefined {
  const below = new Map<number, number | undefined>([[from, undefined]])
  for (const [concept] of below) {
    if (concept === to) return traced(below, to)
    if (below.size > MOST_SEEN) return undefined
    for (const parent of hierarchy.parents(concept)) if (!below.has(parent)) below.set(parent, concept)
  }
  return undefined
}

function traced(below: ReadonlyMap<number, number | undefined>, top: number): readonly number[] {
  const way: number[] = []
  for (let at: number | undefined = top; at !== undefined; at = below.get(at)) way.unshift(at)
  return way
}
