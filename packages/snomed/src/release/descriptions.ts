import { once, type DisplayOrder, memoizeRecent, orderOver, type OrderedTexts } from 'fhir-ops/internal/terminology'
import { idAt, type IdColumns } from './id-table.js'
import type { SnomedHeader, SectionReader } from './section-reader.js'
import { gatheredBitmap, firstWhere } from 'fhir-ops/internal/bits'
import type { Bitmap } from 'fhir-ops/terminology'

/** Kinds of descriptions, as numbers in columns. */
export const KINDS = { fsn: 0, synonym: 1, definition: 2 } as const

/** Acceptability of a description in a language reference set, as numbers in columns. */
export const ACCEPTABILITY = { none: 0, acceptable: 1, preferred: 2 } as const

/** The descriptions of all concepts, one per row; those of a concept are adjacent: fully specified names, synonyms, definitions. */
export interface DescriptionTable {
  readonly size: number
  /** Returns the rows of a concept, `[start, end)`. */
  rowsOf(concept: number): readonly [number, number]
  id(row: number): string
  term(row: number): string
  isActive(row: number): boolean
  /** One of `KINDS`. */
  kind(row: number): number
  /** Language code. */
  language(row: number): string
  module(row: number): string
  /** `YYYYMMDD` as a number. */
  effectiveTime(row: number): number
  /** One of `ACCEPTABILITY`. @param dialect Number of the language reference set in the header. */
  acceptability(row: number, dialect: number): number
}

/** Bytes per piece of stored terms, so that displaying one term reads little. */
export const TERM_CHUNK = 32_768
/** Bytes per piece in imports that do not state it. */
const TERM_CHUNK_BEFORE = 262_144

/** Bits of a description's flags: bit 0 is the active status, the kind is above it. */
export const FLAG_ACTIVE = 1

/** Opens the table; columns are read when first needed. */
export function descriptionTable(
  reader: SectionReader,
  header: Pick<SnomedHeader, 'languages' | 'dialects' | 'modules' | 'termChunk'>,
): DescriptionTable {
  const start = once(() => reader.numbers('description.start'))
  const ids = once((): IdColumns => ({ high: reader.numbers('description.high'), low: reader.numbers('description.low') }))
  const flags = once(() => reader.bytes('description.flags'))
  const languages = once(() => reader.bytes('description.language'))
  const modules = once(() => reader.shorts('description.module'))
  const times = once(() => reader.numbers('description.time'))
  const dialects = header.dialects.map((_, i) => once(() => reader.bytes(`acceptability.${i}`)))
  const term = termReader(reader, header.termChunk ?? TERM_CHUNK_BEFORE)
  return {
    get size() {
      return flags().length
    },
    rowsOf: (concept) => [start()[concept] ?? 0, start()[concept + 1] ?? 0],
    id: (row) => idAt(ids(), row),
    term,
    isActive: (row) => ((flags()[row] ?? 0) & FLAG_ACTIVE) !== 0,
    kind: (row) => (flags()[row] ?? 0) >> 1,
    language: (row) => header.languages[languages()[row] ?? 0] ?? '',
    module: (row) => header.modules[modules()[row] ?? 0] ?? '',
    effectiveTime: (row) => times()[row] ?? 0,
    acceptability: (row, dialect) => dialects[dialect]?.()[row] ?? ACCEPTABILITY.none,
  }
}

function termReader(reader: SectionReader, size: number): (row: number) => string {
  const offsets = once(() => reader.numbers('description.term'))
  const chunks = new Map<number, Uint8Array>()
  const decoder = new TextDecoder()
  const chunk = (number: number): Uint8Array => {
    const found = chunks.get(number) ?? reader.bytes(`terms.${number}`)
    chunks.set(number, found)
    return found
  }
  return (row) => {
    const [from, to] = [offsets()[row] ?? 0, offsets()[row + 1] ?? 0]
    const first = Math.floor(from / size)
    if (to <= (first + 1) * size) return decoder.decode(chunk(first).subarray(from - first * size, to - first * size))
    const whole = new Uint8Array(to - from)
    for (let number = first; number * size < to; number++) {
      const start = number * size
      whole.set(chunk(number).subarray(Math.max(0, from - start), to - start), Math.max(0, start - from))
    }
    return decoder.decode(whole)
  }
}

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
    startingWith: memoizeRecent(KEPT, (start) => {
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
