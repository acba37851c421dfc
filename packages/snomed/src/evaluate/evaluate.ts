import { EclError, type ConceptFilter, type Constraint, type SubConstraint } from '../ecl/index.js'
import { addBit, emptyBits, and, andNot, ascendingBitmap, bitmapOf, emptyBitmap, or, type Bitmap } from 'fhir-ops/bits'
import { mapped, type Work } from 'fhir-ops/work'
import { isConcrete } from '../release/attributes.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import { SCT } from '../sctid.js'
import { componentTest } from './component-filter.js'
import { withDescription } from './description-filter.js'
import { conceptOf, conceptsIn, eachMember, tested, type EclScope } from './ecl-scope.js'
import { identifiedConcept } from './identified-concept.js'
import { withHistory } from './history.js'
import { membersOfRefsets } from './member-of.js'
import { refinementTest } from './refinement-test.js'
import { RELATIVES } from './relatives.js'
import { rowsOf } from './row-range.js'

/** Each part that is worked out takes memory for a set of concepts, and may take as long as a look at every concept. */
const MAX_PARTS = 1_000

/** An evaluation over one version. */
export function eclScope(index: SnomedIndex): EclScope {
  let parts = 0
  const scope: EclScope = {
    index,
    evaluate(constraint) {
      if (++parts > MAX_PARTS) throw new EclError(`The expression has more than ${MAX_PARTS} parts`, 0)
      return conceptsOf(scope, constraint)
    },
  }
  return scope
}

function* conceptsOf(scope: EclScope, constraint: Constraint): Work<Bitmap> {
  yield
  switch (constraint.kind) {
    case 'and':
      return yield* joined(scope, constraint.operands, and)
    case 'or':
      return yield* joined(scope, constraint.operands, or)
    case 'minus':
      return yield* joined(scope, [constraint.left, constraint.right], andNot)
    case 'refined':
      return yield* refined(scope, constraint)
    case 'dotted':
      return yield* dotted(scope, constraint)
    default:
      return yield* subConstraint(scope, constraint)
  }
}

function* joined(scope: EclScope, operands: readonly Constraint[], join: (a: Bitmap, b: Bitmap) => Bitmap): Work<Bitmap> {
  let found: Bitmap | undefined
  for (const operand of operands) {
    const next = yield* scope.evaluate(operand)
    found = found === undefined ? next : join(found, next)
  }
  return found ?? emptyBitmap(scope.index.size)
}

function* refined(scope: EclScope, { focus, refinement }: Extract<Constraint, { kind: 'refined' }>): Work<Bitmap> {
  const { holds, candidates } = yield* refinementTest(scope, refinement)
  const concepts = yield* scope.evaluate(focus)
  const tried = candidates === undefined ? concepts : and(concepts, yield* candidates())
  return yield* tested(tried, (concept) => holds(rowsOf(scope.index, concept)))
}

function* dotted(scope: EclScope, { focus, attributes }: Extract<Constraint, { kind: 'dotted' }>): Work<Bitmap> {
  let concepts = yield* scope.evaluate(focus)
  for (const attribute of attributes) concepts = yield* valuesOf(scope, concepts, yield* scope.evaluate(attribute))
  return concepts
}

function* valuesOf({ index }: EclScope, concepts: Bitmap, types: Bitmap): Work<Bitmap> {
  const words = emptyBits(index.size)
  yield* eachMember(concepts, (concept) => {
    const { rows, from, to } = rowsOf(index, concept)
    for (let row = from; row < to; row++) {
      const value = rows.values[row] ?? 0
      if (types.has(rows.types[row] ?? 0) && !isConcrete(value)) addBit(words, value)
    }
  })
  return bitmapOf(words, index.size)
}

function* subConstraint(scope: EclScope, sub: SubConstraint): Work<Bitmap> {
  const focus = yield* focusOf(scope, sub)
  const selected = sub.memberOf === undefined ? focus : yield* membersOfRefsets(scope, focus, sub)
  const relatives = sub.operator === undefined ? undefined : RELATIVES.get(sub.operator)
  let found = relatives === undefined ? selected : yield* relatives(scope.index, selected)
  for (const filter of sub.filters) {
    found = yield* filter.kind === 'concept' ? withStatus(scope, filter.filters, found) : withDescription(scope, filter.filters, found)
  }
  return sub.history === undefined ? found : yield* withHistory(scope, sub.history, found)
}

/** `*` means the concepts in use, unless a filter asks which are active. */
function* focusOf(scope: EclScope, { focus, filters }: SubConstraint): Work<Bitmap> {
  const { index } = scope
  if (focus.kind === 'nested') return yield* scope.evaluate(focus.constraint)
  if (focus.kind === 'concept') return ascendingBitmap([conceptOf(index, focus.concept)], index.size)
  if (focus.kind === 'identifier') return ascendingBitmap([identifiedConcept(index, focus.identifier)], index.size)
  const asksActive = filters.some((each) => each.kind === 'concept' && each.filters.some(({ kind }) => kind === 'active'))
  return asksActive ? index.all() : index.current()
}

function* withStatus(scope: EclScope, filters: readonly ConceptFilter[], concepts: Bitmap): Work<Bitmap> {
  const tests = yield* mapped(filters, (filter) => statusTest(scope, filter))
  return yield* tested(concepts, (concept) => tests.every((test) => test(concept)))
}

function* statusTest(scope: EclScope, filter: ConceptFilter): Work<(concept: number) => boolean> {
  const { index } = scope
  if (filter.kind === 'definitionStatus') return yield* definitionTest(scope, filter)
  const test = yield* componentTest(scope, filter)
  return (concept) => test({ active: index.isActive(concept), module: index.module(concept), effectiveTime: index.effectiveTime(concept) })
}

function* definitionTest(
  scope: EclScope,
  { statuses, comparison }: Extract<ConceptFilter, { kind: 'definitionStatus' }>,
): Work<(concept: number) => boolean> {
  const { index } = scope
  const selected = statuses.kind === 'list' ? undefined : yield* conceptsIn(scope, statuses)
  const listed = statuses.kind === 'list' ? new Set(statuses.concepts.map(({ id }) => id)) : undefined
  const has = (id: string): boolean => listed?.has(id) ?? selected?.has(index.ids.find(id) ?? index.size) ?? false
  const [defined, primitive] = [has(SCT.defined), has(SCT.primitive)]
  return (concept) => (index.isDefined(concept) ? defined : primitive) === (comparison === '=')
}
