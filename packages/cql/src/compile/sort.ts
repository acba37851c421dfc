import { textAt, typeOf, type ElmNode } from '../elm/node.js'
import { FHIR_HELPERS, type HelperContext } from '../model/fhir-helpers.js'
import { systemValueOf } from '../model/property.js'
import { failedEvaluation } from '../problem.js'
import { compare } from '../values/compare.js'
import { isFhir, isList, isTemporal, type FhirElement, type Value } from '../values/value.js'
import type { Compiler, Evaluation, Scope } from './compiler.js'
import { forEachItem, requiredAt } from './operators.js'

/** The sort keys of an item, and the direction of each. */
export interface SortKey {
  readonly key: (item: Value, evaluation: Evaluation) => Value
  readonly sign: 1 | -1
  readonly compiler: Compiler
  /** Steps of computing the key of an item. */
  readonly steps: number
}

/** Compiles sort keys; `undefined` if there are none. */
export function compileSort(by: readonly ElmNode[], scope: Scope, compiler: Compiler): readonly SortKey[] | undefined {
  if (by.length === 0) return undefined
  return by.map((part) => {
    const [key, steps] = forEachItem(compiler, () => sortKey(part, scope, compiler))
    const sign = textAt(part, 'direction')?.startsWith('desc') === true ? -1 : 1
    return { key: orderedKey(part, key, compiler), sign, compiler, steps }
  })
}

const ORDERED: ReadonlySet<string> = new Set(['decimal', 'quantity', 'date', 'dateTime', 'time'])

/** FHIR elements are ordered by their System values. Values without an order are refused, because they would stay unsorted. */
function orderedKey(node: ElmNode, key: SortKey['key'], context: HelperContext): SortKey['key'] {
  return (item, evaluation) => {
    const value = key(item, evaluation)
    const own = isFhir(value) ? systemOf(value, context) : value
    if (own === null || typeof own !== 'object' || (!isList(own) && ORDERED.has(own.kind))) return own
    throw failedEvaluation('These values have no order to be sorted by.', node)
  }
}

function systemOf(element: FhirElement, context: HelperContext): Value {
  if (element.type.kind === 'primitive') return systemValueOf(element, context.offset) ?? null
  return element.type.elements.has('comparator') ? (FHIR_HELPERS['ToQuantity']?.(element, context) ?? null) : element
}

function sortKey(node: ElmNode, scope: Scope, compiler: Compiler): SortKey['key'] {
  const type = typeOf(node)
  if (type === 'ByDirection' || (type === 'ByColumn' && textAt(node, 'path') === '$this')) return (item) => item
  const slot = compiler.slot()
  const inner: Scope = { ...scope, item: slot, current: slot }
  const expression =
    type === 'ByColumn' ? { type: 'Property', path: textAt(node, 'path'), source: { type: 'Current' } } : requiredAt(node, 'expression')
  const compute = compiler.compile(expression, inner)
  return (item, evaluation) => {
    evaluation.slots[slot] = item
    return compute(evaluation)
  }
}

/** Number of comparisons of two keys in one step. */
const COMPARISONS_OF_STEP = 2

/** Sorts stably; nulls come first ascending and last descending. */
export function sorted(list: readonly Value[], order: readonly SortKey[] | undefined, evaluation: Evaluation): readonly Value[] {
  if (order === undefined) return list
  evaluation.spend(
    list.length * order.reduce((sum, { steps }) => sum + steps, 0) +
      (list.length * order.length * Math.log2(list.length + 1)) / COMPARISONS_OF_STEP,
  )
  const rows = list.map((item) => ({ item, keys: order.map(({ key }) => key(item, evaluation)) }))
  return rows.toSorted((a, b) => compareKeys(a.keys, b.keys, order)).map(({ item }) => item)
}

/** Orders dates whose known fields do not decide by the first moment that they may mean, then the less precise one first. */
function byFirstMoment(a: Value, b: Value): number {
  return isTemporal(a) && isTemporal(b) ? Math.sign(a.low - b.low || b.high - a.high) : 0
}

function compareKeys(a: readonly Value[], b: readonly Value[], order: readonly SortKey[]): number {
  for (const [index, { sign, compiler }] of order.entries()) {
    const [first, second] = [a[index] ?? null, b[index] ?? null]
    const result =
      first === null || second === null
        ? Number(first !== null) - Number(second !== null)
        : (compare(first, second, compiler.convert) ?? byFirstMoment(first, second))
    if (result !== 0) return sign * result
  }
  return 0
}
