import { nodeAt } from '../elm/node.js'
import { both, either, negated } from '../values/interval.js'
import type { Value } from '../values/value.js'
import type { Compute, NodeCompilers, NodeCompiler } from './compiler.js'
import { operandOf, operandsOf, partsAt, requiredAt, twoOperands, unary, binary } from './operators.js'
import { less, lessOrEqual } from '../values/compare.js'
import { equal, equivalent } from '../values/equality.js'
import { caseSteps, sizeOf } from '../values/size.js'
import { codesOf, codesToLookAt, compileRecorded, someCode } from './coded.js'

function truth(value: Value): boolean | null {
  return typeof value === 'boolean' ? value : null
}

/** Logical, nullological and conditional operators (CQL reference, sections 1, 2 and 6). */
export const LOGICAL: NodeCompilers = {
  And: (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const first = truth(left(evaluation))
      return first === false ? false : both(first, truth(right(evaluation)))
    }
  },
  Or: (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const first = truth(left(evaluation))
      return first === true ? true : either(first, truth(right(evaluation)))
    }
  },
  Implies: (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const first = truth(left(evaluation))
      if (first === false) return true
      const second = truth(right(evaluation))
      return first === true || second === true ? second : null
    }
  },
  Xor: (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const [first, second] = [truth(left(evaluation)), truth(right(evaluation))]
      return first === null || second === null ? null : first !== second
    }
  },
  Not: unary((value) => (typeof value === 'boolean' ? !value : null)),
  IsNull: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    return (evaluation) => operand(evaluation) === null
  },
  IsTrue: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    return (evaluation) => operand(evaluation) === true
  },
  IsFalse: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    return (evaluation) => operand(evaluation) === false
  },
  Coalesce: (node, scope, compiler) => {
    const operands = operandsOf(node, scope, compiler)
    const [only] = operands
    if (operands.length === 1 && only !== undefined)
      return (evaluation) => {
        const list = only(evaluation)
        return Array.isArray(list) ? (list.find((item) => item !== null) ?? null) : list
      }
    return (evaluation) => {
      for (const operand of operands) {
        const value = operand(evaluation)
        if (value !== null) return value
      }
      return null
    }
  },
  If: (node, scope, compiler) => {
    const condition = compiler.compile(requiredAt(node, 'condition'), scope)
    const [then, otherwise] = [compiler.compile(requiredAt(node, 'then'), scope), compiler.compile(requiredAt(node, 'else'), scope)]
    return (evaluation) => (condition(evaluation) === true ? then(evaluation) : otherwise(evaluation))
  },
  Case: (node, scope, compiler) => {
    const comparand = nodeAt(node, 'comparand')
    const otherwise = compiler.compile(requiredAt(node, 'else'), scope)
    const cases = partsAt(node, 'caseItem').map((item) => {
      const when = requiredAt(item, 'when')
      const test = comparand === undefined ? when : { type: 'Equal', operand: [comparand, when] }
      return [compiler.compile(test, scope), compiler.compile(requiredAt(item, 'then'), scope)] as const
    })
    return caseOf(cases, otherwise)
  },
}

function caseOf(cases: readonly (readonly [Compute, Compute])[], otherwise: Compute): Compute {
  return (evaluation) => {
    for (const [when, then] of cases) if (when(evaluation) === true) return then(evaluation)
    return otherwise(evaluation)
  }
}

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
