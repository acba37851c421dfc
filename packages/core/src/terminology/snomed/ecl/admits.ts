import type { Constraint, SubConstraint } from '../../../ecl/index.js'
import { isBelowConcept } from '../expression/subsumption.js'
import type { NormalForm } from '../expression/normal-form.js'
import { members } from '../../bitmap.js'
import type { EclScope } from './ecl-scope.js'
import { refinementTest } from './refinement-test.js'

/**
 * True when a constraint selects an expression: one of its foci is below what is named, and its relationships hold. What only a
 * classifier could tell (children, parents), members of reference sets and texts select no expression.
 */
export function admits(scope: EclScope, constraint: Constraint, form: NormalForm): boolean {
  switch (constraint.kind) {
    case 'and':
      return constraint.operands.every((operand) => admits(scope, operand, form))
    case 'or':
      return constraint.operands.some((operand) => admits(scope, operand, form))
    case 'minus':
      return admits(scope, constraint.left, form) && !admits(scope, constraint.right, form)
    case 'refined':
      return admits(scope, constraint.focus, form) && refinementTest(scope, constraint.refinement).holds(form.range)
    case 'dotted':
      return false
    default:
      return subAdmits(scope, constraint, form)
  }
}

function subAdmits(scope: EclScope, sub: SubConstraint, form: NormalForm): boolean {
  if (sub.memberOf !== undefined || sub.filters.length > 0) return false
  if (sub.operator === undefined) return plainAdmits(scope, sub, form)
  if (sub.operator !== '<' && sub.operator !== '<<') return false
  if (sub.focus.kind === 'any') return true
  const above = scope.evaluate({ kind: 'sub', focus: sub.focus, filters: [], memberFilters: [] })
  for (const concept of members(above)) if (isBelowConcept(scope.index, form, concept)) return true
  return false
}

function plainAdmits(scope: EclScope, { focus }: SubConstraint, form: NormalForm): boolean {
  if (focus.kind === 'nested') return admits(scope, focus.constraint, form)
  return focus.kind === 'any'
}
