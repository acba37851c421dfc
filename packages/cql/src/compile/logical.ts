import { nodeAt } from '../elm/node.js'
import { both, either } from '../values/interval.js'
import type { Value } from '../values/value.js'
import type { Compute, NodeCompilers } from './compiler.js'
import { operandOf, operandsOf, partsAt, requiredAt, twoOperands, unary } from './operators.js'

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
