import { placesOf, satisfies, type Condition, type EntryTest, type SearchQuery, type PutEntry } from '../storage/index.js'
import { addBit, addBits, countBits, difference, emptyBits, intersection, membersOf, type Bits } from '../bits/index.js'
import type { Work } from '../work/index.js'
import type { Links } from './links.js'
import type { ResourceTable } from './resource-table.js'

/** The resources of every type. */
export type Tables = ReadonlyMap<string, ResourceTable>

/** The current rows that match a query; `undefined` when there is no such type. */
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
      return intersection(live, entryRows(scope.table, condition))
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
      return rowsReferringTo(scope, condition)
    case 'referredBy':
      return rowsReferredBy(scope, condition.param, condition.query)
  }
}

/** If at most one row in this many is left, testing each of those is faster than collecting all that match. */
const SMALL_PART = 32

/** Exact lookups come first, because few rows often remain after them. */
function rowsOfAll(scope: Scope, conditions: readonly Condition[]): Bits {
  const inOrder = [...conditions.filter(isLookup), ...conditions.filter((condition) => !isLookup(condition))]
  return inOrder.reduce((rows, part) => {
    const areFew = countBits(rows) * SMALL_PART <= scope.table.size()
    return (areFew ? rowsAmong(scope, rows, part) : undefined) ?? intersection(rows, rowsWhere(scope, part))
  }, scope.table.live())
}

function isLookup(condition: Condition): boolean {
  return condition.kind === 'entry' && condition.all.some(({ field, op }) => field === 'value' && (op === 'eq' || op === 'in'))
}

/** The rows that meet a condition, tested one by one; `undefined` when that is not faster. */
function rowsAmong(scope: Scope, rows: Bits, condition: Condition): Bits | undefined {
  if (condition.kind === 'refersTo') return rowsReferringTo(scope, condition, rows)
  // Lists may be long, so their texts are looked up.
  if (condition.kind !== 'entry' || condition.all.some(({ op }) => op === 'in')) return undefined
  return scope.table.param(condition.param)?.rowsAmong(rows, condition.all) ?? new Uint32Array(rows.length)
}

function entryRows(table: ResourceTable, test: EntryTest): Bits {
  return table.param(test.param)?.rowsWith(test.all) ?? emptyBits(0)
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

/** @param among The rows to test, when they are few. */
function rowsReferringTo({ tables, table, type: from }: Scope, { param, query: { type, where } }: RefersTo, among?: Bits): Bits {
  const live = table.live()
  const found = new Uint32Array(live.length)
  for (const to of placesOf(type)) {
    const links = linksOf(tables, { from, param, to })
    const matches = links && matchingRows(tables, { type: to, where })
    if (matches === undefined) continue
    if (among === undefined) links?.addSources(matches, found)
    else links?.addSourcesAmong(among, matches, found)
  }
  return among === undefined ? intersection(live, found) : found
}

type RefersTo = Extract<Condition, { kind: 'refersTo' }>

function rowsReferredBy({ tables, table, type: to }: Scope, param: string, query: SearchQuery): Bits {
  const live = table.live()
  const found = new Uint32Array(live.length)
  const sources = matchingRows(tables, query)
  if (sources !== undefined) linksOf(tables, { from: query.type, param, to })?.addTargets(sources, found)
  return intersection(live, found)
}

interface Reference {
  /** The type that refers. */
  readonly from: string
  readonly param: string
  /** The type that is referred to. */
  readonly to: string
}

/** The links of a reference; `undefined` when there are no such resources. */
export function linksOf(tables: Tables, { from, param, to }: Reference): Links | undefined {
  const targets = tables.get(to)
  return targets && tables.get(from)?.param(param)?.links({ system: to, targets })
}

/** As `followed`, for an alternative; its entries take long to find unless an index has them, and are kept. */
function* followedOrScanned(tables: Tables, type: string, where: Condition): Work<void> {
  if (where.kind !== 'entry') return yield* followed(tables, { type, where })
  const table = tables.get(type)
  if (table === undefined || isLookup(where)) return
  entryRows(table, where)
  yield
}

/** Brings what a condition needs up to date, in steps, so that `matchingRows` does not have to: the links that it follows, and its alternatives. */
export function* followed(tables: Tables, { type, where }: Pick<SearchQuery, 'type' | 'where'>): Work<void> {
  switch (where.kind) {
    case 'and':
      for (const part of where.conditions) yield* followed(tables, { type, where: part })
      return
    case 'or':
      for (const part of where.conditions) yield* followedOrScanned(tables, type, part)
      return
    case 'not':
      return yield* followed(tables, { type, where: where.condition })
    case 'refersTo':
      for (const to of placesOf(where.query.type)) {
        yield* followed(tables, { type: to, where: where.query.where })
        yield* caughtUp(tables, { from: type, param: where.param, to })
      }
      return
    case 'referredBy':
      yield* followed(tables, where.query)
      yield* caughtUp(tables, { from: where.query.type, param: where.param, to: type })
      return
    case 'entry':
    case 'id':
    case 'lastUpdated':
  }
}

function caughtUp(tables: Tables, reference: Reference): Iterable<void> {
  return linksOf(tables, reference)?.catchUp() ?? []
}

/** A resource, stored or about to be, with its index entries. */
export interface FoundBy extends Pick<PutEntry, 'id' | 'entries'> {
  /** When it was or will be written, in milliseconds. */
  readonly updated: number
}

/**
 * Whether one resource meets a condition, as `memoryStorage` would find it, without a storage. Conditions on other resources (`refersTo`,
 * `referredBy`) are never met, because there are no others.
 */
export function meetsCondition(resource: FoundBy, condition: Condition): boolean {
  switch (condition.kind) {
    case 'entry':
      return resource.entries.some((entry) => entry.param === condition.param && satisfies(entry, condition.all))
    case 'and':
      return condition.conditions.every((each) => meetsCondition(resource, each))
    case 'or':
      return condition.conditions.some((each) => meetsCondition(resource, each))
    case 'not':
      return !meetsCondition(resource, condition.condition)
    case 'id':
      return condition.ids.includes(resource.id)
    case 'lastUpdated':
      return resource.updated >= (condition.from ?? -Infinity) && resource.updated <= (condition.to ?? Infinity)
    default:
      return false
  }
}
