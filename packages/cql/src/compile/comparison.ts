import { less, lessOrEqual } from '../values/compare.js'
import { equal, equivalent } from '../values/equality.js'
import { negated } from '../values/interval.js'
import { sizeOf } from '../values/size.js'
import type { NodeCompilers } from './compiler.js'
import { binary, twoOperands } from './operators.js'

/** Comparison operators (CQL reference, section 5). */
export const COMPARISON: NodeCompilers = {
  Equal: binary((left, right, { convert }) => equal(left, right, convert)),
  NotEqual: binary((left, right, { convert }) => negated(equal(left, right, convert))),
  Equivalent: (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const [a, b] = [left(evaluation), right(evaluation)]
      evaluation.spend(sizeOf(a) + sizeOf(b))
      return equivalent(a, b, compiler.convert)
    }
  },
  Less: binary((left, right, { convert }) => less(left, right, convert)),
  LessOrEqual: binary((left, right, { convert }) => lessOrEqual(left, right, convert)),
  Greater: binary((left, right, { convert }) => less(right, left, convert)),
  GreaterOrEqual: binary((left, right, { convert }) => lessOrEqual(right, left, convert)),
}
