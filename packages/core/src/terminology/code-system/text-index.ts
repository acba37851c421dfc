import { and, bitmapFrom, bitmapOf, newWords, setBit, type Bitmap } from '../bitmap.js'
import { fold, placeOfWord, wordsOf, type FilterWord } from '../words.js'
import type { Work } from '../work.js'

const STEPS = 128

/** Finds concepts by words of their texts. */
export interface TextIndex {
  /** The concepts that have a text in which the word stands at the start of a word. */
  find(word: FilterWord): Bitmap
}

/**
 * Makes the index over concepts numbered from 0.
 *
 * @param texts All texts of a concept: display, designations, code.
 */
export function* textIndex(size: number, texts: (concept: number) => readonly string[]): Work<TextIndex> {
  const byWord = new Map<string, number[]>()
  for (let concept = 0; concept < size; concept++) {
    for (const word of new Set(texts(concept).flatMap((text) => wordsOf(fold(text))))) {
      const list = byWord.get(word)
      if (list === undefined) byWord.set(word, [concept])
      else list.push(concept)
    }
    if (concept % STEPS === 0) yield
  }
  const words = [...byWord.keys()].sort()
  const candidates = (start: string): Bitmap => {
    const found = newWords(size)
    for (let i = firstFrom(words, start); words[i]?.startsWith(start); i++) {
      for (const concept of byWord.get(words[i] ?? '') ?? []) setBit(found, concept)
    }
    return bitmapOf(found, size)
  }
  return {
    find(word) {
      const found = candidates(word.start)
      if (!word.verbatim) return found
      return and(found, bitmapFrom(filtered(size, (concept) => found.has(concept) && hasWord(texts(concept), word)), size))
    },
  }
}

/** True when one of the texts has the word at the start of a word. */
export function hasWord(texts: readonly string[], word: FilterWord): boolean {
  return texts.some((text) => placeOfWord(fold(text), word.text) >= 0)
}

function* filtered(size: number, accept: (concept: number) => boolean): Generator<number> {
  for (let concept = 0; concept < size; concept++) if (accept(concept)) yield concept
}

function firstFrom(sorted: readonly string[], start: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? '') < start) low = middle + 1
    else high = middle
  }
  return low
}
