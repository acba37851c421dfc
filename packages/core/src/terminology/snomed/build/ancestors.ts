import { OperationError } from '../../../errors/index.js'
import { listOf, type Lists } from '../index/lists.js'
import { column } from './column.js'

/**
 * All proper ancestors of each concept, in ascending order.
 *
 * @param name Gives a concept its name for the message.
 * @throws {OperationError} `definition-invalid` when a concept is its own ancestor.
 */
export function ancestorLists(size: number, parents: Lists, name: (concept: number) => string): Lists {
  const done: (Uint32Array | undefined)[] = Array.from({ length: size })
  for (let concept = 0; concept < size; concept++) visit(concept, { parents, done, name })
  const start = new Uint32Array(size + 1)
  const items = column()
  done.forEach((list, concept) => {
    for (const ancestor of list ?? []) items.push(ancestor)
    start[concept + 1] = items.length
  })
  return { start, items: items.values().slice() }
}

interface Visiting {
  readonly parents: Lists
  readonly done: (Uint32Array | undefined)[]
  readonly name: (concept: number) => string
}

/** Finishes a concept and everything above it, the uppermost first, without recursion. */
function visit(start: number, { parents, done, name }: Visiting): void {
  const open = [start]
  const path = new Set<number>()
  for (let concept = open.at(-1); concept !== undefined; concept = open.at(-1)) {
    const waiting = done[concept] === undefined ? listOf(parents, concept).filter((parent) => done[parent] === undefined) : undefined
    if (waiting === undefined || waiting.length === 0) {
      done[concept] ??= union(listOf(parents, concept), done)
      path.delete(concept)
      open.pop()
    } else {
      if (path.has(concept)) throw new OperationError('definition-invalid', `The hierarchy has a cycle through ${name(concept)}.`)
      path.add(concept)
      open.push(...waiting)
    }
  }
}

function union(parents: Uint32Array, done: readonly (Uint32Array | undefined)[]): Uint32Array {
  const all = new Set<number>(parents)
  for (const parent of parents) for (const ancestor of done[parent] ?? []) all.add(ancestor)
  return Uint32Array.from(all).sort()
}
