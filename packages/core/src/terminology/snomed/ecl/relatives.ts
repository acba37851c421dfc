import type { HierarchyOperator } from '../../../ecl/index.js'
import { andNot, bitmapOf, members, newWords, or, setBit, type Bitmap } from '../../bitmap.js'
import type { SnomedIndex } from '../index/snomed-index.js'

type Relatives = (index: SnomedIndex, concepts: Bitmap) => Bitmap

/** What each operator of the hierarchy makes of a set of concepts. */
export const RELATIVES: ReadonlyMap<HierarchyOperator, Relatives> = new Map<HierarchyOperator, Relatives>([
  ['<', descendants],
  ['<<', (index, concepts) => or(concepts, descendants(index, concepts))],
  ['<!', (index, concepts) => neighbours(concepts, (concept) => index.children(concept))],
  [
    '<<!',
    (index, concepts) =>
      or(
        concepts,
        neighbours(concepts, (concept) => index.children(concept)),
      ),
  ],
  ['>', ancestors],
  ['>>', (index, concepts) => or(concepts, ancestors(index, concepts))],
  ['>!', (index, concepts) => neighbours(concepts, (concept) => index.parents(concept))],
  [
    '>>!',
    (index, concepts) =>
      or(
        concepts,
        neighbours(concepts, (concept) => index.parents(concept)),
      ),
  ],
  ['top', (index, concepts) => andNot(concepts, descendants(index, concepts))],
  ['bottom', (index, concepts) => andNot(concepts, ancestors(index, concepts))],
])

/** Concepts that are below some concept of the set; one of the set is among them only when it is below another. */
function descendants(index: SnomedIndex, concepts: Bitmap): Bitmap {
  const [only, ...others] = members(concepts)
  if (only === undefined) return concepts
  if (others.length === 0) return andNot(index.within(only), concepts)
  const words = newWords(index.size)
  const found = bitmapOf(words, index.size)
  const open = [only, ...others]
  for (let concept = open.pop(); concept !== undefined; concept = open.pop()) {
    for (const child of index.children(concept)) {
      if (found.has(child)) continue
      setBit(words, child)
      open.push(child)
    }
  }
  return bitmapOf(words, index.size)
}

function ancestors(index: SnomedIndex, concepts: Bitmap): Bitmap {
  return neighbours(concepts, (concept) => index.ancestors(concept))
}

function neighbours(concepts: Bitmap, of: (concept: number) => Iterable<number>): Bitmap {
  const words = newWords(concepts.limit)
  for (const concept of members(concepts)) for (const other of of(concept)) setBit(words, other)
  return bitmapOf(words, concepts.limit)
}
