import type { ConceptFilter, Constraint, SubConstraint } from '../../../ecl/index.js'
import { and, andNot, bitmapFrom, bitmapOf, members, newWords, or, setBit, type Bitmap } from '../../bitmap.js'
import { isConcrete } from '../index/attributes.js'
import type { SnomedIndex } from '../index/snomed-index.js'
import { SCT } from '../sctid.js'
import { componentTest } from './component-filter.js'
import { withDescription } from './description-filter.js'
import { conceptOf, conceptsIn, tested, type EclScope } from './ecl-scope.js'
import { identifiedConcept } from './identified-concept.js'
import { withHistory } from './history.js'
import { membersOfRefsets } from './member-of.js'
import { refinementTest } from './refinement-test.js'
import { RELATIVES } from './relatives.js'
import { rowsOf } from './row-range.js'

/** An evaluation over one version. Every constraint is worked out once. */
export function eclScope(index: SnomedIndex): EclScope {
  const known = new Map<Constraint, Bitmap>()
  const scope: EclScope = {
    index,
    evaluate(constraint) {
      const found = known.get(constraint) ?? conceptsOf(scope, constraint)
      known.set(constraint, found)
      return found
    },
  }
  return scope
}

function conceptsOf(scope: EclScope, constraint: Constraint): Bitmap {
  switch (constraint.kind) {
    case 'and':
      return constraint.operands.map(scope.evaluate).reduce(and)
    case 'or':
      return constraint.operands.map(scope.evaluate).reduce(or)
    case 'minus':
      return andNot(scope.evaluate(constraint.left), scope.evaluate(constraint.right))
    case 'refined':
      return refined(scope, constraint)
    case 'dotted':
      return constraint.attributes.reduce(
        (concepts, attribute) => valuesOf(scope, concepts, scope.evaluate(attribute)),
        scope.evaluate(constraint.focus),
      )
    default:
      return subConstraint(scope, constraint)
  }
}

function refined(scope: EclScope, { focus, refinement }: Extract<Constraint, { kind: 'refined' }>): Bitmap {
  const { holds, candidates } = refinementTest(scope, refinement)
  const concepts = scope.evaluate(focus)
  return tested(candidates === undefined ? concepts : and(concepts, candidates()), (concept) => holds(rowsOf(scope.index, concept)))
}

function valuesOf({ index }: EclScope, concepts: Bitmap, types: Bitmap): Bitmap {
  const words = newWords(index.size)
  for (const concept of members(concepts)) {
    const { rows, from, to } = rowsOf(index, concept)
    for (let row = from; row < to; row++) {
      const value = rows.values[row] ?? 0
      if (types.has(rows.types[row] ?? 0) && !isConcrete(value)) setBit(words, value)
    }
  }
  return bitmapOf(words, index.size)
}

function subConstraint(scope: EclScope, sub: SubConstraint): Bitmap {
  const { index } = scope
  const focus = focusOf(scope, sub)
  const selected = sub.memberOf === undefined ? focus : membersOfRefsets(scope, focus, sub)
  const relatives = sub.operator === undefined ? undefined : RELATIVES.get(sub.operator)
  const related = relatives === undefined ? selected : relatives(index, selected)
  const filtered = sub.filters.reduce(
    (concepts, filter) =>
      filter.kind === 'concept' ? withStatus(scope, filter.filters, concepts) : withDescription(scope, filter.filters, concepts),
    related,
  )
  return sub.history === undefined ? filtered : withHistory(scope, sub.history, filtered)
}

/** `*` means the concepts in use, unless a filter asks which are active. */
function focusOf(scope: EclScope, { focus, filters }: SubConstraint): Bitmap {
  const { index } = scope
  if (focus.kind === 'nested') return scope.evaluate(focus.constraint)
  if (focus.kind === 'concept') return bitmapFrom([conceptOf(index, focus.concept)], index.size)
  if (focus.kind === 'identifier') return bitmapFrom([identifiedConcept(index, focus.identifier)], index.size)
  const asksActive = filters.some((each) => each.kind === 'concept' && each.filters.some(({ kind }) => kind === 'active'))
  return asksActive ? index.all() : index.current()
}

function withStatus(scope: EclScope, filters: readonly ConceptFilter[], concepts: Bitmap): Bitmap {
  const tests = filters.map((filter) => statusTest(scope, filter))
  return tested(concepts, (concept) => tests.every((test) => test(concept)))
}

function statusTest(scope: EclScope, filter: ConceptFilter): (concept: number) => boolean {
  const { index } = scope
  if (filter.kind === 'definitionStatus') return definitionTest(scope, filter)
  const test = componentTest(scope, filter)
  return (concept) => test({ active: index.isActive(concept), module: index.module(concept), effectiveTime: index.effectiveTime(concept) })
}

function definitionTest(scope: EclScope, filter: Extract<ConceptFilter, { kind: 'definitionStatus' }>): (concept: number) => boolean {
  const { statuses, comparison } = filter
  const { index } = scope
  const has = (id: string): boolean =>
    statuses.kind === 'list'
      ? statuses.concepts.some((one) => one.id === id)
      : conceptsIn(scope, statuses).has(index.ids.find(id) ?? index.size)
  const [defined, primitive] = [has(SCT.defined), has(SCT.primitive)]
  return (concept) => (index.isDefined(concept) ? defined : primitive) === (comparison === '=')
}
