import { foldTerm, wordsOf } from 'fhir-ops/terminology'
import { gathered } from '../release/lists.js'
import { bytesOf } from '../release/section-reader.js'
import { column, numbering, textColumn } from './column.js'
import { listSections, type Section } from './section.js'

/** What words are taken from. */
export interface SearchedTerms {
  /** Number of concepts. */
  readonly size: number
  /** Where the descriptions of each concept start. */
  readonly start: Uint32Array
  readonly isSearched: (row: number) => boolean
  /** UTF-8. */
  readonly term: (row: number) => Uint8Array
}

/** Every word with the concepts that have it, in the order of UTF-16 code units. */
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
  /** In the order in which they were found. */
  readonly words: readonly string[]
  /** For each use the number of the word, and the concept; concepts ascend. */
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
