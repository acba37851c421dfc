import { countingOrder, displayColumns, FAR, wordPostings, foldTerm } from 'fhir-ops/terminology'
import { finished } from 'fhir-ops/work'
import { descriptionTable } from '../release/descriptions.js'
import type { SnomedHeader } from '../release/header.js'
import { bytesOf, sectionReader } from '../release/section-reader.js'
import { displayDialect, displayTerm } from '../provider/texts.js'
import { column, textColumn } from './column.js'
import type { Section } from './section.js'

/** What is read back of the sections of descriptions. */
export type DescriptionHeader = Pick<SnomedHeader, 'languages' | 'dialects' | 'modules' | 'termChunk'>

/** The sections of descriptions, and after them those of the order of displays. */
export function* withDisplays(sections: Iterable<Section>, header: DescriptionHeader, size: number): Iterable<Section> {
  const written = new Map<string, Uint8Array>()
  for (const section of sections) {
    written.set(...section)
    yield section
  }
  const reader = sectionReader({ section: (name) => written.get(name) ?? new Uint8Array() })
  const texts = { descriptions: descriptionTable(reader, header), header }
  const dialect = displayDialect(texts)
  // Longer ones have no place in the columns, and no term may be as long.
  const display = (concept: number): string => foldTerm(displayTerm(texts, concept, dialect)).slice(0, FAR - 1)
  yield* displaySections(Array.from({ length: size }, (_, concept) => display(concept)))
}

/** @param displays Folded. A system that is too large for an order gets none. */
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
