import { OperationError } from 'fhir-ops/errors'
import type { Compute, Evaluation, NodeTrace, RetrieveRequest, Scope } from '../compile/compiler.js'
import { nodeAt, nodesAt, typeOf, type ElmNode } from '../elm/node.js'
import { isList, type FhirElement, type Value } from '../values/value.js'

/** A compiled node that is looked at. */
export interface Traced {
  readonly node: ElmNode
  /** Id of its library. */
  readonly library: string
  readonly scope: Scope
  readonly compute: Compute
  /** Whether it is the condition of a query, which is evaluated for each item. */
  isCondition: boolean
}

/** One evaluation of a node. */
export interface Entry {
  readonly of: Traced
  /** Its value; of a list the first items. */
  value: Value
  /** How many items the list has. */
  count: number
  /** Evaluations of nodes within it, in their order; of what was evaluated often, some. */
  readonly children: Entry[]
  /** How many evaluations are kept: this one and those within it. */
  size: number
  /** Of a condition: how many of its parts are true. */
  satisfied: number
  /** Of a condition: how often it was evaluated within one evaluation of its query, and with what result. */
  tallies?: Map<Traced, Tally>
  /** Of a retrieve. */
  request?: RetrieveRequest
  /** Of a condition: values of all names while it was evaluated. */
  slots?: readonly Value[]
}

/** Results of a condition. */
export interface Tally {
  total: number
  true: number
  false: number
  null: number
}

/** Writes down how one subject is evaluated. */
export interface Tracer {
  readonly trace: NodeTrace
  /** The first evaluation of a node that is the expression of a definition. */
  firstOf(node: ElmNode): Entry | undefined
  /** Notes what is retrieved, by the retrieve that is being evaluated. */
  retrieved(request: RetrieveRequest, found: readonly FhirElement[]): void
  /** Evaluates a node with the names that another had; `undefined` where that fails. */
  again(node: ElmNode, slots: readonly Value[], evaluation: Evaluation): Entry | undefined
  /** What retrieves of each clause found. */
  readonly reads: ReadonlyMap<Traced, Read>
}

/** What a retrieve found, in all its evaluations. */
export interface Read {
  /** References, as far as they are kept. */
  readonly references: Set<string>
  /** How many there are, at least. */
  total: number
}

/** Evaluations that are kept for one subject; of the others only how many there were. */
const MAX_ENTRIES = 20_000
/** Evaluations of one condition, or of any other node within another, that are kept. */
const MAX_ALIKE = 30
/** Items of a list that are kept. */
const MAX_ITEMS = 30
/** Resources that are kept of each retrieve. */
const MAX_RESOURCES = 1_000

/** @param roots The expressions of all definitions. */
export function createTracer(roots: ReadonlySet<ElmNode>): Tracer {
  const nodes = new Map<ElmNode, Traced>()
  const firsts = new Map<ElmNode, Entry>()
  const reads = new Map<Traced, Read>()
  const attach = entryKeeper()
  let current: Entry | undefined

  const evaluated = (entry: Entry, evaluation: Evaluation): Value => {
    const outer = current
    current = entry
    try {
      const value = entry.of.compute(evaluation)
      setValue(entry, value)
      return value
    } finally {
      current = outer
    }
  }

  return {
    reads,
    firstOf: (node) => firsts.get(node),
    trace: (compute, node, scope, library) => {
      const of: Traced = { node, library, scope, compute, isCondition: false }
      nodes.set(node, of)
      for (const condition of conditionsOf(node)) {
        const traced = nodes.get(condition)
        if (traced !== undefined) traced.isCondition = true
      }
      const isRoot = roots.has(node)
      return (evaluation) => {
        const [outer, entry] = [current, entryOf(of)]
        const value = evaluated(entry, evaluation)
        if (isRoot && !firsts.has(node)) firsts.set(node, entry)
        if (outer !== undefined) attach(outer, entry, evaluation)
        return value
      }
    },
    retrieved: (request, found) => {
      if (current === undefined) return
      current.request = request
      const read = reads.get(current.of) ?? { references: new Set<string>(), total: 0 }
      reads.set(current.of, read)
      for (const resource of found) {
        if (read.references.size >= MAX_RESOURCES) break
        read.references.add(idOf(resource))
      }
      read.total = Math.max(read.total, read.references.size, found.length)
    },
    again: (node, slots, evaluation) => {
      const of = nodes.get(node)
      const entry = of === undefined ? undefined : entryOf(of)
      if (entry === undefined) return undefined
      return withSlots(evaluation, slots, () => void evaluated(entry, evaluation)) ? entry : undefined
    },
  }
}

function entryOf(of: Traced): Entry {
  return { of, value: null, count: 0, children: [], size: 1, satisfied: 0 }
}

/** Evaluates with other values of names. What was not evaluated before may fail: then false, and it is left out of the explanation. */
function withSlots({ slots: own }: Evaluation, slots: readonly Value[], evaluate: () => void): boolean {
  const before = own.slice()
  try {
    for (const [index, value] of slots.entries()) own[index] = value
    evaluate()
    return true
  } catch (error) {
    if (error instanceof OperationError) return false
    throw error
  } finally {
    own.splice(0, own.length, ...before)
  }
}

/** Puts evaluations into those that they are within, as long as there is room. */
function entryKeeper(): (parent: Entry, entry: Entry, evaluation: Evaluation) => void {
  let kept = 0
  return (parent, entry, evaluation) => {
    if (entry.of.isCondition) {
      tally(parent, entry)
      entry.satisfied = satisfied(entry)
    }
    const alike = parent.children.length < MAX_ALIKE ? 0 : parent.children.filter(({ of }) => of === entry.of).length
    const freed = alike < MAX_ALIKE ? 0 : takeFurther(parent, entry)
    kept += 1 - (freed ?? entry.size)
    if (freed === undefined) return
    if (kept > MAX_ENTRIES) {
      kept -= entry.size - 1
      entry.children.length = 0
      entry.size = 1
    }
    if (entry.of.isCondition) entry.slots = evaluation.slots.slice()
    parent.children.push(entry)
    parent.size += entry.size - freed
  }
}

function setValue(entry: Entry, value: Value): void {
  entry.value = isList(value) && value.length > MAX_ITEMS ? value.slice(0, MAX_ITEMS) : value
  entry.count = isList(value) ? value.length : 0
}

/** The conditions of a query: `where`, and `such that` of what it is related to. */
export function conditionsOf(node: ElmNode): readonly ElmNode[] {
  if (typeOf(node) !== 'Query') return []
  const related = nodesAt(node, 'relationship').flatMap((one): readonly ElmNode[] => nodesAt(one, 'suchThat'))
  const where = nodeAt(node, 'where')
  return where === undefined ? related : [...related, where]
}

function tally(parent: Entry, { of, value }: Entry): void {
  parent.tallies ??= new Map()
  const known = parent.tallies.get(of) ?? { total: 0, true: 0, false: 0, null: 0 }
  known.total++
  known[value === true ? 'true' : value === false ? 'false' : 'null']++
  parent.tallies.set(of, known)
}

/** Takes out an evaluation that is further from satisfying the same condition than a new one, and gives its size; `undefined` when there is none. */
function takeFurther(parent: Entry, entry: Entry): number | undefined {
  if (!entry.of.isCondition) return undefined
  const at = parent.children.findIndex((child) => child.of === entry.of && child.satisfied < entry.satisfied)
  return at < 0 ? undefined : parent.children.splice(at, 1)[0]?.size
}

/** How many conjuncts are true; of a condition that holds, more than any. */
function satisfied(entry: Entry): number {
  if (entry.value === true) return Number.MAX_SAFE_INTEGER
  return conjunctsOf(entry.of.node).filter((node) => within(entry, node)?.value === true).length
}

/** What a condition is the conjunction of. */
export function conjunctsOf(node: ElmNode): readonly ElmNode[] {
  if (typeOf(node) !== 'And') return [node]
  const parts: ElmNode[] = []
  for (const operand of nodesAt(node, 'operand')) parts.push(...conjunctsOf(operand))
  return parts
}

/** The evaluation of a conjunct within that of a conjunction. */
export function within(entry: Entry, node: ElmNode): Entry | undefined {
  if (entry.of.node === node) return entry
  if (typeOf(entry.of.node) !== 'And') return undefined
  for (const child of entry.children) {
    const found = within(child, node)
    if (found !== undefined) return found
  }
  return undefined
}

/** `Observation/o1`; what is not a resource with an id has an empty one. */
export function idOf({ type, json }: FhirElement): string {
  const id = typeof json === 'object' && json !== null && 'id' in json ? json.id : undefined
  return `${type.name}/${typeof id === 'string' ? id : ''}`
}
