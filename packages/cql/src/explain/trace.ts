import { OperationError } from 'fhir-ops/errors'
import type { Compute, Evaluation, NodeTrace, RetrieveRequest, Scope } from '../compile/compiler.js'
import { nodeAt, nodesAt, typeOf, type ElmNode } from '../elm/node.js'
import { isList, type FhirElement, type Value } from '../values/value.js'

/** A compiled node that is traced. */
interface Traced {
  readonly node: ElmNode
  /** Id of its library. */
  readonly library: string
  readonly scope: Scope
  readonly compute: Compute
  /** Whether it is the condition of a query, evaluated for each item. */
  isCondition: boolean
}

/** One evaluation of a node. */
export interface Entry {
  readonly of: Traced
  /** Its value; for a list, the first items. */
  value: Value
  /** Number of items of a list. */
  count: number
  /** Evaluations of nodes within it, in their order; only some for nodes that were evaluated often. */
  readonly children: Entry[]
  /** Number of kept evaluations: this one and those within it. */
  size: number
  /** For a condition: number of its parts that are true. */
  satisfied: number
  /** Counts of the results of each condition within this evaluation of a query. */
  tallies?: Map<Traced, Tally>
  /** Request of a retrieve. */
  request?: RetrieveRequest
  /** For a condition: values of all names during its evaluation. */
  slots?: readonly Value[]
}

/** Counts of the results of a condition. */
export interface Tally {
  total: number
  true: number
  false: number
  null: number
}

/** Records the evaluation of one subject. */
export interface Tracer {
  readonly trace: NodeTrace
  /** The first evaluation of a node that is the expression of a definition. */
  firstOf(node: ElmNode): Entry | undefined
  /** Records the resources that the current retrieve found. */
  retrieved(request: RetrieveRequest, found: readonly FhirElement[]): void
  /** Evaluates a node with the slots of another evaluation; `undefined` if that fails. */
  again(node: ElmNode, slots: readonly Value[], evaluation: Evaluation): Entry | undefined
  /** The resources that the retrieves of each clause found. */
  readonly reads: ReadonlyMap<Traced, Read>
}

/** The resources that a retrieve found, in all its evaluations. */
export interface Read {
  /** References that are kept. */
  readonly references: Set<string>
  /** Number of resources, at least. */
  total: number
}

/** Maximum number of evaluations that are kept for one subject; the others are only counted. */
const MAX_ENTRIES = 20_000
/** Maximum number of evaluations of one condition, or of any other node within another, that are kept. */
const MAX_ALIKE = 30
/** Maximum number of items of a list that are kept. */
const MAX_ITEMS = 30
/** Maximum number of resources that are kept for each retrieve. */
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

/** Evaluates with other values in the slots. A part that was not evaluated before may fail: then returns false, and the explanation leaves it out. */
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

/** Adds evaluations to the evaluation that contains them, as long as there is room. */
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

/** The conditions of a query: `where`, and `such that` of its relationships. */
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

/** Removes an evaluation of the same condition that is further from satisfying it than the new one. Returns its size; `undefined` if there is none. */
function takeFurther(parent: Entry, entry: Entry): number | undefined {
  if (!entry.of.isCondition) return undefined
  const at = parent.children.findIndex((child) => child.of === entry.of && child.satisfied < entry.satisfied)
  return at < 0 ? undefined : parent.children.splice(at, 1)[0]?.size
}

/** Number of conjuncts that are true; greater than any number for a condition that holds. */
function satisfied(entry: Entry): number {
  if (entry.value === true) return Number.MAX_SAFE_INTEGER
  return conjunctsOf(entry.of.node).filter((node) => within(entry, node)?.value === true).length
}

/** The conjuncts of a condition. */
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

/** The reference `Observation/o1`; the id is empty for an element without id. */
export function idOf({ type, json }: FhirElement): string {
  const id = typeof json === 'object' && json !== null && 'id' in json ? json.id : undefined
  return `${type.name}/${typeof id === 'string' ? id : ''}`
}
