import { cursorOf, joined, pageLimit, readCursor, type ResourceRow } from '@fhir-ops/sql'
import { countBits, intersection, type Bits } from 'fhir-ops/internal/bits'
import { SCAN_ITEM_BYTES, SCAN_PAGE_BYTES, scanItemTooLong, type Condition, type ScanQuery } from 'fhir-ops/storage'
import type { Referring } from 'fhir-ops/internal/storage'
import type { Command } from '../commands/command.js'
import { rowOf } from '../commands/resource-row.js'
import { asking, numberOf, snapshot, sql, textOf, type Row, type Sql, type SqliteDriver } from '../database/driver.js'
import { keptReferrers, matchingSet, type Sieve } from '../sets/matching-set.js'
import type { Referrers } from '../sets/reference-column.js'
import { limitOf, setsOf } from '../sets/kept-sets.js'
import { conjuncts, countUpTo, keysWhere, meets } from './condition-sql.js'
import { inTime, paramKey } from './entry-sql.js'

/** A resource of a scan as read from the database; plain data. */
export interface ScanRow {
  readonly row: ResourceRow
  readonly referring: readonly (readonly [type: string, row: ResourceRow])[]
}

/** A page of a scan. */
interface ScanRows {
  readonly items: readonly ScanRow[]
  readonly next?: string
}

/** Reads a page of a scan, in the order of ids. */
export const scanPage: Command<ScanQuery, ScanRows> = {
  name: 'scan',
  lane: 'scan',
  run: (db, query) => snapshot(db, () => readPage(db, query)),
}

/** Reads sizes before texts, so that no more is read than returned. */
function readPage(db: SqliteDriver, query: ScanQuery): ScanRows {
  const limit = pageLimit(query)
  const found = db.all(scannedSql(query, limit + 1)).map(scannedOf)
  const all = withReferring(db, { ...query, isLong: found.length > limit }, found.slice(0, limit))
  const scanned = all.slice(0, lengthOfPage(all, query.maxBytes ?? SCAN_PAGE_BYTES))
  const texts = textsOf(db, scanned)
  const items = scanned.map(({ key, referring }): ScanRow => ({
    row: texts(key),
    referring: Array.from(referring, ([other, type]) => [type, texts(other)]),
  }))
  const last = scanned.at(-1)
  return items.length === found.length || last === undefined ? { items } : { items, next: cursorOf({ id: last.id, keys: [] }) }
}

interface Scanned {
  readonly key: number
  readonly id: string
  bytes: number
  /** Types of referring resources, by key. */
  readonly referring: Map<number, string>
}

function scannedSql({ type, where, after }: ScanQuery, limit: number): Sql {
  const behind = after === undefined ? sql`1` : sql`r.id > ${readCursor(after, {}).id}`
  const [named, others] = byIds(where)
  return sql`SELECT r.key, r.id, octet_length(r.text) FROM resource AS r INDEXED BY resource_id WHERE r.type = ${type} AND ${behind}
    AND ${named} AND in_time() AND ${meets(type, others, { key: sql`r.key`, each: true })} ORDER BY r.id LIMIT ${limit}`
}

/** Looks up the ids in a condition in the index along which the scan runs, instead of testing each resource of the type. */
function byIds(where: Condition): readonly [named: Sql, others: Condition] {
  const all = conjuncts(where)
  const ids = all.flatMap((condition) => (condition.kind === 'id' ? [condition.ids] : []))
  const named = ids.map((list) => sql`r.id IN (SELECT value FROM json_each(${JSON.stringify(list)}))`)
  const others = all.filter((condition) => condition.kind !== 'id')
  return [joined([sql`1`, ...named], ' AND '), { kind: 'and', conditions: others }]
}

function scannedOf([key, id, bytes]: Row): Scanned {
  return { key: numberOf(key), id: textOf(id), bytes: numberOf(bytes), referring: new Map() }
}

interface ReferringQuery extends ScanQuery {
  /** True if more pages follow. */
  readonly isLong: boolean
}

/** Adds the referring resources to each resource. */
function withReferring(db: SqliteDriver, query: ReferringQuery, found: readonly Scanned[]): readonly Scanned[] {
  const byId = new Map(found.map((one) => [one.id, one]))
  for (const source of query.referring ?? []) {
    for (const [id, key, bytes] of referencesTo(db, source, { ...query, found })) {
      const one = byId.get(textOf(id))
      if (one === undefined || one.referring.has(numberOf(key))) continue
      one.referring.set(numberOf(key), source.type)
      one.bytes += numberOf(bytes)
      if (one.bytes > SCAN_ITEM_BYTES) throw scanItemTooLong({ type: query.type, id: one.id })
    }
  }
  return found
}

interface ReferredTo extends ReferringQuery {
  readonly found: readonly Scanned[]
}

/** Returns rows of a target's id, a referring resource's key, and the length of its text. For a long scan, all references are determined once for all pages. */
function referencesTo(db: SqliteDriver, source: Referring, { type, isLong, after, found }: ReferredTo): readonly Row[] {
  let known: Sieve | undefined
  const sieve = (): Sieve => (known ??= sieveOf(db, source, isLong))
  const referrers = isLong || after !== undefined ? keptReferrers(db, setsOf(db), { ...source, to: type }, sieve) : undefined
  if (referrers !== undefined) return knownReferences(db, referrers, found)
  const { set, others } = sieve()
  const ids = JSON.stringify(found.map(({ id }) => id))
  return asking(set ?? NO_KEYS, () => db.all(referringSql({ ...source, set, others }, type, ids)))
}

function knownReferences(db: SqliteDriver, referrers: Referrers, found: readonly Scanned[]): readonly Row[] {
  const references = found.flatMap(({ id, key }) => Array.from(referrers.of(key), (source) => [id, source] as const))
  const keys = references.map(([, source]) => source).sort((a, b) => a - b)
  const read = sql`SELECT r.key, octet_length(r.text) FROM json_each(${JSON.stringify(keys)}) AS j CROSS JOIN resource AS r
    WHERE r.key = j.value AND ${inTime(sql`r.key`)}`
  const lengths = new Map(db.all(read).map(([key, bytes]) => [key, bytes]))
  return references.map(([id, source]) => [id, source, lengths.get(source) ?? null])
}

const NO_KEYS: Bits = new Uint32Array()

function sieveOf(db: SqliteDriver, { type, where }: Referring, isLong: boolean): Sieve {
  const others: Condition[] = []
  let set: Bits | undefined
  for (const condition of conjuncts(where).toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const query = { type, where: condition }
    const isWorth = isLong && !isMuchLarger(db, query, set)
    const own = matchingSet(db, setsOf(db), { ...query, isAskedAgain: isWorth })
    if (own === undefined) others.push(condition)
    else set = set === undefined ? own : intersection(set, own)
  }
  return { set, others }
}

/** Codes with their system come before dates, and these before codes alone, such as a status that most resources have. */
function rankOf(condition: Condition): number {
  if (condition.kind === 'or') return Math.max(0, ...condition.conditions.map(rankOf))
  if (condition.kind !== 'entry') return 2
  const fields = new Set(condition.all.map(({ field }) => field))
  return fields.has('system') ? 0 : fields.has('value') ? 2 : 1
}

/** If a condition has this many times as many keys, testing it for each member of a set is faster than reading its keys (bench `measures`). */
const MUCH_LARGER = 16

function isMuchLarger(db: SqliteDriver, { type, where }: Pick<ScanQuery, 'type' | 'where'>, set: Bits | undefined): boolean {
  const few = set === undefined ? Infinity : countBits(set) * MUCH_LARGER
  // Counting takes half as long as reading, so it must be able to reach the number.
  if (few > limitOf(db) || (where.kind !== 'entry' && where.kind !== 'or')) return false
  const keys = keysWhere(type, where)
  return keys !== undefined && countUpTo(db, keys, few) === few
}

/** Looks up references to each resource by its id. */
function referringSql({ type, params, set, others }: Referring & Sieve, target: string, ids: string): Sql {
  const isMember = set === undefined ? sql`1` : sql`is_member(e.resource)`
  const where: Condition = { kind: 'and', conditions: others }
  const arms = params.map(
    (param) => sql`SELECT e.value AS id, r.key AS key, octet_length(r.text) AS bytes
      FROM json_each(${ids}) AS j CROSS JOIN entry AS e INDEXED BY entry_value CROSS JOIN resource AS r
      WHERE e.param = ${paramKey(type, param)} AND e.value = j.value AND e.system = ${target} AND ${inTime(sql`e.resource`)} AND ${isMember}
      AND r.key = e.resource AND ${meets(type, where, { key: sql`r.key`, each: true })}`,
  )
  return arms.length === 0 ? sql`SELECT 1 WHERE 0` : joined(arms, ' UNION ALL ')
}

/** Returns how many resources fit into the page, at least one. */
function lengthOfPage(scanned: readonly Scanned[], maxBytes: number): number {
  let bytes = 0
  const end = scanned.findIndex((one) => {
    const isOver = bytes > maxBytes
    bytes += one.bytes
    return isOver
  })
  return end < 0 ? scanned.length : end
}

/** Reads the rows of all keys in one query, in their order in the file. */
function textsOf(db: SqliteDriver, scanned: readonly Scanned[]): (key: number) => ResourceRow {
  const keys = [...new Set(scanned.flatMap(({ key, referring }) => [key, ...referring.keys()]))].sort((a, b) => a - b)
  const read = sql`SELECT r.id, r.version, r.updated, r.text, r.key FROM json_each(${JSON.stringify(keys)}) AS j CROSS JOIN resource AS r
    WHERE r.key = j.value AND in_time()`
  const rows = new Map(db.all(read).map((row) => [row[4], rowOf(row)]))
  return (key) => rows.get(key) ?? missing(key)
}

function missing(key: number): never {
  throw new TypeError(`The resource with the key ${key} is gone from a snapshot.`)
}
