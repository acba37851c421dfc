import { bitmapOf, newWords, setBit, type Bitmap } from '../../bitmap.js'
import type { SectionReader } from './section-reader.js'
import { once } from './descriptions.js'

/** Which concepts have an active fully specified name or synonym with a word. */
export interface WordTable {
  /** Concepts with a word that starts so. @param start Folded. */
  startingWith(start: string): Bitmap
}

/** Opens the table of a version with so many concepts. */
export function wordTable(reader: SectionReader, size: number): WordTable {
  const offsets = once(() => reader.numbers('words.start'))
  const texts = once(() => reader.bytes('words.text'))
  const postingStart = once(() => reader.numbers('words.concepts.start'))
  const postings = once(() => reader.numbers('words.concepts'))
  const decoder = new TextDecoder()
  const word = (place: number): string => decoder.decode(texts().subarray(offsets()[place] ?? 0, offsets()[place + 1] ?? 0))
  const firstFrom = (isBefore: (word: string) => boolean): number => {
    let low = 0
    let high = offsets().length - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(word(middle))) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    startingWith(start) {
      const from = firstFrom((found) => found < start)
      const to = firstFrom((found) => found < start || found.startsWith(start))
      const found = newWords(size)
      const end = postingStart()[to] ?? 0
      for (let i = postingStart()[from] ?? 0; i < end; i++) setBit(found, postings()[i] ?? 0)
      return bitmapOf(found, size)
    },
  }
}
