import { bitmapFrom, newWords, setBit, bitmapOf, or, type Bitmap } from '../../bitmap.js'
import type { ConceptIndex } from '../../code-system/provider.js'
import { fold, placeOfWord, type FilterWord } from '../../words.js'
import { tested } from '../ecl/ecl-scope.js'
import type { SnomedIndex } from '../index/snomed-index.js'
import { designationsOf } from './texts.js'
import type { ExpressionTable } from './expression-table.js'

/** Sets over all concepts of a version. Expressions that a request has met count in its size, so that lists can hold them. */
export function snomedConceptIndex(index: SnomedIndex, expressions: ExpressionTable): ConceptIndex {
  return {
    get size() {
      return index.size + expressions.count
    },
    all: () => index.all(),
    inactive: () => index.inactive(),
    values: (property) => column(index, property),
    *buildTexts() {},
    withWord: (word) => or(withCode(index, word), withTerm(index, word)),
  }
}

function withTerm(index: SnomedIndex, word: FilterWord): Bitmap {
  const found = index.words.startingWith(word.start)
  if (!word.verbatim) return found
  return tested(found, (concept) =>
    designationsOf(index, concept).some(({ value, outdated }) => outdated === undefined && placeOfWord(fold(value), word.text) >= 0),
  )
}

function withCode(index: SnomedIndex, { text }: FilterWord): Bitmap {
  const words = newWords(index.size)
  for (const [start, end] of index.ids.startingWith(text)) for (let concept = start; concept < end; concept++) setBit(words, concept)
  return bitmapOf(words, index.size)
}

const COLUMNS: ReadonlyMap<string, (index: SnomedIndex, concept: number) => string> = new Map([
  ['inactive', (index, concept) => String(!index.isActive(concept))],
  ['module', (index, concept) => index.module(concept)],
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
