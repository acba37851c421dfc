import { nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import { failedEvaluation } from '../problem.js'
import { equal } from '../values/equality.js'
import { sizeOf } from '../values/size.js'
import type { UnitConversion } from '../values/units.js'
import { createValueIndex, isShortText, type Spend } from '../values/value-index.js'
import { isList, type Value } from '../values/value.js'
import type { Compiler, Compute, NodeCompilers, Scope } from './compiler.js'
import { forEachItem, operandOf, optionalAt, partsAt, requiredAt, twoOperands, unary } from './operators.js'

/** List operators (CQL reference, section 10). */
export const LIST: NodeCompilers = {
  List: (node, scope, compiler) => {
    const elements = partsAt(node, 'element').map((element) => compiler.compile(element, scope))
    return (evaluation) => elements.map((element) => element(evaluation))
  },
  ToList: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    return (evaluation) => {
      const value = operand(evaluation)
      return value === null ? [] : [value]
    }
  },
  Exists: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    return (evaluation) => {
      const list = operand(evaluation)
      return isList(list) && list.some((item) => item !== null)
    }
  },
  Distinct: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    return (evaluation) => {
      const list = operand(evaluation)
      return isList(list) ? distinctValues(list, compiler.convert, evaluation.spend) : null
    }
  },
  Flatten: unary((value) => (isList(value) ? value.flatMap((item) => (isList(item) ? item : [item])) : null)),
  SingletonFrom: unary((value, _, node) => singleton(value, node)),
  Length: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    const isText = textAt(operandOf(node), 'resultTypeName')?.endsWith('}String') ?? false
    return (evaluation) => {
      const value = operand(evaluation)
      if (typeof value === 'string' || isList(value)) return value.length
      return isText || value !== null || isTextSignature(node) ? null : 0
    }
  },
  First: (node, scope, compiler) => end(node, scope, compiler, 'first'),
  Last: (node, scope, compiler) => end(node, scope, compiler, 'last'),
  IndexOf: (node, scope, compiler) => {
    const [source, element] = [optionalAt(node, 'source', scope, compiler), optionalAt(node, 'element', scope, compiler)]
    return (evaluation) => {
      const [list, wanted] = [source(evaluation), element(evaluation)]
      if (!isList(list) || wanted === null) return null
      evaluation.spend(sizeOf(list) + sizeOf(wanted))
      return list.findIndex((item) => item !== null && equal(item, wanted, compiler.convert) === true)
    }
  },
  Indexer: (node, scope, compiler) => {
    const [source, position] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const [whole, index] = [source(evaluation), position(evaluation)]
      if (typeof index !== 'number' || index < 0) return null
      return isList(whole) ? (whole[index] ?? null) : typeof whole === 'string' ? (whole[index] ?? null) : null
    }
  },
  Slice: (node, scope, compiler) => {
    const source = compiler.compile(requiredAt(node, 'source'), scope)
    const [startIndex, endIndex] = [optionalAt(node, 'startIndex', scope, compiler), optionalAt(node, 'endIndex', scope, compiler)]
    return (evaluation) => {
      const [list, start, stop] = [source(evaluation), startIndex(evaluation), endIndex(evaluation)]
      if (!isList(list)) return null
      evaluation.spend(list.length)
      return slice(list, start, stop)
    }
  },
  Current: (_, scope) => slotValue(scope.current),
  Iteration: (_, scope) => slotValue(scope.index),
  Total: (_, scope) => slotValue(scope.total),
  Filter: (node, scope, compiler) => {
    const { source, compute: condition, slot, steps } = eachOf(node, scope, compiler, 'condition')
    return (evaluation) => {
      const list = source(evaluation)
      if (!isList(list)) return null
      return list.filter((item) => {
        evaluation.slots[slot] = item
        evaluation.spend(steps)
        return condition(evaluation) === true
      })
    }
  },
  ForEach: (node, scope, compiler) => {
    const { source, compute: element, slot, steps } = eachOf(node, scope, compiler, 'element')
    return (evaluation) => {
      const list = source(evaluation)
      if (!isList(list)) return null
      return list.map((item) => {
        evaluation.slots[slot] = item
        evaluation.spend(steps)
        return element(evaluation)
      })
    }
  },
  Times: (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const [a, b] = [left(evaluation), right(evaluation)]
      if (!isList(a) || !isList(b)) return null
      evaluation.spend(a.length * b.length)
      return a.flatMap((one) => b.map((other) => [one, other]))
    }
  },
}

function isTextSignature(node: ElmNode): boolean {
  return nodesAt(node, 'signature').some((type) => textAt(type, 'name')?.endsWith('}String') === true)
}

function slotValue(slot: number | undefined): Compute {
  return (evaluation) => (slot === undefined ? null : (evaluation.slots[slot] ?? null))
}

interface Each {
  readonly source: Compute
  readonly compute: Compute
  readonly slot: number
  readonly steps: number
}

function eachOf(node: ElmNode, scope: Scope, compiler: Compiler, member: string): Each {
  const slot = compiler.slot()
  const source = compiler.compile(requiredAt(node, 'source'), scope)
  const [compute, steps] = forEachItem(compiler, () => compiler.compile(requiredAt(node, member), { ...scope, current: slot }))
  return { source, compute, slot, steps }
}

function singleton(value: Value, node: ElmNode): Value {
  if (!isList(value)) return value
  if (value.length > 1) throw failedEvaluation(`singleton from needs a list of at most one element, this one has ${value.length}.`, node)
  return value[0] ?? null
}

function end(node: ElmNode, scope: Scope, compiler: Compiler, which: 'first' | 'last'): Compute {
  const source = compiler.compile(nodeAt(node, 'source') ?? operandOf(node), scope)
  return (evaluation) => {
    const list = source(evaluation)
    return isList(list) ? (list.at(which === 'first' ? 0 : -1) ?? null) : null
  }
}

/** Elements from one position to another; empty if the positions are outside of the list. */
function slice(list: readonly Value[], start: Value, stop: Value): Value {
  const from = typeof start === 'number' ? start : 0
  const to = typeof stop === 'number' ? stop : list.length
  return from < 0 || to <= from ? [] : list.slice(from, to)
}

/** The values without repetitions by `=`; all nulls are equal. */
export function distinctValues(list: readonly Value[], convert: UnitConversion, spend: Spend): readonly Value[] {
  spend(list.length)
  if (list.length < 2) return list
  const simple = list.every((item) => typeof item === 'number' || typeof item === 'boolean' || isShortText(item))
  if (simple) return [...new Set(list)]
  const seen = createValueIndex([], convert, spend)
  return list.filter((item) => seen.add(item) === 1)
}

/** All values of both lists, without repetitions. */
export function unionLists(a: readonly Value[], b: readonly Value[], convert: UnitConversion, spend: Spend): readonly Value[] {
  return distinctValues([...a, ...b], convert, spend)
}

/** The values of the first list that are also in the second, without repetitions. */
export function intersectLists(a: readonly Value[], b: readonly Value[], convert: UnitConversion, spend: Spend): readonly Value[] {
  const wanted = createValueIndex(b, convert, spend)
  const kept = a.filter((item) => wanted.has(item))
  return distinctValues(kept, convert, spend)
}

/** The values of the first list that are not in the second, without repetitions. */
export function exceptLists(a: readonly Value[], b: readonly Value[], convert: UnitConversion, spend: Spend): readonly Value[] {
  const unwanted = createValueIndex(b, convert, spend)
  const kept = a.filter((item) => !unwanted.has(item))
  return distinctValues(kept, convert, spend)
}
