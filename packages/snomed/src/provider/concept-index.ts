import { bitmapFrom, or, rangeBitmap, type Bitmap } from 'fhir-ops/bits'
import type { ConceptIndex, FilterWord } from 'fhir-ops/code-system'
import { foldTerm, placeOfWord } from 'fhir-ops/terminology'
import { finished } from 'fhir-ops/work'
import { tested } from '../evaluate/ecl-scope.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import { designationsOf, displayDialect, displayTerm } from './texts.js'
import type { ExpressionTable } from './expression-table.js'

/** Sets over all concepts of a version. Expressions that a request has met count in its size, so that lists can hold them. */
export function snomedConceptIndex(index: SnomedIndex, expressions: ExpressionTable): ConceptIndex {
  const dialect = displayDialect(index)
  return {
    get size() {
      return index.size + expressions.count
    },
    all: () => index.all(),
    inactive: () => index.inactive(),
    values: (property) => column(index, property),
    *buildTexts() {},
    withWord: (word) => withCode(index, word, withTerm(index, word)),
    words: (start) => index.words.beginningWith(start),
    displayOrder: () => index.displayOrder((concept) => foldTerm(displayTerm(index, concept, dialect))),
  }
}

function withTerm(index: SnomedIndex, word: FilterWord): Bitmap {
  const found = index.words.startingWith(word.start)
  if (!word.verbatim) return found
  const hasWord = (concept: number): boolean =>
    designationsOf(index, concept).some(({ value, outdated }) => outdated === undefined && placeOfWord(foldTerm(value), word.text) >= 0)
  return finished(tested(found, hasWord))
}

/** The concepts with a code that starts so, and those that have it in a term. */
function withCode(index: SnomedIndex, { text }: FilterWord, found: Bitmap): Bitmap {
  const ranges = index.ids.startingWith(text)
  return ranges.map(([start, end]) => rangeBitmap(start, end, index.size)).reduce(or, found)
}

const COLUMNS: ReadonlyMap<string, (index: SnomedIndex, concept: number) => string> = new Map([
  ['inactive', (index, concept) => String(!index.isActive(concept))],
  ['module', (index, concept) => index.module(concept)],
  ['moduleId', (index, concept) => index.module(concept)],
  ['sufficientlyDefined', (index, concept) => String(index.isDefined(concept))],
])

function column(index: SnomedIndex, property: string): ReadonlyMap<string, Bitmap> {
  const read = COLUMNS.get(property)
  if (read === undefined) return new Map()
  const places = Map.groupBy(
    Array.from({ length: index.size }, (_, concept) => concept),
    (concept) => read(index, concept),
  )
  return new Map(Array.from(places, ([value, concepts]) => [value, bitmapFrom(concepts, index.size)]))
}
