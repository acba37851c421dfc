import { foldTerm, wordsOf, countingOrder, displayColumns, FAR, wordPostings } from 'fhir-ops/internal/terminology'
import { gathered, bytesOf, sectionReader } from '../release/section-reader.js'
import { column, numbering, textColumn, listSections, type Section } from './column.js'
import { finished } from 'fhir-ops/internal/work'
import { descriptionTable } from '../release/descriptions.js'
import type { SnomedHeader } from '../release/header.js'
import { displayDialect, displayTerm } from '../provider/texts.js'

/** The terms from which words are taken. */
export interface SearchedTerms {
  /** Number of concepts. */
  readonly size: number
  /** Where the descriptions of each concept start. */
  readonly start: Uint32Array
  readonly isSearched: (row: number) => boolean
  /** Returns a term as UTF-8. */
  readonly term: (row: number) => Uint8Array
}

/** Makes the section of words: each word with the concepts that contain it, in the order of UTF-16 code units. */
export function* wordSections(terms: SearchedTerms): Iterable<Section> {
  const { words, word, concept } = conceptsByWord(terms)
  const sorted = words.map((text, number) => ({ text, number })).sort((a, b) => (a.text < b.text ? -1 : 1))
  const places = new Uint32Array(words.length)
  const offsets = column()
  const texts = textColumn()
  offsets.push(0)
  for (const [place, { text, number }] of sorted.entries()) {
    places[number] = place
    texts.push(text)
    offsets.push(texts.all().length)
  }
  yield ['words.start', bytesOf(offsets.values())]
  yield ['words.text', texts.all()]
  yield* listSections('words.concepts', gathered(words.length, { places: word.map((number) => places[number] ?? 0), items: concept }))
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
export type DescriptionHeader = Pick<SnomedHeader, 'languages' | 'dialects' | 'modules' | 'termChunk'>

/** Yields the sections of descriptions, followed by those with the order of displays. */
export function* withDisplays(sections: Iterable<Section>, header: DescriptionHeader, size: number): Iterable<Section> {
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
function* displaySections(displays: readonly string[]): Iterable<Section> {
  const lengths = { at: (concept: number) => Math.min(displays[concept]?.length ?? 0, FAR), length: () => displays.length }
  const byLength = finished(countingOrder(lengths, FAR + 1, undefined))
  const postings = finished(wordPostings(byLength.order, (concept) => ({ display: displays[concept] ?? '', others: [] })))
  const columns = finished(displayColumns(displays, postings))
  if (columns === undefined) return
  yield* wordTexts(postings.texts)
  yield ['display.words.concepts.start', bytesOf(postings.starts)]
  yield ['display.words.concepts', bytesOf(postings.concepts)]
  yield ['display.words.places', bytesOf(postings.places)]
  yield ['display.concepts.start', bytesOf(columns.words.starts)]
  yield ['display.concepts.words', bytesOf(columns.words.words)]
  yield ['display.concepts.places', bytesOf(columns.words.places)]
  yield ['display.order', bytesOf(columns.byDisplay)]
  yield ['display.length', bytesOf(columns.lengths)]
}

function* wordTexts(words: readonly string[]): Iterable<Section> {
  const offsets = column()
  const texts = textColumn()
  offsets.push(0)
  for (const word of words) {
    texts.push(word)
    offsets.push(texts.all().length)
  }
  yield ['display.words.start', bytesOf(offsets.values())]
  yield ['display.words.text', texts.all()]
}
