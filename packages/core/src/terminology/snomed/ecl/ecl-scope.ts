import { EclError, type ConceptList, type ConceptReference, type Constraint } from '../../../ecl/index.js'
import { bitmapFrom, bitmapOf, members, newWords, setBit, type Bitmap } from '../../bitmap.js'
import type { SnomedIndex } from '../index/snomed-index.js'

/** What the parts of an evaluation work with. */
export interface EclScope {
  readonly index: SnomedIndex
  /** The concepts that a constraint selects. */
  readonly evaluate: (constraint: Constraint) => Bitmap
}

/** The ordinal of a concept. @throws {EclError} when there is none. */
export function conceptOf({ ids }: SnomedIndex, { id, at }: ConceptReference): number {
  const found = ids.find(id)
  if (found === undefined) throw new EclError(`The concept ${id} does not exist`, at)
  return found
}

/** The concepts of a list or of a constraint. */
export function conceptsIn(scope: EclScope, list: ConceptList): Bitmap {
  if (list.kind === 'constraint') return scope.evaluate(list.constraint)
  return bitmapFrom(
    list.concepts.map((concept) => conceptOf(scope.index, concept)),
    scope.index.size,
  )
}

/** The candidates that are accepted. */
export function tested(candidates: Bitmap, accept: (concept: number) => boolean): Bitmap {
  const words = newWords(candidates.limit)
  for (const concept of members(candidates)) if (accept(concept)) setBit(words, concept)
  return bitmapOf(words, candidates.limit)
}
