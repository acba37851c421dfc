import { type IdTable, idAt } from '../release/id-table.js'
import { CONCRETE } from '../release/attributes.js'
import { gathered, type Lists } from '../release/lists.js'
import { bytesOf } from '../release/section-reader.js'
import { SCT } from '../sctid.js'
import { ancestorLists } from './ancestors.js'
import { column, type Numbering } from './column.js'
import { componentRows } from './component-rows.js'
import { listSections, type Section } from './section.js'

/** Gathers the rows of relationship files; only inferred ones count. */
export interface RelationshipBuilder {
  /** A row with a concept as its value, or with a concrete value (`#5`, `"text"`). */
  add(row: readonly string[]): void
  /** Rows that name a concept which does not exist. */
  readonly dangling: number
  sections(): Iterable<Section>
}

/** Makes an empty builder over the concepts. */
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
  /** The active rows, the newest of each id. */
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

function* hierarchySections(concepts: IdTable, rows: Uint32Array, { source, value }: Relationships): Iterable<Section> {
  const child = rows.map((row) => source[row] ?? 0)
  const parent = rows.map((row) => value[row] ?? 0)
  const parents = distinct(gathered(concepts.size, { places: child, items: parent }))
  yield* listSections('parents', parents)
  yield* listSections('children', distinct(gathered(concepts.size, { places: parent, items: child })))
  yield* listSections(
    'ancestors',
    ancestorLists(concepts.size, parents, (concept) => idAt(concepts, concept)),
  )
}

/** Rows go by source, group, type and value; a row that says the same as another goes. */
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

/** Each list in ascending order, without repetitions. */
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
