import { less, lessOrEqual } from '../values/compare.js'
import { equal, equivalent } from '../values/equality.js'
import { negated } from '../values/interval.js'
import { caseSteps, sizeOf } from '../values/size.js'
import { codesOf, codesToLookAt, compileRecorded, someCode } from './coded.js'
import type { Compute, NodeCompiler, NodeCompilers } from './compiler.js'
import { binary, partsAt, twoOperands } from './operators.js'

/** Comparison operators (CQL reference, section 5). */
export const COMPARISON: NodeCompilers = {
  Equal: binary((left, right, { convert }) => equal(left, right, convert)),
  NotEqual: binary((left, right, { convert }) => negated(equal(left, right, convert))),
  Equivalent: (node, scope, compiler) => {
    const coded = compileCodeEquivalence(node, scope, compiler)
    if (coded !== undefined) return coded
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const [a, b] = [left(evaluation), right(evaluation)]
      evaluation.spend(sizeOf(a) + sizeOf(b) + (typeof a === 'string' ? TEXT_STEPS : 0))
      evaluation.spend(caseSteps(a) + caseSteps(b))
      return equivalent(a, b, compiler.convert)
    }
  },
  Less: binary((left, right, { convert }) => less(left, right, convert)),
  LessOrEqual: binary((left, right, { convert }) => lessOrEqual(left, right, convert)),
  Greater: binary((left, right, { convert }) => less(right, left, convert)),
  GreaterOrEqual: binary((left, right, { convert }) => lessOrEqual(right, left, convert)),
}

/** Steps of comparing texts without case and white space. */
const TEXT_STEPS = 1

/** Equivalence of a recorded concept and another value. */
function compileCodeEquivalence(...[node, scope, compiler]: Parameters<NodeCompiler>): Compute | undefined {
  const [left, right, ...others] = partsAt(node, 'operand')
  if (left === undefined || right === undefined || others.length > 0) return undefined
  const recorded = compileRecorded(left, scope, compiler)
  if (recorded === undefined) return undefined
  const other = compiler.compile(right, scope)
  return (evaluation) => {
    const [a, b] = [recorded(evaluation), other(evaluation)]
    evaluation.spend(codesToLookAt(a) * (1 + sizeOf(b)))
    if (a === null || b === null) return a === b
    const wanted = codesOf(b)
    return someCode(a, (code, system) => wanted.some((one) => one.code === code && one.system === system))
  }
}
