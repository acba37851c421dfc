import { foldTerm, wordsOf, countingOrder, displayColumns, FAR, wordPostings } from 'fhir-ops/internal/terminology'
import { finished } from 'fhir-ops/internal/work'
import { ACCEPTABILITY, FLAG_ACTIVE, KINDS, TERM_CHUNK, descriptionTable } from '../release/descriptions.js'
import type { IdTable } from '../release/id-table.js'
import { SCT } from '../sctid.js'
import { gathered, bytesOf, sectionReader, type SnomedHeader } from '../release/section-reader.js'
import { displayDialect, displayTerm } from '../provider/texts.js'
import {
  column,
  numbering,
  textColumn,
  type Numbering,
  type Section,
  componentRows,
  type ComponentRows,
  type SortedRows,
  listSections,
} from './column.js'

/** Collects the rows of description and text definition files, then those of language reference sets. */
interface DescriptionBuilder {
  add(row: readonly string[]): void
  /** Adds a row of a language reference set; no more descriptions may be added afterwards. */
  addAcceptability(row: readonly string[]): void
  readonly languages: readonly string[]
  /** Ids of the language reference sets. */
  readonly dialects: readonly string[]
  sections(): Iterable<Section>
}

const KIND_OF: ReadonlyMap<string, number> = new Map([
  [SCT.fullySpecifiedName, KINDS.fsn],
  [SCT.synonym, KINDS.synonym],
  [SCT.definition, KINDS.definition],
])

const ACCEPTABILITY_OF: ReadonlyMap<string, number> = new Map([
  [SCT.acceptable, ACCEPTABILITY.acceptable],
  [SCT.preferred, ACCEPTABILITY.preferred],
])

/** Creates an empty builder for these concepts. */
export function descriptionBuilder(concepts: IdTable, modules: Numbering): DescriptionBuilder {
  const components = componentRows()
  const [concept, flags, language, module] = [column(), column(), column(), column()]
  const terms = textColumn()
  const languages = numbering()
  const dialects = dialectColumns(components)
  return {
    languages: languages.texts,
    dialects: dialects.ids,
    add(row) {
      const owner = concepts.find(row[4] ?? '')
      const kind = KIND_OF.get(row[6] ?? '')
      if (owner === undefined || kind === undefined) return
      components.push(row)
      concept.push(owner)
      flags.push((row[2] === '1' ? FLAG_ACTIVE : 0) | (kind << 1))
      language.push(languages.numberOf(row[5] ?? ''))
      module.push(modules.numberOf(row[3] ?? ''))
      terms.push(row[7] ?? '')
    },
    addAcceptability: dialects.add,
    sections() {
      const own = descriptionSections({
        ...dialects.sorted(),
        size: concepts.size,
        concept: concept.values(),
        flags: flags.values(),
        language: language.values(),
        module: module.values(),
        time: components.times,
        acceptability: dialects.columns(),
        term: (row) => terms.bytes(row),
      })
      const header = { languages: languages.texts, dialects: dialects.ids, modules: modules.texts, termChunk: TERM_CHUNK }
      return withDisplays(own, header, concepts.size)
    },
  }
}

interface DialectColumns {
  readonly ids: readonly string[]
  readonly add: (row: readonly string[]) => void
  readonly sorted: () => SortedRows
  /** By language reference set: the acceptability of each description, in original order. */
  readonly columns: () => readonly Uint8Array[]
}

function dialectColumns(components: ComponentRows): DialectColumns {
  const numbers = numbering()
  const acceptability: Uint8Array[] = []
  let known: SortedRows | undefined
  const sorted = (): SortedRows => (known ??= components.sorted())
  return {
    ids: numbers.texts,
    add(row) {
      const { ids, rows } = sorted()
      const place = ids.find(row[5] ?? '')
      const list = (acceptability[numbers.numberOf(row[4] ?? '')] ??= new Uint8Array(components.length))
      if (place !== undefined && row[2] === '1') list[rows[place] ?? 0] = ACCEPTABILITY_OF.get(row[6] ?? '') ?? ACCEPTABILITY.none
    },
    sorted,
    columns: () => acceptability,
  }
}

/** Descriptions in their original order, one per row. */
interface GatheredDescriptions {
  /** Number of concepts. */
  readonly size: number
  /** The effective rows, in ascending order of their ids, and these ids. */
  readonly rows: Uint32Array
  readonly ids: IdTable
  readonly concept: Uint32Array
  readonly flags: Uint32Array
  readonly language: Uint32Array
  readonly module: Uint32Array
  readonly time: Uint32Array
  /** Acceptability by language reference set. */
  readonly acceptability: readonly Uint8Array[]
  readonly term: (row: number) => Uint8Array
}

/** Makes the sections of descriptions: those of a concept are adjacent, ordered by kind and then by id. */
function* descriptionSections(descriptions: GatheredDescriptions): Iterable<Section> {
  const { size, rows, ids, concept, flags, term } = descriptions
  const ordered = byKind(rows, flags)
  const { start, items } = gathered(size, { places: ordered.map((place) => concept[rows[place] ?? 0] ?? 0), items: ordered })
  const order = items.map((place) => rows[place] ?? 0)
  const taken = (values: Uint32Array | Uint8Array): Uint32Array => order.map((row) => values[row] ?? 0)
  yield ['description.start', bytesOf(start)]
  yield ['description.high', bytesOf(items.map((place) => ids.high[place] ?? 0))]
  yield ['description.low', bytesOf(items.map((place) => ids.low[place] ?? 0))]
  yield ['description.flags', Uint8Array.from(taken(flags))]
  yield ['description.language', Uint8Array.from(taken(descriptions.language))]
  yield ['description.module', bytesOf(Uint16Array.from(taken(descriptions.module)))]
  yield ['description.time', bytesOf(taken(descriptions.time))]
  for (const [i, column] of descriptions.acceptability.entries()) yield [`acceptability.${i}`, Uint8Array.from(taken(column))]
  yield* termSections(order, term)
  yield* wordSections({ size, start, isSearched: (row) => isSearched(flags[order[row] ?? 0] ?? 0), term: (row) => term(order[row] ?? 0) })
}

/** Orders positions of rows by kind: names, then synonyms, then definitions. */
function byKind(rows: Uint32Array, flags: Uint32Array): Uint32Array {
  const ordered = new Uint32Array(rows.length)
  let next = 0
  for (const kind of [KINDS.fsn, KINDS.synonym, KINDS.definition]) {
    rows.forEach((row, place) => {
      if (kindAt(flags, row) === kind) ordered[next++] = place
    })
  }
  return ordered
}

function kindAt(flags: Uint32Array, row: number): number {
  return (flags[row] ?? 0) >> 1
}

/** True for names in use, which text filters search. */
function isSearched(flags: number): boolean {
  return (flags & FLAG_ACTIVE) !== 0 && flags >> 1 !== KINDS.definition
}

function* termSections(order: Uint32Array, term: (row: number) => Uint8Array): Iterable<Section> {
  const offsets = new Uint32Array(order.length + 1)
  order.forEach((row, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + term(row).length
  })
  yield ['description.term', bytesOf(offsets)]
  const total = offsets[order.length] ?? 0
  let first = 0
  for (let base = 0; base < total; base += TERM_CHUNK) {
    const chunk = new Uint8Array(Math.min(TERM_CHUNK, total - base))
    first = firstInChunk(offsets, first, base)
    for (let i = first; (offsets[i] ?? total) < base + chunk.length; i++) {
      copyWithin(chunk, term(order[i] ?? 0), (offsets[i] ?? 0) - base)
    }
    yield [`terms.${base / TERM_CHUNK}`, chunk]
  }
}

/** Returns the first term, starting at `from`, that ends after the position. */
function firstInChunk(offsets: Uint32Array, from: number, base: number): number {
  let first = from
  while ((offsets[first + 1] ?? Number.POSITIVE_INFINITY) <= base) first++
  return first
}

/** Copies the part of a term that belongs to the chunk. @param at Where the term starts, possibly before the chunk. */
function copyWithin(chunk: Uint8Array, term: Uint8Array, at: number): void {
  const part = term.subarray(Math.max(0, -at), chunk.length - at)
  chunk.set(part, Math.max(0, at))
}

/** The terms from which words are taken. */
interface SearchedTerms {
  /** Number of concepts. */
  readonly size: number
  /** Where the descriptions of each concept start. */
  readonly start: Uint32Array
  readonly isSearched: (row: number) => boolean
  /** Returns a term as UTF-8. */
  readonly term: (row: number) => Uint8Array
}

/** Makes the section of words: each word with the concepts that contain it, in the order of UTF-16 code units. */
function wordSections(terms: SearchedTerms): readonly Section[] {
  const { words, word, concept } = conceptsByWord(terms)
  const sorted = words.map((text, number) => ({ text, number })).sort((a, b) => (a.text < b.text ? -1 : 1))
  const places = new Uint32Array(words.length)
  for (const [place, { number }] of sorted.entries()) places[number] = place
  const concepts = gathered(words.length, { places: word.map((number) => places[number] ?? 0), items: concept })
  const texts = sorted.map(({ text }) => text)
  return [...textSections('words', texts), ...listSections('words.concepts', concepts)]
}

/** Stores texts as two sections. */
function textSections(name: string, texts: readonly string[]): readonly Section[] {
  const offsets = column()
  const utf8 = textColumn()
  offsets.push(0)
  for (const text of texts) {
    utf8.push(text)
    offsets.push(utf8.all().length)
  }
  return [
    [`${name}.start`, bytesOf(offsets.values())],
    [`${name}.text`, utf8.all()],
  ]
}

interface WordUses {
  /** Words in the order of their first use. */
  readonly words: readonly string[]
  /** For each use, the number of the word and the concept, in ascending order of concepts. */
  readonly word: Uint32Array
  readonly concept: Uint32Array
}

function conceptsByWord({ size, start, isSearched, term }: SearchedTerms): WordUses {
  const decoder = new TextDecoder()
  const words = numbering()
  const [word, concepts] = [column(), column()]
  for (let concept = 0; concept < size; concept++) {
    const rows = range(start[concept] ?? 0, start[concept + 1] ?? 0).filter(isSearched)
    for (const text of new Set(rows.flatMap((row) => wordsOf(foldTerm(decoder.decode(term(row))))))) {
      word.push(words.numberOf(text))
      concepts.push(concept)
    }
  }
  return { words: words.texts, word: word.values(), concept: concepts.values() }
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

/** The members of the header that are needed to read descriptions. */
type DescriptionHeader = Pick<SnomedHeader, 'languages' | 'dialects' | 'modules' | 'termChunk'>

/** Yields the sections of descriptions, followed by those with the order of displays. */
function* withDisplays(sections: Iterable<Section>, header: DescriptionHeader, size: number): Iterable<Section> {
  const written = new Map<string, Uint8Array>()
  for (const section of sections) {
    written.set(...section)
    yield section
  }
  const reader = sectionReader({ section: (name) => written.get(name) ?? new Uint8Array() })
  const texts = { descriptions: descriptionTable(reader, header), header }
  const dialect = displayDialect(texts)
  // Longer displays do not fit into the columns, and no search term may be that long.
  const display = (concept: number): string => foldTerm(displayTerm(texts, concept, dialect)).slice(0, FAR - 1)
  yield* displaySections(Array.from({ length: size }, (_, concept) => display(concept)))
}

/** @param displays Folded displays. A system that is too large gets no order. */
function displaySections(displays: readonly string[]): readonly Section[] {
  const lengths = { at: (concept: number) => Math.min(displays[concept]?.length ?? 0, FAR), length: () => displays.length }
  const byLength = finished(countingOrder(lengths, FAR + 1, undefined))
  const postings = finished(wordPostings(byLength.order, (concept) => ({ display: displays[concept] ?? '', others: [] })))
  const columns = finished(displayColumns(displays, postings))
  if (columns === undefined) return []
  return [
    ...textSections('display.words', postings.texts),
    ['display.words.concepts.start', bytesOf(postings.starts)],
    ['display.words.concepts', bytesOf(postings.concepts)],
    ['display.words.places', bytesOf(postings.places)],
    ['display.concepts.start', bytesOf(columns.words.starts)],
    ['display.concepts.words', bytesOf(columns.words.words)],
    ['display.concepts.places', bytesOf(columns.words.places)],
    ['display.order', bytesOf(columns.byDisplay)],
    ['display.length', bytesOf(columns.lengths)],
  ]
}
