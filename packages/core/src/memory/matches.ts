import { OperationError, quoted } from '../errors/index.js'
import { isDefinitionEntry, placesOf, type Condition, type EntryTest, type ScanQuery, type SearchQuery } from '../storage/index.js'
import { addBit, addBits, countBits, difference, emptyBits, intersection, membersOf, type Bits } from '../bits/index.js'
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
function rowsReferringTo(scope: Scope, { param, query: { type, where } }: RefersTo, among?: Bits): Bits {
  const live = scope.table.live()
  const found = new Uint32Array(live.length)
  const index = scope.table.param(param)
  for (const place of placesOf(type)) {
    const targets = scope.tables.get(place)
    const matches = matchingRows(scope.tables, { type: place, where })
    if (index === undefined || targets === undefined || matches === undefined) continue
    const links = index.links({ system: place, targets })
    if (among === undefined) links.addSources(matches, found)
    else links.addSourcesAmong(among, matches, found)
  }
  return among === undefined ? intersection(live, found) : found
}

type RefersTo = Extract<Condition, { kind: 'refersTo' }>

function rowsReferredBy({ tables, table, type }: Scope, param: string, query: SearchQuery): Bits {
  const live = table.live()
  const found = new Uint32Array(live.length)
  const sources = matchingRows(tables, query)
  const index = tables.get(query.type)?.param(param)
  if (sources !== undefined) index?.links({ system: type, targets: table }).addTargets(sources, found)
  return intersection(live, found)
}

/**
 * Checks that resources which were given without an indexer are not searched by parameters for which they have no entries: such a search would silently
 * find none of them.
 *
 * @param unindexed Types of these resources.
 * @throws {OperationError} `search-unsupported` naming the parameter.
 */
export function checkIndexed(query: SearchQuery | ScanQuery, unindexed: ReadonlySet<string>): void {
  if (unindexed.size === 0) return
  checkQueryOf(query, unindexed)
  for (const { type, where, params } of 'referring' in query ? (query.referring ?? []) : []) {
    for (const param of params) checkParam(param, type, unindexed)
    checkCondition(where, type, unindexed)
  }
}

function checkQueryOf({ type, where, sort = [] }: SearchQuery, unindexed: ReadonlySet<string>): void {
  for (const { field, param } of sort) if (field !== 'lastUpdated' && field !== 'id') checkParam(param, type, unindexed)
  checkCondition(where, type, unindexed)
}

function checkCondition(condition: Condition, type: string, unindexed: ReadonlySet<string>): void {
  switch (condition.kind) {
    case 'and':
    case 'or':
      for (const part of condition.conditions) checkCondition(part, type, unindexed)
      return
    case 'not':
      return checkCondition(condition.condition, type, unindexed)
    case 'entry':
      return checkParam(condition.param, type, unindexed)
    case 'refersTo':
      checkParam(condition.param, type, unindexed)
      return checkQueryOf(condition.query, unindexed)
    case 'referredBy':
      checkParam(condition.param, condition.query.type, unindexed)
      return checkQueryOf(condition.query, unindexed)
    case 'id':
    case 'lastUpdated':
      return
  }
}

function checkParam(param: string, type: string, unindexed: ReadonlySet<string>): void {
  if (!unindexed.has(type) || isDefinitionEntry({ param })) return
  const text = `The resources of type ${type} that memoryStorage was given are not indexed by ${quoted(param)}: give it an indexer too, for example that of r4().`
  throw new OperationError('search-unsupported', text)
}
