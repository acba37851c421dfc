import { placesOf, type Condition, type EntryTest, type SearchQuery } from '../storage/index.js'
import { addBit, addBits, countBits, difference, emptyBits, intersection, membersOf, type Bits } from '../bits/index.js'
import { satisfies } from './entry-test.js'
import type { ResourceTable } from './resource-table.js'

/** Every type's resources. */
export type Tables = ReadonlyMap<string, ResourceTable>

/** The current rows of the query's type that it matches; `undefined` when there is no such type. */
export function matchingRows(tables: Tables, query: Pick<SearchQuery, 'type' | 'where'>): Bits | undefined {
  const table = tables.get(query.type)
  return table && rowsWhere({ tables, table, type: query.type }, query.where)
}

interface Scope {
  readonly tables: Tables
  readonly table: ResourceTable
  readonly type: string
}

function rowsWhere(scope: Scope, condition: Condition): Bits {
  const live = scope.table.live()
  switch (condition.kind) {
    case 'entry':
      return intersection(live, entryRows(scope, condition))
    case 'and':
      return rowsOfAll(scope, condition.conditions)
    case 'or':
      return unionOf(
        live.length,
        condition.conditions.map((part) => rowsWhere(scope, part)),
      )
    case 'not':
      return difference(live, rowsWhere(scope, condition.condition))
    case 'id':
      return rowsOfIds(scope, condition.ids)
    case 'lastUpdated':
      return rowsUpdated(scope, condition)
    case 'refersTo':
      return rowsReferringTo(scope, condition.param, condition.query)
    case 'referredBy':
      return rowsReferredBy(scope, condition.param, condition.query)
  }
}

/** Of how many rows one must be left, so that asking each of those for an entry is sooner than collecting all that have one. */
const SMALL_PART = 32

/** Lookups of exact texts come first: few rows often remain after them. */
function rowsOfAll(scope: Scope, conditions: readonly Condition[]): Bits {
  const inOrder = [...conditions.filter(isLookup), ...conditions.filter((condition) => !isLookup(condition))]
  return inOrder.reduce((rows, part) => {
    const areFew = countBits(rows) * SMALL_PART <= scope.table.size()
    return areFew && isQuickToAsk(part) ? rowsAmong(scope, rows, part) : intersection(rows, rowsWhere(scope, part))
  }, scope.table.live())
}

function isLookup(condition: Condition): boolean {
  return condition.kind === 'entry' && condition.all.some(({ field, op }) => field === 'value' && (op === 'eq' || op === 'in'))
}

/** Lists may be long: their texts are looked up. */
function isQuickToAsk(condition: Condition): condition is EntryTest {
  return condition.kind === 'entry' && condition.all.every(({ op }) => op !== 'in')
}

/** Those of the rows that have an entry which passes the test. */
function rowsAmong({ table }: Scope, rows: Bits, { param, all }: EntryTest): Bits {
  const found = new Uint32Array(rows.length)
  for (const row of membersOf(rows)) {
    const passes = table.row(row)?.entries.some((entry) => entry.param === param && satisfies(entry, all))
    if (passes === true) addBit(found, row)
  }
  return found
}

function entryRows({ table }: Scope, test: EntryTest): Bits {
  const rows = emptyBits(table.live().length * 32)
  table.param(test.param)?.collect(test.all, rows)
  return rows
}

function unionOf(words: number, sets: readonly Bits[]): Bits {
  const union = new Uint32Array(words)
  for (const set of sets) addBits(union, set)
  return union
}

function rowsOfIds({ table }: Scope, ids: readonly string[]): Bits {
  const rows = emptyBits(table.live().length * 32)
  for (const id of ids) {
    const row = table.find(id)
    if (row !== undefined) addBit(rows, row)
  }
  return rows
}

function rowsUpdated({ table }: Scope, { from = -Infinity, to = Infinity }: { readonly from?: number; readonly to?: number }): Bits {
  const rows = emptyBits(table.live().length * 32)
  for (const row of membersOf(table.live())) {
    const at = table.row(row)?.updated
    if (at !== undefined && at >= from && at <= to) addBit(rows, row)
  }
  return rows
}

function rowsReferringTo(scope: Scope, param: string, { type, where }: SearchQuery): Bits {
  const places = placesOf(type)
  const all = [
    { field: 'value', op: 'in', operands: places.flatMap((place) => idsOf(scope.tables, { type: place, where })) },
    { field: 'system', op: 'in', operands: places },
  ] as const
  return intersection(scope.table.live(), entryRows(scope, { kind: 'entry', param, all }))
}

function idsOf(tables: Tables, query: SearchQuery): readonly string[] {
  const table = tables.get(query.type)
  const rows = matchingRows(tables, query)
  if (table === undefined || rows === undefined) return []
  return Array.from(membersOf(rows), (row) => table.row(row)?.stored.id ?? '')
}

function rowsReferredBy(scope: Scope, param: string, query: SearchQuery): Bits {
  const source = scope.tables.get(query.type)
  const sourceRows = matchingRows(scope.tables, query) ?? emptyBits(0)
  const ids: string[] = []
  for (const row of membersOf(sourceRows)) {
    for (const entry of source?.row(row)?.entries ?? []) {
      if (entry.param === param && entry.system === scope.type && entry.value !== undefined) ids.push(entry.value)
    }
  }
  return rowsOfIds(scope, ids)
}
