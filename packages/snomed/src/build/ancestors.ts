import { OperationError } from 'fhir-ops/errors'
import { listOf, type Lists } from '../release/lists.js'
import { column } from './column.js'

/**
 * All proper ancestors of each concept, in ascending order.
 *
 * @param name Gives a concept its name for the message.
 * @throws {OperationError} `definition-invalid` when a concept is its own ancestor.
 */
export function ancestorLists(size: number, parents: Lists, name: (concept: number) => string): Lists {
  const rows = ancestorRows(size)
  for (const concept of parentsFirst(size, parents, name)) rows.add(concept, listOf(parents, concept))
  const start = new Uint32Array(size + 1)
  for (let concept = 0; concept < size; concept++) start[concept + 1] = (start[concept] ?? 0) + rows.of(concept).length
  const items = new Uint32Array(start[size] ?? 0)
  for (let concept = 0; concept < size; concept++) items.set(rows.of(concept), start[concept])
  return { start, items }
}

interface AncestorRows {
  /** Adds a concept whose parents were added before. */
  readonly add: (concept: number, parents: Uint32Array) => void
  /** The ancestors of a concept that was added. */
  readonly of: (concept: number) => Uint32Array
}

/** One long column: some hundred thousand lists of their own would take several times as much memory. */
function ancestorRows(size: number): AncestorRows {
  const items = column()
  const starts = new Uint32Array(size)
  const ends = new Uint32Array(size)
  const of = (concept: number): Uint32Array => items.values().subarray(starts[concept], ends[concept])
  return {
    of,
    add(concept, parents) {
      const all = new Set<number>(parents)
      for (const parent of parents) for (const ancestor of of(parent)) all.add(ancestor)
      starts[concept] = items.length
      for (const ancestor of Uint32Array.from(all).sort()) items.push(ancestor)
      ends[concept] = items.length
    },
  }
}

/** Every concept after its parents. */
function* parentsFirst(size: number, parents: Lists, name: (concept: number) => string): Generator<number> {
  const walk = { parents, done: new Uint8Array(size), name }
  for (let start = 0; start < size; start++) yield* upwards(start, walk)
}

const NONE = new Uint32Array()

interface Walk {
  readonly parents: Lists
  /** 1 for a concept that was given. */
  readonly done: Uint8Array
  readonly name: (concept: number) => string
}

/** What is above a concept and was not given yet, the uppermost first, and the concept itself, without recursion. */
function* upwards(start: number, { parents, done, name }: Walk): Generator<number> {
  const open = [start]
  const path = new Set<number>()
  for (let concept = open.at(-1); concept !== undefined; concept = open.at(-1)) {
    const waiting = done[concept] === 1 ? NONE : listOf(parents, concept).filter((parent) => done[parent] !== 1)
    if (waiting.length === 0) {
      if (done[concept] !== 1) yield concept
      done[concept] = 1
      path.delete(concept)
      open.pop()
    } else {
      if (path.has(concept)) throw new OperationError('definition-invalid', `The hierarchy has a cycle through ${name(concept)}.`)
      path.add(concept)
      open.push(...waiting)
    }
  }
}
