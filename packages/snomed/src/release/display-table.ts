import { orderOver, type OrderedTexts } from 'fhir-ops/terminology'
import type { DisplayOrder } from 'fhir-ops/code-system'
import type { SectionReader } from './section-reader.js'
import { sortedWords } from './word-table.js'

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
