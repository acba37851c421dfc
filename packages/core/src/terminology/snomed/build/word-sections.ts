import { fold, wordsOf } from '../../words.js'
import { bytesOf } from '../index/section-reader.js'
import { column, textColumn } from './column.js'
import type { Section } from './section.js'

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
  const byWord = conceptsByWord(terms)
  const offsets = column()
  const texts = textColumn()
  const starts = column()
  const concepts = column()
  offsets.push(0)
  starts.push(0)
  for (const word of [...byWord.keys()].sort()) {
    texts.push(word)
    offsets.push(texts.all().length)
    for (const concept of byWord.get(word) ?? []) concepts.push(concept)
    starts.push(concepts.length)
  }
  yield ['words.start', bytesOf(offsets.values())]
  yield ['words.text', texts.all()]
  yield ['words.concepts.start', bytesOf(starts.values())]
  yield ['words.concepts', bytesOf(concepts.values())]
}

function conceptsByWord({ size, start, isSearched, term }: SearchedTerms): ReadonlyMap<string, readonly number[]> {
  const decoder = new TextDecoder()
  const byWord = new Map<string, number[]>()
  for (let concept = 0; concept < size; concept++) {
    const rows = range(start[concept] ?? 0, start[concept + 1] ?? 0).filter(isSearched)
    for (const word of new Set(rows.flatMap((row) => wordsOf(fold(decoder.decode(term(row))))))) {
      const list = byWord.get(word)
      if (list === undefined) byWord.set(word, [concept])
      else list.push(concept)
    }
  }
  return byWord
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}
