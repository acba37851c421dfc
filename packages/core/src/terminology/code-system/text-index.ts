import { fewBitmap, gatheredBitmap, members, type Bitmap } from '../../bits/index.js'
import { memoizeRecent } from '../memo.js'
import { foldTerm, placeOfWord, wordsOf } from '../words.js'
import type { FilterWord, DisplayOrder } from '../../code-system/index.js'
import type { Work } from '../../work/index.js'
import { countingOrder } from './sorting.js'
import { codeFinder, collected, displayColumns, orderOver } from './display-order.js'
import { FAR, wordPostings, type WordPostings } from './word-postings.js'

/** Finds concepts by words of their texts. */
interface TextIndex {
  /** Returns the concepts with a text in which the filter word is the beginning of a word. */
  find(word: FilterWord): Bitmap
  /** Returns the words with this beginning. */
  words(start: string): readonly string[]
  /** Order by display; absent when the system is too large. */
  readonly order?: DisplayOrder
}

/** The texts of concepts numbered from 0. */
export interface Searched {
  readonly size: number
  readonly display: (concept: number) => string | undefined
  readonly code: (concept: number) => string
  /** Returns all texts of a concept: display, designations, code. */
  readonly texts: (concept: number) => readonly string[]
}

/** Creates the text index of a code system. */
export function* textIndex(searched: Searched): Work<TextIndex> {
  const folded = foldedTexts(searched)
  const { postings, order } = yield* indexed(searched, folded)
  return finderOver(searched, postings, order)
}

interface FoldedReader {
  readonly display: (concept: number) => string
  readonly code: (concept: number) => string
}

function foldedTexts({ display, code }: Searched): FoldedReader {
  return { display: (concept) => foldTerm(display(concept) ?? ''), code: (concept) => foldTerm(code(concept)) }
}

interface Indexed {
  readonly postings: WordPostings
  readonly order: DisplayOrder | undefined
}

/** Creates no kept closures itself, because a closure keeps all variables of its function in memory, here the list of displays. */
function* indexed({ size, texts }: Searched, { display, code }: FoldedReader): Work<Indexed> {
  const displays = yield* collected(size, display)
  const lengths = { at: (concept: number) => Math.min(displays[concept]?.length ?? 0, FAR), length: () => size }
  const byLength = yield* countingOrder(lengths, FAR + 1, undefined)
  const others = (concept: number): readonly string[] => texts(concept).map(foldTerm)
  const postings = yield* wordPostings(byLength.order, (concept) => ({ display: displays[concept] ?? '', others: others(concept) }))
  const columns = yield* displayColumns(displays, postings)
  const withCode = yield* codeFinder(size, code)
  return { postings, order: columns && orderOver(columns, { display, withCode }) }
}

function finderOver({ size, texts }: Searched, postings: WordPostings, order: DisplayOrder | undefined): TextIndex {
  const candidates = wordFinder(size, postings)
  return {
    find(word) {
      const found = candidates(word.start)
      if (!word.verbatim) return found
      return fewBitmap(Uint32Array.from(Iterator.from(members(found)).filter((concept) => hasWord(texts(concept), word))), size)
    },
    words: (start) => postings.texts.slice(...postings.range(start)),
    ...(order !== undefined && { order }),
  }
}

/** Returns the words of the texts with this beginning. */
export function wordsIn(texts: readonly string[], start: string): readonly string[] {
  return texts.flatMap((text) => wordsOf(foldTerm(text)).filter((word) => word.startsWith(start)))
}

/** True if the filter word is the beginning of a word in any of the texts. */
export function hasWord(texts: readonly string[], word: FilterWord): boolean {
  return texts.some((text) => placeOfWord(foldTerm(text), word.text) >= 0)
}

/** Number of beginnings of words whose concepts are cached. */
const KEPT = 256

function wordFinder(size: number, { range, starts, concepts }: WordPostings): (start: string) => Bitmap {
  return memoizeRecent(KEPT, (start) => {
    const [from, to] = range(start)
    return gatheredBitmap(concepts.subarray(starts[from], starts[to]), size)
  })
}
