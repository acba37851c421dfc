import { EclError, type ConceptList, type ConceptReference, type Constraint } from '../ecl/index.js'
import { addBit, emptyBits, bitmapFrom, bitmapOf, members, type Bitmap } from 'fhir-ops/bits'
import type { Work } from 'fhir-ops/work'
import type { SnomedIndex } from '../release/snomed-index.js'

/** What the parts of an evaluation work with. */
export interface EclScope {
  readonly index: SnomedIndex
  /** The concepts that a constraint selects. @throws {EclError} when something does not exist, or it has too many parts. */
  readonly evaluate: (constraint: Constraint) => Work<Bitmap>
}

/** The ordinal of a concept. @throws {EclError} when there is none. */
export function conceptOf({ ids }: SnomedIndex, { id, at }: ConceptReference): number {
  const found = ids.find(id)
  if (found === undefined) throw new EclError(`The concept ${id} does not exist`, at)
  return found
}

/** The concepts of a list or of a constraint. */
export function* conceptsIn(scope: EclScope, list: ConceptList): Work<Bitmap> {
  if (list.kind === 'constraint') return yield* scope.evaluate(list.constraint)
  return bitmapFrom(
    list.concepts.map((concept) => conceptOf(scope.index, concept)),
    scope.index.size,
  )
}

/** The candidates that are accepted. */
export function* tested(candidates: Bitmap, accept: (concept: number) => boolean): Work<Bitmap> {
  const words = emptyBits(candidates.limit)
  yield* eachMember(candidates, (concept) => {
    if (accept(concept)) addBit(words, concept)
  })
  return bitmapOf(words, candidates.limit)
}

/** So few, since a test may compare hundreds of terms or attributes with a concept. */
const STEPS = 128

/** Goes through the members of a set. */
export function* eachMember(concepts: Bitmap, visit: (concept: number) => void): Work<void> {
  let steps = 0
  for (const concept of members(concepts)) {
    if (steps++ % STEPS === 0) yield
    visit(concept)
  }
}
