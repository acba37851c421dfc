import type { Constraint, SubConstraint } from '../ecl/index.js'
import { isBelowConcept } from '../expression/subsumption.js'
import type { NormalForm } from '../expression/normal-form.js'
import { mapped, type Work } from 'fhir-ops/work'
import { tested, type EclScope } from './ecl-scope.js'
import { refinementTest } from './refinement-test.js'

/**
 * True when a constraint selects an expression: one of its foci is below what is named, and its relationships hold. What only a
 * classifier could decide (children, parents), members of reference sets and texts select no expression.
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
  if (sub.operator === undefined) return yield* plainAdmits(scope, sub, form)
  if (sub.operator !== '<' && sub.operator !== '<<') return false
  if (sub.focus.kind === 'any') return true
  const above = yield* scope.evaluate({ kind: 'sub', focus: sub.focus, filters: [], memberFilters: [] })
  const reached = yield* tested(above, (concept) => isBelowConcept(scope.index, form, concept))
  return reached.count() > 0
}

function* plainAdmits(scope: EclScope, { focus }: SubConstraint, form: NormalForm): Work<boolean> {
  if (focus.kind === 'nested') return yield* admits(scope, focus.constraint, form)
  return focus.kind === 'any'
}
