import { joined } from '@fhir-ops/sql'
import { OperationError } from 'fhir-ops/errors'
import { addBits, countBits, difference, emptyBits, intersection, type Bits } from 'fhir-ops/internal/bits'
import { isContainedType, testKey } from 'fhir-ops/internal/storage'
import { LRUCache } from 'lru-cache'
import type { Condition, SearchQuery, Storage } from 'fhir-ops/storage'
import type { Database, Executor } from '../database/database.js'
import { literal, numberAt, sql, textAt, type Sql } from '../database/sql.js'
import { changesIn } from '../resources/changes.js'
import { createBuckets, MOST, NEW, type Bucket, type BucketContent, type Buckets } from './buckets.js'
import { idsWhere, meets } from './page-sql.js'

/** Options of `countingBySets`. */
export interface SetCountOptions {
  /** Maximum memory of all sets, in bytes. Default 32 MB. */
  readonly maxBytes?: number
  /** A set is read when counts that need it have taken this long without it, in milliseconds. Default 1,000. */
  readonly worthMs?: number
}

const MAX_BYTES = 32 * 1024 * 1024
/** Reading a set of a million resources takes about this long, so at worst counts take twice as long as without sets. */
const WORTH_MS = 1_000
/** A count that takes less is not worth a set. */
const LONG_MS = 10

/**
 * Counts by sets in memory. A set has the resources that meet a condition, and is read once counts with this condition have taken longer than reading it
 * takes. Whenever it is used, it is brought up to date with what all processes have written, in one snapshot of the database.
 *
 * @param count Counts in the database.
 */
export function countingBySets(
  db: Database,
  count: Storage['count'],
  { maxBytes = MAX_BYTES, worthMs = WORTH_MS }: SetCountOptions = {},
): Storage['count'] {
  const sets = createSets(maxBytes)
  const spent = createSpent()
  const credit = createCredit()
  let last: Promise<unknown> = Promise.resolve()
  let isReading = false
  const bySets = async (query: Matching, parts: Parts): Promise<number | undefined> =>
    db.snapshot(async (executor) => {
      const isUpToDate = await sets.catchUp(executor, query.type, { parts, mayTake: (ms) => credit.covers(parts, ms) })
      if (!isUpToDate) return undefined
      const missing = sets.missing(query.type, parts)
      // Changes may have removed sets, which are not worth reading again at once.
      if (!spent.areWorth(missing, worthMs)) return undefined
      spent.forget(missing)
      isReading = missing.size > 0
      if (isReading) await sets.read(executor, query.type, missing)
      credit.restart(parts)
      return sets.missing(query.type, parts).size === 0 ? sets.count(query) : undefined
    })
  /** Sets that cannot be read, or that there is no room for, are not tried again before ten times as long was spent without them. */
  const bySetsIfPossible = async (query: Matching, parts: Parts): Promise<number | undefined> => {
    const start = performance.now()
    try {
      const found = await bySets(query, parts)
      if (found !== undefined || !isReading) return found
    } catch (error) {
      // Reading sets needs more of the database than the count, which reports what it lacks itself.
      if (!(error instanceof OperationError)) throw error
    } finally {
      isReading = false
    }
    spent.add(sets.missing(query.type, parts), -10 * (performance.now() - start))
    return undefined
  }
  return async (query) => {
    const parts = partsOf(query)
    if (parts === undefined) return count(query)
    if (!isReading && spent.areWorth(sets.missing(query.type, parts), worthMs)) {
      const turn = last.then(async () => bySetsIfPossible(query, parts))
      last = turn.catch(() => {})
      const found = await turn
      if (found !== undefined) return found
    }
    const start = performance.now()
    const found = await count(query)
    const took = performance.now() - start
    credit.add(parts, took)
    if (took >= Math.min(LONG_MS, worthMs)) spent.add(sets.missing(query.type, parts), took)
    return found
  }
}

type Matching = Pick<SearchQuery, 'type' | 'where'>
/** Conditions by key, from whose sets a query is answered. */
type Parts = ReadonlyMap<string, Condition>

/** Adds up the time that counts take without sets. */
interface Spent {
  add(parts: Parts, ms: number): void
  forget(parts: Parts): void
  /** True if as much time was spent without each of these. */
  areWorth(parts: Parts, ms: number): boolean
}

/** Number of sets for which time is added up. */
const MOST_SPENT = 1_024

function createSpent(): Spent {
  const spent = new LRUCache<string, number>({ max: MOST_SPENT })
  return {
    add(parts, ms) {
      for (const key of parts.keys()) spent.set(key, (spent.get(key) ?? 0) + ms)
    },
    forget(parts) {
      for (const key of parts.keys()) spent.delete(key)
    },
    areWorth: (parts, ms) => parts.keys().every((key) => (spent.get(key) ?? -1) >= ms),
  }
}

/** The time that sets may take to be brought up to date: as long as counts in the database have taken since, at least as the last one. */
interface Credit {
  add(parts: Parts, ms: number): void
  /** The sets were brought up to date. */
  restart(parts: Parts): void
  /** True if each of these has so much, or was never counted in the database. */
  covers(parts: Parts, ms: number): boolean
}

function createCredit(): Credit {
  const counts = new LRUCache<string, { readonly sum: number; readonly last: number }>({ max: MOST_SPENT })
  return {
    add(parts, ms) {
      for (const key of parts.keys()) counts.set(key, { sum: (counts.get(key)?.sum ?? 0) + ms, last: ms })
    },
    restart(parts) {
      for (const key of parts.keys()) {
        const last = counts.get(key)?.last
        if (last !== undefined) counts.set(key, { sum: last, last })
      }
    },
    covers: (parts, ms) => parts.keys().every((key) => (counts.get(key)?.sum ?? ms) >= ms),
  }
}

/** Sets by type and key. */
interface Sets {
  missing(type: string, parts: Parts): Parts
  /** Applies changes to the sets of these parts, as far as they are kept, and notes them for others. Drops all sets that are too much out of date. False if it would take too long. */
  catchUp(executor: Executor, type: string, bounded: { readonly parts: Parts; readonly mayTake: (ms: number) => boolean }): Promise<boolean>
  /** Reads sets, unless there is no room for them; least recently used ones make room. Follows `catchUp` in the same snapshot. */
  read(executor: Executor, type: string, parts: Parts): Promise<void>
  /** Counts by sets that are up to date, none of which may be missing. */
  count(query: Matching): number
}

/** With more changes than this, all sets are dropped. */
const MOST_CHANGES = 4_000
/** If more buckets than this, or this part of all, are out of date, reading sets again takes less. */
const MOST_OUTDATED = 1_000
const OUTDATED_PART = 5
/** If no more buckets than this are out of date, they are always read. */
const FEW_OUTDATED = 10

function createSets(maxBytes: number): Sets {
  const kept = createKept(maxBytes)
  let mark: string | undefined
  let msOfBucket = 0
  return {
    missing: (type, parts) => new Map(parts.entries().filter(([key]) => kept.types.get(type)?.set(key) === undefined)),
    async catchUp(executor, type, { parts, mayTake }) {
      const { mark: next, changed } = await changesIn(executor, MOST_CHANGES)(mark)
      mark = next
      if (changed === 'unknown') for (const each of kept.types.keys()) kept.forget(each)
      else for (const { type: place, id } of changed) kept.types.get(place)?.touch(id)
      kept.dropOutdated()
      const buckets = kept.types.get(type)
      if (buckets === undefined) return true
      const known = new Map(parts.entries().filter(([key]) => buckets.set(key) !== undefined))
      const outdated = buckets.outdated([...known.keys()])
      if (outdated.length === 0) return true
      if (outdated.length > FEW_OUTDATED && !mayTake(outdated.length * msOfBucket)) return false
      const start = performance.now()
      try {
        buckets.refresh(await contentsOf(executor, { type, parts: known, outdated }))
      } catch (error) {
        // Else each count would try again, and take as long.
        kept.forget(type)
        throw error
      }
      msOfBucket = (performance.now() - start) / outdated.length
      kept.makeRoom()
      return true
    },
    async read(executor, type, parts) {
      for (const [key, where] of parts) {
        const { size, edges, members } = await readSet(executor, { type, where }, { isFirst: !kept.types.has(type) })
        const buckets = kept.types.get(type) ?? createBuckets(edges, size)
        kept.types.set(type, buckets)
        // Rows that were dropped with a partition are not among the changes.
        if (buckets.size !== size) return kept.forget(type)
        buckets.add(key, members)
        kept.use(type, key)
      }
      kept.makeRoom()
    },
    count({ type, where }) {
      const setOf = (key: string): Bits => {
        kept.use(type, key)
        return kept.types.get(type)?.set(key) ?? NOTHING
      }
      return countBits(bitsWhere({ type, where }, setOf))
    },
  }
}

/** What is in memory. */
interface Kept {
  readonly types: Map<string, Buckets>
  use(type: string, key: string): void
  /** Drops all sets that are too much out of date: a note of what is out of date takes memory, too. */
  dropOutdated(): void
  /** Drops all sets of a type. */
  forget(type: string): void
  /** Drops the least recently used sets if all need too much memory. */
  makeRoom(): void
}

function createKept(maxBytes: number): Kept {
  const types = new Map<string, Buckets>()
  // Type by key, the least recently used first.
  const used = new Map<string, string>()
  const drop = (type: string, key: string): void => {
    types.get(type)?.drop(key)
    used.delete(key)
    if (types.get(type)?.isEmpty === true) types.delete(type)
  }
  return {
    types,
    use(type, key) {
      used.delete(key)
      used.set(key, type)
    },
    dropOutdated() {
      for (const [type, buckets] of types) for (const key of buckets.outdatedSets(mostOutdated(buckets))) drop(type, key)
    },
    forget(type) {
      types.delete(type)
      for (const [key, of] of used) if (of === type) used.delete(key)
    },
    makeRoom() {
      for (const [key, type] of used) {
        if (types.values().reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes) return
        drop(type, key)
      }
    },
  }
}

function mostOutdated({ count }: Buckets): number {
  return Math.max(FEW_OUTDATED, Math.min(MOST_OUTDATED, count / OUTDATED_PART))
}

interface Outdated {
  readonly type: string
  readonly parts: Parts
  readonly outdated: readonly Bucket[]
}

/** Reads buckets: the ids of those that must be divided, and for each set which of their resources meet its condition. */
async function contentsOf(db: Executor, { type, parts, outdated }: Outdated): Promise<readonly BucketContent[]> {
  const members = [...parts.values()].map(
    (condition, index) =>
      sql`, string_agg(CASE WHEN ${isMember(type, condition)} THEN '1' ELSE '0' END, '' ORDER BY r.id) AS ${column(index)}`,
  )
  const bounds = sql`unnest(${outdated.map(({ index }) => index)}::integer[], ${outdated.map(({ from }) => from)}::text[],
    ${outdated.map(({ to }) => to)}::text[]) AS b (place, low, high)`
  // ORDER BY and OFFSET make the planner use the primary key for each bucket.
  const within = sql`SELECT id FROM fhir_resource WHERE type = ${type} AND id >= b.low AND id < b.high ORDER BY id OFFSET 0`
  const rows = await db.rows(
    sql`SELECT b.place, count(r.id) AS size, CASE WHEN count(r.id) > ${literal(MOST)} THEN string_agg(r.id, ' ' ORDER BY r.id) END AS ids
      ${joined(members, '')} FROM ${bounds} LEFT JOIN LATERAL (${within}) AS r ON TRUE GROUP BY b.place`,
  )
  return rows.map((row) => ({
    index: numberAt(row, 'place'),
    size: numberAt(row, 'size'),
    ...(typeof row['ids'] === 'string' && { ids: row['ids'].split(' ') }),
    members: new Map([...parts.keys()].map((key, index) => [key, textAt(row, column(index).text)])),
  }))
}

/** Condition that row `r` meets a condition on index entries. Deleted resources have none, and meet no condition. */
function isMember(type: string, condition: Condition): Sql {
  if (condition !== ALL) return meets(type, condition, { id: sql`r.id` })
  return sql`EXISTS (SELECT 1 FROM fhir_resource c WHERE c.type = ${type} AND c.id = r.id AND c.text IS NOT NULL OFFSET 0)`
}

function column(index: number): Sql {
  return { text: `m${index}`, values: [] }
}

interface ReadSet {
  /** Number of resources, deleted ones included. */
  readonly size: number
  /** The first id of each bucket, if it is the first set. */
  readonly edges: readonly string[]
  /** Bit `i` stands for the `i`-th resource in the order of ids. */
  readonly members: Bits
}

/** Reads a set as bits, 32 resources to a row. Both sides of the join are in the order of an index. */
async function readSet(db: Executor, { type, where }: Matching, { isFirst }: { readonly isFirst: boolean }): Promise<ReadSet> {
  const numbered = sql`SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM fhir_resource WHERE type = ${type}`
  const members = sql`SELECT DISTINCT id FROM (${idsWhere({ type, where })}) AS ids`
  const bits = sql`bit_or(CASE WHEN m.id IS NULL THEN 0 ELSE 1::bigint << (r.n % ${literal(NEW)})::integer END) AS bits`
  const rows = await db.rows(
    sql`SELECT r.n / ${literal(NEW)} AS bucket, count(*) AS size, ${isFirst ? sql`min(r.id) AS edge, ` : sql``}${bits}
      FROM (${numbered}) AS r LEFT JOIN (${members}) AS m ON m.id = r.id GROUP BY bucket ORDER BY bucket`,
  )
  return {
    size: rows.reduce((sum, row) => sum + numberAt(row, 'size'), 0),
    edges: isFirst ? rows.map((row) => textAt(row, 'edge')) : [],
    members: Uint32Array.from(rows, (row) => numberAt(row, 'bits')),
  }
}

const NOTHING = emptyBits(0)
const ALL: Condition = { kind: 'and', conditions: [] }

/** Returns the conditions whose sets answer a query, by key; `undefined` if there are too many, or if it looks at more than index entries. */
function partsOf({ type, where }: Matching): Parts | undefined {
  if (isContainedType(type)) return undefined
  const parts = new Map<string, Condition>()
  return collect({ type, where }, parts) && parts.size <= MOST_PARTS ? parts : undefined
}

/** Maximum number of sets for one count. */
const MOST_PARTS = 16
/** Maximum characters of a condition that is kept as a set. */
const LONGEST_TEST = 2_000

function collect({ type, where }: Matching, parts: Map<string, Condition>): boolean {
  const all = (conditions: readonly Condition[]): boolean => conditions.every((condition) => collect({ type, where: condition }, parts))
  const key = keyOf(type, where)
  if (key !== undefined) return parts.set(key, where.kind === 'entry' ? where : ALL).size > 0
  switch (where.kind) {
    case 'and':
    case 'or':
      return all(where.conditions)
    case 'not':
      return all([ALL, where.condition])
    default:
      return false
  }
}

/** Key of the set that alone answers a condition. */
function keyOf(type: string, where: Condition): string | undefined {
  if (where.kind === 'and' && where.conditions.length === 0) return type
  const test = where.kind === 'entry' ? testKey(where.all) : undefined
  return where.kind === 'entry' && test !== undefined && test.length <= LONGEST_TEST ? `${type} ${where.param} ${test}` : undefined
}

function bitsWhere({ type, where }: Matching, setOf: (key: string) => Bits): Bits {
  const key = keyOf(type, where)
  if (key !== undefined) return setOf(key)
  const bitsOf = (condition: Condition): Bits => bitsWhere({ type, where: condition }, setOf)
  switch (where.kind) {
    case 'and':
      return where.conditions.map(bitsOf).reduce(intersection)
    case 'or':
      return where.conditions.map(bitsOf).reduce(union, NOTHING)
    case 'not':
      return difference(bitsOf(ALL), bitsOf(where.condition))
    default:
      throw new TypeError(`No set is kept for a condition on ${where.kind}.`)
  }
}

function union(a: Bits, b: Bits): Bits {
  const either = (a.length < b.length ? b : a).slice()
  addBits(either, a.length < b.length ? a : b)
  return either
}
