import type { HierarchyOperator } from '../ecl/index.js'
import { addBit, emptyBits, bitmapOf } from 'fhir-ops/internal/bits'
import { andNot, members, or, type Bitmap } from 'fhir-ops/terminology'
import type { Work } from 'fhir-ops/internal/work'
import type { SnomedIndex } from '../release/snomed-index.js'
import { eachMember } from './ecl-scope.js'

type Relatives = (index: SnomedIndex, concepts: Bitmap) => Work<Bitmap>

/** What each operator of the hierarchy makes of a set of concepts. */
export const RELATIVES: ReadonlyMap<HierarchyOperator, Relatives> = new Map<HierarchyOperator, Relatives>([
  ['<', descendants],
  ['<<', andSelf(descendants)],
  ['<!', children],
  ['<<!', andSelf(children)],
  ['>', ancestors],
  ['>>', andSelf(ancestors)],
  ['>!', parents],
  ['>>!', andSelf(parents)],
  ['top', without(descendants)],
  ['bottom', without(ancestors)],
])

function andSelf(relatives: Relatives): Relatives {
  return function* (index, concepts) {
    return or(concepts, yield* relatives(index, concepts))
  }
}

function without(relatives: Relatives): Relatives {
  return function* (index, concepts) {
    return andNot(concepts, yield* relatives(index, concepts))
  }
}

const STEPS = 256

/** Concepts that are below some concept of the set; one of the set is among them only when it is below another. */
function* descendants(index: SnomedIndex, concepts: Bitmap): Work<Bitmap> {
  const [only, ...others] = members(concepts)
  if (only === undefined) return concepts
  if (others.length === 0) return andNot(index.within(only), concepts)
  const words = emptyBits(index.size)
  const found = bitmapOf(words, index.size)
  const open = [only, ...others]
  let steps = 0
  for (let concept = open.pop(); concept !== undefined; concept = open.pop()) {
    if (steps++ % STEPS === 0) yield
    for (const child of index.children(concept)) {
      if (found.has(child)) continue
      addBit(words, child)
      open.push(child)
    }
  }
  return bitmapOf(words, index.size)
}

function children(index: SnomedIndex, concepts: Bitmap): Work<Bitmap> {
  return neighbours(concepts, (concept) => index.children(concept))
}

function parents(index: SnomedIndex, concepts: Bitmap): Work<Bitmap> {
  return neighbours(concepts, (concept) => index.parents(concept))
}

function ancestors(index: SnomedIndex, concepts: Bitmap): Work<Bitmap> {
  return neighbours(concepts, (concept) => index.ancestors(concept))
}

function* neighbours(concepts: Bitmap, of: (concept: number) => Iterable<number>): Work<Bitmap> {
  const words = emptyBits(concepts.limit)
  yield* eachMember(concepts, (concept) => {
    for (const other of of(concept)) addBit(words, other)
  })
  return bitmapOf(words, concepts.limit)
}
