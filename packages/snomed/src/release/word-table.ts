import { gatheredBitmap, firstWhere } from 'fhir-ops/internal/bits'
import type { Bitmap } from 'fhir-ops/terminology'
import { type DisplayOrder, keptLately, once, orderOver, type OrderedTexts } from 'fhir-ops/internal/terminology'
import type { SectionReader } from './section-reader.js'

/** Words in alphabetical order. */
interface SortedWords {
  /** Returns the range of words that begin with `start`. @param start Folded text. */
  readonly range: (start: string) => readonly [from: number, to: number]
  readonly word: (place: number) => string
}

/** Opens the words stored in the sections `name.start` and `name.text`. */
function sortedWords(reader: SectionReader, name: string): SortedWords {
  const offsets = once(() => reader.numbers(`${name}.start`))
  const texts = once(() => reader.bytes(`${name}.text`))
  const decoder = new TextDecoder()
  const word = (place: number): string => decoder.decode(texts().subarray(offsets()[place] ?? 0, offsets()[place + 1] ?? 0))
  return {
    word,
    range(start) {
      const size = offsets().length - 1
      return [
        firstWhere(size, (place) => word(place) >= start),
        firstWhere(size, (place) => word(place) >= start && !word(place).startsWith(start)),
      ]
    },
  }
}

/** The concepts that have an active fully specified name or synonym with a word. */
export interface WordTable {
  /** Returns the concepts with a word that begins with `start`. @param start Folded text. */
  startingWith(start: string): Bitmap
  /** Returns the words that begin with `start`. */
  beginningWith(start: string): readonly string[]
}

/** Number of word beginnings whose concepts are cached. */
const KEPT = 256

/** Opens the table of a version with `size` concepts. */
export function wordTable(reader: SectionReader, size: number): WordTable {
  const words = sortedWords(reader, 'words')
  const postingStart = once(() => reader.numbers('words.concepts.start'))
  const postings = once(() => reader.numbers('words.concepts'))
  return {
    beginningWith(start) {
      const [from, to] = words.range(start)
      return Array.from({ length: to - from }, (_, i) => words.word(from + i))
    },
    startingWith: keptLately(KEPT, (start) => {
      const [from, to] = words.range(start)
      return gatheredBitmap(postings().subarray(postingStart()[from], postingStart()[to]), size)
    }),
  }
}

/** Opens the order of displays of a version that has one. */
export function displayTable(reader: SectionReader, texts: OrderedTexts): DisplayOrder {
  const columns = {
    lengths: reader.shorts('display.length'),
    byDisplay: reader.numbers('display.order'),
    postings: {
      range: sortedWords(reader, 'display.words').range,
      starts: reader.numbers('display.words.concepts.start'),
      concepts: reader.numbers('display.words.concepts'),
      places: reader.shorts('display.words.places'),
    },
    words: {
      starts: reader.numbers('display.concepts.start'),
      words: reader.numbers('display.concepts.words'),
      places: reader.shorts('display.concepts.places'),
    },
  }
  return orderOver(columns, texts)
}
