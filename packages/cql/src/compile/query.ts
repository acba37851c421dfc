import { quoted } from 'fhir-ops/internal/errors'
import { flagAt, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { invalidElm, failedEvaluation } from '../problem.js'
import { isList, isFhir, isTemporal, type Tuple, type Value, type FhirElement } from '../values/value.js'
import { FHIR_HELPERS, type HelperContext } from '../model/fhir-helpers.js'
import { systemValueOf } from '../model/property.js'
import { compare } from '../values/compare.js'
import type { Compiler, Compute, Evaluation, NodeCompilers, Scope } from './compiler.js'
import { distinctValues } from './list.js'
import { filterOf } from './narrowing.js'
import { forEachItem, optionalAt, partsAt, requiredAt } from './operators.js'
import { sifterOf } from './retrieve.js'

/** Queries: sources, let, with and without, where, return, aggregate, sort (CQL author's guide, Queries). */
export const QUERY: NodeCompilers = {
  Query: (node, scope, compiler) => compileQuery(node, scope, compiler),
  AliasRef: (node, scope) => slotNamed(node, scope),
  QueryLetRef: (node, scope) => slotNamed(node, scope),
  OperandRef: (node, scope) => {
    const slot = scope.operands.get(textAt(node, 'name') ?? '')
    if (slot === undefined) throw invalidElm(node, `There is no operand ${quoted(textAt(node, 'name') ?? '')}.`)
    return (evaluation) => evaluation.slots[slot] ?? null
  },
  Sort: (node, scope, compiler) => {
    const source = compiler.compile(requiredAt(node, 'source'), scope)
    const order = compileSort(nodesAt(node, 'by'), scope, compiler)
    return (evaluation) => {
      const list = source(evaluation)
      return isList(list) ? sorted(list, order, evaluation) : null
    }
  },
  Aggregate: (node, scope, compiler) => {
    const [current, total, index] = [compiler.slot(), compiler.slot(), compiler.slot()]
    const source = compiler.compile(requiredAt(node, 'source'), scope)
    const initial = optionalAt(node, 'initialValue', scope, compiler)
    const [iteration, steps] = forEachItem(compiler, () =>
      compiler.compile(requiredAt(node, 'iteration'), { ...scope, current, total, index }),
    )
    return (evaluation) => {
      const list = source(evaluation)
      let result = initial(evaluation)
      for (const [position, item] of (isList(list) ? list : []).entries()) {
        evaluation.spend(steps)
        evaluation.slots[current] = item
        evaluation.slots[total] = result
        evaluation.slots[index] = position
        result = iteration(evaluation)
      }
      return result
    }
  },
}

function slotNamed(node: ElmNode, scope: Scope): Compute {
  const name = textAt(node, 'name') ?? ''
  const slot = scope.aliases.get(name)
  if (slot === undefined) throw invalidElm(node, `There is no alias ${quoted(name)}.`)
  return (evaluation) => evaluation.slots[slot] ?? null
}

interface Source {
  readonly alias: string
  readonly slot: number
  readonly compute: Compute
  /** Steps of computing it. */
  readonly cost: number
}

/** Returns whether a row passes; steps also fill the slots of lets. */
type Step = (evaluation: Evaluation) => boolean

function compileQuery(node: ElmNode, outer: Scope, compiler: Compiler): Compute {
  const aliases = new Map(outer.aliases)
  const scope: Scope = { ...outer, aliases }
  const where = nodeAt(node, 'where')
  const sources = partsAt(node, 'source').map((source) => {
    const filter = filterOf(source, where)
    return compileSource(source, filter === undefined ? scope : { ...scope, filter }, aliases, compiler)
  })
  if (sources.length === 0) throw invalidElm(node, 'A query must have a source.')
  const [steps, ofSteps] = forEachItem(compiler, () => [
    ...partsAt(node, 'let').map((part) => compileLet(part, scope, aliases, compiler)),
    ...partsAt(node, 'relationship').map((part) => compileRelationship(part, scope, compiler)),
    ...conditionOf(node, scope, compiler),
  ])
  const tested: Rows = { sources, steps, passes: allOf(steps), cost: ofSteps + sources.length / PARTS_OF_STEP }
  const aggregate = nodeAt(node, 'aggregate')
  if (aggregate !== undefined) return compileAggregate(aggregate, tested, scope, compiler)
  const returned = nodeAt(node, 'return')
  const [row, ofRow] = forEachItem(compiler, () =>
    returned === undefined ? wholeRow(sources) : compiler.compile(requiredAt(returned, 'expression'), scope),
  )
  const isDistinct = returned !== undefined && (flagAt(returned, 'distinct') ?? true)
  const order = compileSort(nodesAt(nodeAt(node, 'sort') ?? {}, 'by'), outer, compiler)
  const evaluated = (of: Rows, value: Value, evaluation: Evaluation): Value => {
    const isSingle = sources.length === 1 && !isList(value)
    if (isSingle && value === null) return null
    const rows: Value[] = []
    eachRow(of, value, evaluation, () => {
      evaluation.spend(ofRow - 1)
      rows.push(row(evaluation))
    })
    if (isSingle) return rows[0] ?? null
    const kept = isDistinct ? distinctValues(rows, compiler.convert, evaluation.spend) : rows
    return order === undefined ? kept : sorted(kept, order, evaluation)
  }
  const first = sources[0]?.compute ?? (() => null)
  const sifting = where === undefined ? undefined : siftingOf(tested)
  if (sifting === undefined) return (evaluation) => evaluated(tested, first(evaluation), evaluation)
  const asksNoMore = returned === undefined && order === undefined && steps.length === 1
  return (evaluation) => {
    const sifted = sifting.sift(evaluation)
    if (sifted === undefined) return evaluated(tested, first(evaluation), evaluation)
    return asksNoMore ? sifted : evaluated(sifting.rows, sifted, evaluation)
  }
}

/** How a query is evaluated if the records know for most resources whether they meet its condition. */
interface Sifting {
  /** Returns the items that meet the condition; `undefined` if the records do not know. */
  readonly sift: (evaluation: Evaluation) => readonly Value[] | undefined
  /** The remaining work. */
  readonly rows: Rows
}

/** The sifting of a query over a single retrieve. Its condition is the last step. */
function siftingOf({ sources, steps, cost }: Rows): Sifting | undefined {
  const [only, ...others] = sources
  const sifter = only === undefined || others.length > 0 ? undefined : sifterOf(only.compute)
  const condition = steps.at(-1)
  if (sifter === undefined || condition === undefined || only === undefined) return undefined
  const left = steps.slice(0, -1)
  return {
    rows: { sources, steps: left, passes: allOf(left), cost },
    sift: (evaluation) =>
      sifter(evaluation, (resource) => {
        evaluation.slots[only.slot] = resource
        evaluation.spend(cost)
        return condition(evaluation)
      }),
  }
}

function allOf(steps: readonly Step[]): Step {
  const [only, ...others] = steps
  if (only === undefined) return () => true
  return others.length === 0 ? only : (evaluation) => steps.every((step) => step(evaluation))
}

function compileSource(node: ElmNode, scope: Scope, aliases: Map<string, number>, compiler: Compiler): Source {
  const [compute, cost] = forEachItem(compiler, () => compiler.compile(requiredAt(node, 'expression'), scope))
  const [alias, slot] = [textAt(node, 'alias') ?? '', compiler.slot()]
  aliases.set(alias, slot)
  return { alias, slot, compute, cost }
}

function compileLet(node: ElmNode, scope: Scope, aliases: Map<string, number>, compiler: Compiler): Step {
  const compute = compiler.compile(requiredAt(node, 'expression'), scope)
  const slot = compiler.slot()
  aliases.set(textAt(node, 'identifier') ?? '', slot)
  return (evaluation) => {
    evaluation.slots[slot] = compute(evaluation)
    return true
  }
}

/** `with` keeps rows for which at least one item meets the condition, `without` those for which no item does. */
function compileRelationship(node: ElmNode, outer: Scope, compiler: Compiler): Step {
  const aliases = new Map(outer.aliases)
  const { slot, compute } = compileSource(node, { ...outer, aliases }, aliases, compiler)
  const [condition, steps] = forEachItem(compiler, () => compiler.compile(requiredAt(node, 'suchThat'), { ...outer, aliases }))
  const wanted = typeOf(node) !== 'Without'
  return (evaluation) => {
    const related = compute(evaluation)
    const items = isList(related) ? related : related === null ? [] : [related]
    return (
      wanted ===
      items.some((item) => {
        evaluation.slots[slot] = item
        evaluation.spend(steps)
        return condition(evaluation) === true
      })
    )
  }
}

function conditionOf(node: ElmNode, scope: Scope, compiler: Compiler): readonly Step[] {
  const where = nodeAt(node, 'where')
  if (where === undefined) return []
  const condition = compiler.compile(where, scope)
  return [(evaluation) => condition(evaluation) === true]
}

function wholeRow(sources: readonly Source[]): Compute {
  const [only] = sources
  if (sources.length === 1 && only !== undefined) return (evaluation) => evaluation.slots[only.slot] ?? null
  return (evaluation): Tuple => ({
    kind: 'tuple',
    elements: new Map(sources.map(({ alias, slot }) => [alias, evaluation.slots[slot] ?? null])),
  })
}

/** Number of sources whose items are put into a row in one step. */
const PARTS_OF_STEP = 4

/** Calls `emit` for each combination of the sources' items that passes. `first` is the value of the first source. */
function eachRow(rows: Rows, first: Value, evaluation: Evaluation, emit: () => void): void {
  visit({ rows, evaluation, emit }, 0, first)
}

interface Visiting {
  readonly rows: Rows
  readonly evaluation: Evaluation
  readonly emit: () => void
}

function visit(visiting: Visiting, index: number, value: Value): void {
  const { rows, evaluation, emit } = visiting
  const [source, next] = [rows.sources[index], rows.sources[index + 1]]
  if (source === undefined) return
  for (const item of isList(value) ? value : value === null ? NOTHING : [value]) {
    evaluation.slots[source.slot] = item
    evaluation.spend(next === undefined ? rows.cost : 1 + next.cost)
    if (next !== undefined) visit(visiting, index + 1, next.compute(evaluation))
    else if (rows.passes(evaluation)) emit()
  }
}

const NOTHING: readonly Value[] = []

/** The rows of a query and the steps that they pass. */
interface Rows {
  readonly sources: readonly Source[]
  readonly steps: readonly Step[]
  /** Runs the steps, up to the first that returns false. */
  readonly passes: Step
  /** Steps of work for each row. */
  readonly cost: number
}

function compileAggregate(node: ElmNode, tested: Rows, scope: Scope, compiler: Compiler): Compute {
  const { sources, steps } = tested
  const slot = compiler.slot()
  const aliases = new Map([...scope.aliases, [textAt(node, 'identifier') ?? '', slot]])
  const starting = optionalAt(node, 'starting', scope, compiler)
  const [expression, cost] = forEachItem(compiler, () => compiler.compile(requiredAt(node, 'expression'), { ...scope, aliases }))
  const isDistinct = flagAt(node, 'distinct') === true
  return (evaluation) => {
    let result = starting(evaluation)
    const rows: Value[][] = []
    eachRow(tested, sources[0]?.compute(evaluation) ?? null, evaluation, () =>
      rows.push(sources.map((source) => evaluation.slots[source.slot] ?? null)),
    )
    const kept = isDistinct ? distinctRows(rows, compiler, evaluation) : rows
    for (const row of kept) {
      evaluation.spend(cost)
      for (const [index, source] of sources.entries()) evaluation.slots[source.slot] = row[index] ?? null
      for (const step of steps) step(evaluation)
      evaluation.slots[slot] = result
      result = expression(evaluation)
    }
    return result
  }
}

function distinctRows(rows: readonly (readonly Value[])[], { convert }: Compiler, { spend }: Evaluation): readonly (readonly Value[])[] {
  return distinctValues(rows, convert, spend).filter(isList)
}

/** The sort keys of an item, and the direction of each. */
export interface SortKey {
  readonly key: (item: Value, evaluation: Evaluation) => Value
  readonly sign: 1 | -1
  readonly compiler: Compiler
  /** Steps of computing the key of an item. */
  readonly steps: number
}

/** Compiles sort keys; `undefined` if there are none. */
function compileSort(by: readonly ElmNode[], scope: Scope, compiler: Compiler): readonly SortKey[] | undefined {
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
