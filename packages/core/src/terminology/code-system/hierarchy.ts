import { addBit, emptyBits, bitmapOf, rangeBitmap, type Bitmap } from '../../bits/index.js'
import type { Hierarchy } from '../../code-system/index.js'
import { keptLately } from '../memo.js'
import type { Work } from '../../work/index.js'

/** A depth-first numbering of concepts. */
interface DepthFirst {
  /** The old number by new number. */
  readonly order: Uint32Array
  readonly hierarchy: Hierarchy
}

const STEPS = 1024

/**
 * Numbers concepts depth first by their first parent, and keeps all parents. Concepts of a cycle that no root leads to are numbered in
 * their order, so that each concept has a number.
 *
 * @param parents By concept, the numbers of its parents, best first.
 */
export function* depthFirst(parents: readonly (readonly number[])[]): Work<DepthFirst> {
  const children = yield* childrenOf(parents)
  const walk = yield* numbered(parents, children)
  const up = yield* renumbered(parents, walk)
  const down = yield* renumbered(children, walk)
  return { order: walk.order, hierarchy: hierarchyOf(up, down, { size: parents.length, ends: walk.end, many: walk.many }) }
}

interface Walk {
  readonly order: Uint32Array
  /** The new number of each old number. */
  readonly place: Uint32Array
  /** For each new number, the end of the range of descendants found at first visits. */
  readonly end: Uint32Array
  /** True if a concept can be reached on two paths. */
  many: boolean
  next: number
}

const NONE: readonly number[] = []

function* childrenOf(parents: readonly (readonly number[])[]): Work<readonly (readonly number[])[]> {
  const children: number[][] = []
  while (children.length < parents.length) {
    children.push([])
    if (children.length % STEPS === 0) yield
  }
  for (const [concept, list] of parents.entries()) {
    for (const parent of list) children[parent]?.push(concept)
    if (concept % STEPS === 0) yield
  }
  return children
}

function* numbered(parents: readonly (readonly number[])[], children: readonly (readonly number[])[]): Work<Walk> {
  const size = parents.length
  const walk: Walk = {
    order: new Uint32Array(size),
    place: new Uint32Array(size).fill(size),
    end: new Uint32Array(size),
    many: parents.some((list) => list.length > 1),
    next: 0,
  }
  for (let root = 0; root < size; root++) if (parents[root]?.length === 0) yield* visit(root, children, walk)
  for (let rest = 0; rest < size; rest++) if (walk.place[rest] === size) yield* visit(rest, children, walk)
  return walk
}

function* visit(root: number, children: readonly (readonly number[])[], walk: Walk): Work<void> {
  const open = [enter(root, walk)]
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const child = children[top.concept]?.[top.next++]
    if (child === undefined) {
      walk.end[walk.place[top.concept] ?? 0] = walk.next
      open.pop()
    } else if (walk.place[child] === walk.place.length) open.push(enter(child, walk))
    else walk.many = true
    if (walk.next % STEPS === 0) yield
  }
}

function enter(concept: number, walk: Walk): { readonly concept: number; next: number } {
  walk.order[walk.next] = concept
  walk.place[concept] = walk.next++
  return { concept, next: 0 }
}

/** Renumbers the lists, each in ascending order; returns an empty list if all are empty. */
function* renumbered(lists: readonly (readonly number[])[], { order, place }: Walk): Work<readonly (readonly number[])[]> {
  if (lists.every((list) => list.length === 0)) return []
  const result: (readonly number[])[] = []
  for (const old of order) {
    const list = lists[old] ?? NONE
    result.push(list.length === 0 ? NONE : list.map((other) => place[other] ?? 0).sort((a, b) => a - b))
    if (result.length % STEPS === 0) yield
  }
  return result
}

/** The parts of a walk that are kept. */
interface Walked extends Pick<Walk, 'many'> {
  readonly size: number
  readonly ends: Walk['end']
}

function hierarchyOf(up: readonly (readonly number[])[], down: readonly (readonly number[])[], { size, ends, many }: Walked): Hierarchy {
  const end = (concept: number): number => ends[concept] ?? 0
  const inRange = (concept: number, ancestor: number): boolean => ancestor <= concept && concept < end(ancestor)
  const parents = (concept: number): readonly number[] => up[concept] ?? NONE
  const children = (concept: number): readonly number[] => down[concept] ?? NONE
  return {
    nested: down.some((list) => list.length > 0),
    parents,
    children,
    isWithin: (concept, ancestor) => inRange(concept, ancestor) || (many && reaches(concept, parents, (found) => inRange(found, ancestor))),
    within: many
      ? keptLately(KEPT_BRANCHES, (ancestor) => reachable(ancestor, children, size))
      : (ancestor) => rangeBitmap(ancestor, end(ancestor), size),
    above: (concept) => reachable(concept, parents, size),
  }
}

/** Number of cached branches, such as those of value sets in use. */
const KEPT_BRANCHES = 64

function reaches(start: number, next: (concept: number) => readonly number[], accept: (concept: number) => boolean): boolean {
  const seen = new Set([start])
  for (const concept of seen) {
    if (accept(concept)) return true
    for (const other of next(concept)) seen.add(other)
  }
  return false
}

function reachable(start: number, next: (concept: number) => readonly number[], size: number): Bitmap {
  const words = emptyBits(size)
  const open = [start]
  addBit(words, start)
  const found = bitmapOf(words, size)
  for (let concept = open.pop(); concept !== undefined; concept = open.pop()) {
    for (const other of next(concept)) {
      if (found.has(other)) continue
      addBit(words, other)
      open.push(other)
    }
  }
  return bitmapOf(words, size)
}
