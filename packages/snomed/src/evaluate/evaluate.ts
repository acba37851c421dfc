import { addBit, ascendingBitmap, bitmapOf, emptyBitmap, emptyBits, type Bits } from 'fhir-ops/internal/bits'
import { mapped, type Work } from 'fhir-ops/internal/work'
import { and, andNot, members, or, type Bitmap } from 'fhir-ops/terminology'
import {
  EclError,
  type ConceptFilter,
  type Constraint,
  type Focus,
  type HierarchyOperator,
  type History,
  type SubConstraint,
} from '../ecl/index.js'
import { isBelowConcept, type NormalForm } from '../expression/expression.js'
import { isConcrete } from '../release/section-reader.js'
import type { RefsetRow } from '../release/refset-table.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import { SCT } from '../sctid.js'
import { componentTest, withDescription } from './description-filter.js'
import {
  collected,
  conceptOf,
  conceptsIn,
  identifiedConcept,
  rowsOf,
  tested,
  partsOfAll,
  testsOf,
  type EclScope,
  type FilterScope,
} from './ecl-scope.js'
import { membersOfRefsets, ROWS_BETWEEN } from './member-of.js'
import { refinementTest } from './refinement-test.js'

/**
 * Maximum number of parts of an expression: each takes memory for a set of concepts, or is compared with every concept, and may take as long as visiting
 * all of them.
 */
const MAX_PARTS = 1_000

/** Creates the scope of an evaluation over one version. */
export function eclScope(index: SnomedIndex): EclScope {
  let parts = 0
  const scope: EclScope = {
    index,
    addParts(count) {
      parts += count
      if (parts > MAX_PARTS) throw new EclError(`The expression has more than ${MAX_PARTS} parts`, 0)
    },
    evaluate(constraint) {
      scope.addParts(1)
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

function valuesOf({ index }: EclScope, concepts: Bitmap, types: Bitmap): Work<Bitmap> {
  const addValues = (concept: number, found: Bits): void => {
    const { rows, from, to } = rowsOf(index, concept)
    for (let row = from; row < to; row++) {
      const value = rows.values[row] ?? 0
      if (types.has(rows.types[row] ?? 0) && !isConcrete(value)) addBit(found, value)
    }
  }
  return collected(members(concepts), addValues, index)
}

function* subConstraint(scope: EclScope, sub: SubConstraint): Work<Bitmap> {
  const focus = sub.focus.kind === 'nested' ? yield* scope.evaluate(sub.focus.constraint) : namedFocus(scope, sub.focus, sub.filters)
  const selected = sub.memberOf === undefined ? focus : yield* membersOfRefsets(scope, focus, sub)
  const relatives = sub.operator === undefined ? undefined : RELATIVES.get(sub.operator)
  let found = relatives === undefined ? selected : yield* relatives(scope.index, selected)
  for (const filter of sub.filters) {
    found = yield* filter.kind === 'concept' ? withStatus(scope, filter.filters, found) : withDescription(scope, filter.filters, found)
  }
  return sub.history === undefined ? found : yield* withHistory(scope, sub.history, found)
}

/** Returns the concepts of a focus. `*` stands for active concepts, unless a filter asks for the active status. */
function namedFocus({ index }: EclScope, focus: Exclude<Focus, { kind: 'nested' }>, filters: SubConstraint['filters']): Bitmap {
  if (focus.kind === 'concept') return ascendingBitmap([conceptOf(index, focus.concept)], index.size)
  if (focus.kind === 'identifier') return ascendingBitmap([identifiedConcept(index, focus.identifier)], index.size)
  const asksActive = filters.some((each) => each.kind === 'concept' && each.filters.some(({ kind }) => kind === 'active'))
  return asksActive ? index.all() : index.current()
}

function* withStatus(scope: EclScope, filters: readonly ConceptFilter[], concepts: Bitmap): Work<Bitmap> {
  const tests = yield* testsOf(scope, filters, statusTest)
  return yield* tested(concepts, (concept) => tests.every((test) => test(concept)), partsOfAll(filters))
}

function statusTest(scope: FilterScope, filter: ConceptFilter): (concept: number) => boolean {
  const { index } = scope
  if (filter.kind === 'definitionStatus') return definitionTest(scope, filter)
  const test = componentTest(scope, filter)
  return (concept) => test({ active: index.isActive(concept), module: index.module(concept), effectiveTime: index.effectiveTime(concept) })
}

function definitionTest(
  scope: FilterScope,
  { statuses, comparison }: Extract<ConceptFilter, { kind: 'definitionStatus' }>,
): (concept: number) => boolean {
  const { index } = scope
  const selected = statuses.kind === 'list' ? undefined : conceptsIn(scope, statuses)
  const listed = statuses.kind === 'list' ? new Set(statuses.concepts.map(({ id }) => id)) : undefined
  const has = (id: string): boolean => listed?.has(id) ?? selected?.has(index.ids.find(id) ?? index.size) ?? false
  const [defined, primitive] = [has(SCT.defined), has(SCT.primitive)]
  return (concept) => (index.isDefined(concept) ? defined : primitive) === (comparison === '=')
}

/** Historical association reference sets by profile. @see https://confluence.ihtsdotools.org/display/DOCECL/6.11+History+Supplements */
const PROFILES = {
  min: ['900000000000527005'],
  mod: ['900000000000527005', '900000000000526001', '900000000000528000', '1186924009'],
} as const

/** Adds the inactive concepts whose historical associations refer to one of the concepts. */
function* withHistory(scope: EclScope, history: History, concepts: Bitmap): Work<Bitmap> {
  const { index } = scope
  const refsets = 'refsets' in history ? idsOf(index, yield* scope.evaluate(history.refsets)) : refsetsOfProfile(index, history.profile)
  let found = concepts
  for (const refset of refsets) {
    yield
    found = or(found, yield* associated(scope, refset, concepts))
  }
  return found
}

function refsetsOfProfile(index: SnomedIndex, profile: keyof typeof PROFILES | 'max'): readonly string[] {
  if (profile !== 'max') return PROFILES[profile]
  const top = index.ids.find(SCT.historicalAssociation)
  return top === undefined ? [] : idsOf(index, index.within(top))
}

function idsOf(index: SnomedIndex, concepts: Bitmap): readonly string[] {
  return Array.from(members(concepts), (concept) => index.id(concept))
}

function associated({ index }: EclScope, refset: string, concepts: Bitmap): Work<Bitmap> {
  const place = index.refsets.find(refset)?.fields.indexOf('targetComponentId') ?? -1
  const addComponent = (row: RefsetRow, found: Bits): void => {
    const concept = index.ids.find(row.referencedComponentId)
    if (concept === undefined || !row.active) return
    if (concepts.has(index.ids.find(row.fields[place] ?? '') ?? index.size)) addBit(found, concept)
  }
  return collected(place < 0 ? [] : index.refsets.rows(refset), addComponent, { size: index.size, between: ROWS_BETWEEN })
}

/**
 * True if a constraint selects an expression: one of its foci is below the named concept, and its relationships meet the refinement. Operators that only a
 * classifier could decide (children, parents), members of reference sets, and texts select no expression.
 */
export function* admits(scope: EclScope, constraint: Constraint, form: NormalForm): Work<boolean> {
  switch (constraint.kind) {
    case 'and':
      return (yield* mapped(constraint.operands, (operand) => admits(scope, operand, form))).every(Boolean)
    case 'or':
      return (yield* mapped(constraint.operands, (operand) => admits(scope, operand, form))).some(Boolean)
    case 'minus':
      return (yield* admits(scope, constraint.left, form)) && !(yield* admits(scope, constraint.right, form))
    case 'refined':
      return (yield* admits(scope, constraint.focus, form)) && (yield* refinementTest(scope, constraint.refinement)).holds(form.range)
    case 'dotted':
      return false
    default:
      return yield* subAdmits(scope, constraint, form)
  }
}

function* subAdmits(scope: EclScope, sub: SubConstraint, form: NormalForm): Work<boolean> {
  if (sub.memberOf !== undefined || sub.filters.length > 0) return false
  if (sub.operator === undefined) {
    return sub.focus.kind === 'nested' ? yield* admits(scope, sub.focus.constraint, form) : sub.focus.kind === 'any'
  }
  if (sub.operator !== '<' && sub.operator !== '<<') return false
  if (sub.focus.kind === 'any') return true
  const above = yield* scope.evaluate({ kind: 'sub', focus: sub.focus, filters: [], memberFilters: [] })
  const reached = yield* tested(above, (concept) => isBelowConcept(scope.index, form, concept))
  return reached.count() > 0
}

type Relatives = (index: SnomedIndex, concepts: Bitmap) => Work<Bitmap>

/** The set that each hierarchy operator makes of a set of concepts. */
const RELATIVES: ReadonlyMap<HierarchyOperator, Relatives> = new Map<HierarchyOperator, Relatives>([
  ['<', descendants],
  ['<<', joinedToSelf(descendants, or)],
  ['<!', children],
  ['<<!', joinedToSelf(children, or)],
  ['>', ancestors],
  ['>>', joinedToSelf(ancestors, or)],
  ['>!', parents],
  ['>>!', joinedToSelf(parents, or)],
  ['top', joinedToSelf(descendants, andNot)],
  ['bottom', joinedToSelf(ancestors, andNot)],
])

function joinedToSelf(relatives: Relatives, join: (self: Bitmap, relatives: Bitmap) => Bitmap): Relatives {
  return function* (index, concepts) {
    return join(concepts, yield* relatives(index, concepts))
  }
}

const STEPS = 256

/** Returns the concepts below any concept of the set; a concept of the set is included only if it is below another. */
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

function neighbours(concepts: Bitmap, of: (concept: number) => Iterable<number>): Work<Bitmap> {
  const addAll = (concept: number, found: Bits): void => {
    for (const other of of(concept)) addBit(found, other)
  }
  return collected(members(concepts), addAll, { size: concepts.limit })
}
