import { type IdTable, idAt } from '../release/id-table.js'
import { CONCRETE, gathered, type Lists, bytesOf, listOf } from '../release/section-reader.js'
import { SCT } from '../sctid.js'
import { column, type Numbering, listSections, type Section, componentRows } from './column.js'
import { OperationError } from 'fhir-ops/errors'

/** Collects the rows of relationship files; only inferred ones are used. */
interface RelationshipBuilder {
  /** Adds a row whose value is a concept or a concrete value (`#5`, `"text"`). */
  add(row: readonly string[]): void
  /** Number of rows that name a concept that does not exist. */
  readonly dangling: number
  sections(): Iterable<Section>
}

/** Creates an empty builder for these concepts. */
export function relationshipBuilder(concepts: IdTable, values: Numbering): RelationshipBuilder {
  const rows = relationshipRows()
  const isA = concepts.find(SCT.isA)
  let dangling = 0
  return {
    get dangling() {
      return dangling
    },
    add(row) {
      const [source, target, type] = [row[4] ?? '', row[5] ?? '', row[7] ?? '']
      if (row[8] !== SCT.inferred) return
      const value = /^[#"]/.test(target) ? CONCRETE + values.numberOf(target.replace(/^#/, '')) : concepts.find(target)
      const ends = [concepts.find(source), concepts.find(type), value].filter((end) => end !== undefined)
      if (ends.length < 3) dangling++
      else rows.push(row, ends)
    },
    *sections() {
      const columns = rows.values()
      const isHierarchy = (row: number): boolean => columns.type[row] === isA
      const active = rows.newest()
      yield* hierarchySections(concepts, active.filter(isHierarchy), columns)
      yield* attributeSections(
        concepts.size,
        active.filter((row) => !isHierarchy(row)),
        columns,
      )
    },
  }
}

interface RelationshipRows {
  /** @param ends Ordinals of source and type, and the value. */
  push(row: readonly string[], ends: readonly number[]): void
  /** Returns the active rows, the newest of each id. */
  newest(): Uint32Array
  values(): Relationships
}

function relationshipRows(): RelationshipRows {
  const components = componentRows()
  const [active, source, type, group, value] = [column(), column(), column(), column(), column()]
  return {
    push(row, ends) {
      components.push(row)
      active.push(Number(row[2]))
      group.push(Number(row[6]))
      source.push(ends[0] ?? 0)
      type.push(ends[1] ?? 0)
      value.push(ends[2] ?? 0)
    },
    newest() {
      const flags = active.values()
      return components.sorted().rows.filter((row) => flags[row] === 1)
    },
    values: () => ({ source: source.values(), type: type.values(), group: group.values(), value: value.values() }),
  }
}

interface Relationships {
  readonly source: Uint32Array
  readonly type: Uint32Array
  readonly group: Uint32Array
  readonly value: Uint32Array
}

function hierarchySections(concepts: IdTable, rows: Uint32Array, { source, value }: Relationships): readonly Section[] {
  const child = rows.map((row) => source[row] ?? 0)
  const parent = rows.map((row) => value[row] ?? 0)
  const parents = distinct(gathered(concepts.size, { places: child, items: parent }))
  const children = distinct(gathered(concepts.size, { places: parent, items: child }))
  const ancestors = ancestorLists(concepts.size, parents, (concept) => idAt(concepts, concept))
  return [...listSections('parents', parents), ...listSections('children', children), ...listSections('ancestors', ancestors)]
}

/** Makes the sections of attributes. Rows are ordered by source, group, type and value; duplicates are removed. */
function* attributeSections(size: number, unsorted: Uint32Array, columns: Relationships): Iterable<Section> {
  const { source, type, group, value } = columns
  const at = (numbers: Uint32Array, row: number): number => numbers[row] ?? 0
  const compare = (a: number, b: number): number =>
    at(source, a) - at(source, b) || at(group, a) - at(group, b) || at(type, a) - at(type, b) || at(value, a) - at(value, b)
  const sorted = unsorted.slice().sort(compare)
  const rows = sorted.filter((row, i) => i === 0 || compare(sorted[i - 1] ?? row, row) !== 0)
  const taken = (numbers: Uint32Array): Uint32Array => rows.map((row) => at(numbers, row))
  yield ['attribute.start', bytesOf(gathered(size, { places: taken(source), items: rows }).start)]
  yield ['attribute.type', bytesOf(taken(type))]
  yield ['attribute.group', bytesOf(taken(group))]
  yield ['attribute.value', bytesOf(taken(value))]
  const used = rows.filter((row) => at(value, row) < CONCRETE)
  const users = gathered(size, { places: used.map((row) => at(value, row)), items: used.map((row) => at(source, row)) })
  yield* listSections('attribute.users', distinct(users))
}

/** Sorts each list in ascending order and removes duplicates. */
function distinct({ start, items }: Lists): Lists {
  const starts = new Uint32Array(start.length)
  const kept = column()
  for (let place = 0; place + 1 < start.length; place++) {
    const list = items.slice(start[place] ?? 0, start[place + 1] ?? 0).sort()
    list.forEach((item, i) => {
      if (i === 0 || item !== list[i - 1]) kept.push(item)
    })
    starts[place + 1] = kept.length
  }
  return { start: starts, items: kept.values().slice() }
}

/**
 * Returns all proper ancestors of each concept, in ascending order.
 *
 * @param name Returns the name of a concept, for the message.
 * @throws {OperationError} `definition-invalid` if a concept is its own ancestor.
 */
function ancestorLists(size: number, parents: Lists, name: (concept: number) => string): Lists {
  const rows = ancestorRows(size)
  const walk = { parents, done: new Uint8Array(size), name, visit: (concept: number) => rows.add(concept, listOf(parents, concept)) }
  for (let concept = 0; concept < size; concept++) visitUpwards(concept, walk)
  const start = new Uint32Array(size + 1)
  for (let concept = 0; concept < size; concept++) start[concept + 1] = (start[concept] ?? 0) + rows.of(concept).length
  const items = new Uint32Array(start[size] ?? 0)
  for (let concept = 0; concept < size; concept++) items.set(rows.of(concept), start[concept])
  return { start, items }
}

interface AncestorRows {
  /** Adds a concept whose parents have been added. */
  readonly add: (concept: number, parents: Uint32Array) => void
  /** Returns the ancestors of a concept that has been added. */
  readonly of: (concept: number) => Uint32Array
}

/** Stores the lists in one long column: several hundred thousand separate lists would take several times as much memory. */
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

const NONE = new Uint32Array()

interface Walk {
  readonly parents: Lists
  /** 1 for a concept that has been visited. */
  readonly done: Uint8Array
  readonly name: (concept: number) => string
  /** Called for each concept, after its parents. */
  readonly visit: (concept: number) => void
}

/** Visits the ancestors of a concept that have not been visited, the uppermost first, and then the concept itself, without recursion. */
function visitUpwards(start: number, { parents, done, name, visit }: Walk): void {
  const open = [start]
  const path = new Set<number>()
  for (let concept = open.at(-1); concept !== undefined; concept = open.at(-1)) {
    const waiting = done[concept] === 1 ? NONE : listOf(parents, concept).filter((parent) => done[parent] !== 1)
    if (waiting.length === 0) {
      if (done[concept] !== 1) visit(concept)
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
