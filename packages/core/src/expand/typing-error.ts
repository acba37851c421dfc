import type { Pace } from '../context/index.js'
import { andNot, filterWords, listable, withCodes, type FilterWord, type Segment } from '../terminology/index.js'
import { matching } from './text-filter.js'

/** Shorter words are near too many others. */
const SHORTEST = /^\p{L}{4,}$/u

/**
 * Returns the codes that match when one typing error in one word of the filter is corrected: an extra, missing or wrong letter, or two swapped
 * neighbours. The first letter must be right, and the word must have at least four letters and no digits. A code that several corrections find belongs
 * to the first: by position of the word, then in alphabetic order.
 *
 * @throws {OperationError} as `Pace.step`.
 */
export async function nearlyMatching(pace: Pace, segments: readonly Segment[], filter: string): Promise<readonly Segment[]> {
  const found: Segment[] = []
  for (const corrected of corrections(segments, filterWords(filter))) {
    for (const segment of segments) {
      const match = matching(segment, corrected)
      const earlier = found.filter(({ provider }) => provider === segment.provider)
      const rest = earlier.reduce((codes, other) => andNot(codes, other.codes), match.codes)
      if (rest.count() > 0) found.push(withCodes(match, rest))
      await pace.step()
    }
  }
  return found
}

function corrections(segments: readonly Segment[], words: readonly FilterWord[]): readonly string[] {
  return words.flatMap((word, place) => {
    const texts = (corrected: string): string => words.map(({ text }, i) => (i === place ? corrected : text)).join(' ')
    return SHORTEST.test(word.text) ? nearBeginnings(segments, word.text).map(texts) : []
  })
}

/** Returns beginnings of words that are one typing error away, in alphabetic order. */
function nearBeginnings(segments: readonly Segment[], typed: string): readonly string[] {
  const first = String.fromCodePoint(typed.codePointAt(0) ?? 0)
  const near = new Set<string>()
  for (const index of new Set(segments.map(({ provider }) => listable(provider)))) {
    for (const word of index.words(first)) for (const beginning of beginningsOf(word, typed)) near.add(beginning)
  }
  return [...near].sort()
}

/** An extra letter at the end is corrected only where a word ends before it; otherwise everything with the shorter beginning would match. */
function beginningsOf(word: string, typed: string): readonly string[] {
  const lengths = word.length === typed.length - 1 ? [word.length] : [typed.length, typed.length + 1]
  return lengths
    .filter((length) => length <= word.length)
    .map((length) => word.slice(0, length))
    .filter((start) => isOneErrorApart(start, typed))
}

/** True if the texts differ by one added, removed or replaced letter, or by two swapped neighbours. */
export function isOneErrorApart(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  let same = 0
  while (same < short.length && short[same] === long[same]) same++
  if (long.length === short.length + 1) return short.slice(same) === long.slice(same + 1)
  if (long.length !== short.length || same === short.length) return false
  const swapped = short[same] === long[same + 1] && short[same + 1] === long[same]
  return short.slice(same + 1) === long.slice(same + 1) || (swapped && short.slice(same + 2) === long.slice(same + 2))
}
