import { checkOnlyMatch, MATCHES_OF_PUT, type ConditionalPut } from 'fhir-ops/internal/storage'
import type { Condition, IndexEntry, WriteEntry } from 'fhir-ops/storage'
import type { Database, Executor } from '../database/database.js'
import { isUnsupported } from '../database/failure.js'
import { sql, type Sql } from '../database/sql.js'
import { searchPage } from '../search/search-page.js'
import type { VersionBefore } from './write-plan.js'

/** What a write with conditions locks until it ends, besides others that it may share the lock with. */
interface ConditionLocks {
  readonly alone: readonly string[]
  readonly shared: readonly string[]
}

/** With more locks, a write locks types instead of values: the server has room for 64 locks per connection by default. */
const MOST_LOCKS = 100

/**
 * Returns what a write locks so that of two writes that meet each other's conditions, the second sees what the first has stored: each value that its
 * conditions look for, alone, and each value that its resources have, together with others. Conditions that look for no particular value lock the type:
 * a negated one can also be met because a resource is deleted.
 */
function conditionLocks(conditions: readonly ConditionalPut[], entries: readonly WriteEntry[]): ConditionLocks {
  const puts = entries.filter((entry) => entry.op === 'put')
  const types = entries.map(({ type }) => type)
  const alone = conditions.flatMap(({ type, where }) => [keyOf(type, exactValue(where)), ...keysFollowed(where)])
  const shared = [...types, ...puts.flatMap((put) => put.entries.map((entry) => keyOf(put.type, entry)))]
  const locks = { alone: distinct(alone), shared: without(alone, shared) }
  if (locks.alone.length + locks.shared.length <= MOST_LOCKS) return locks
  const whole = alone.map(typeOf)
  return { alone: distinct(whole), shared: without(whole, types) }
}

function distinct(keys: readonly string[]): readonly string[] {
  return [...new Set(keys)]
}

function without(keys: readonly string[], others: readonly string[]): readonly string[] {
  return distinct(others).filter((key) => !keys.includes(key))
}

function keyOf(type: string, entry: Pick<IndexEntry, 'param' | 'value'> | undefined): string {
  return entry?.value === undefined ? type : `${type}?${entry.param}=${entry.value}`
}

/** The type of a key; the name of a type has no question mark. */
function typeOf(key: string): string {
  return key.split('?', 1)[0] ?? key
}

/**
 * Returns keys for the resources to which a condition follows references. A write that removes a value from one of them can only end a match, unless the
 * condition is negated.
 */
function keysFollowed(where: Condition, isNegated = false): readonly string[] {
  switch (where.kind) {
    case 'and':
    case 'or':
      return where.conditions.flatMap((part) => keysFollowed(part, isNegated))
    case 'not':
      return keysFollowed(where.condition, true)
    case 'refersTo':
    case 'referredBy': {
      const { type, where: followed } = where.query
      return [keyOf(type, isNegated ? undefined : exactValue(followed)), ...keysFollowed(followed, isNegated)]
    }
    default:
      return []
  }
}

/** Returns a value that every match has among its index entries. */
function exactValue(where: Condition): Required<Pick<IndexEntry, 'param' | 'value'>> | undefined {
  if (where.kind === 'and') return where.conditions.map(exactValue).find((value) => value !== undefined)
  if (where.kind !== 'entry') return undefined
  const { param } = where
  const value = where.all.flatMap((test) => (test.field === 'value' && test.op === 'eq' ? test.operand : [])).at(0)
  return value === undefined ? undefined : { param, value }
}

/**
 * Query that locks until the transaction ends. All writers lock in the same order, so that they do not deadlock. The table distinguishes storages of one
 * database.
 */
function lockingSql({ alone, shared }: ConditionLocks): Sql {
  const keys = [...alone, ...shared].toSorted()
  const areAlone = keys.map((key) => Number(alone.includes(key)))
  const hash = sql`hashtextextended(w.key, 'fhir_resource'::regclass::oid::bigint)`
  const lock = sql`CASE w.alone WHEN 1 THEN pg_advisory_xact_lock(${hash})::text ELSE pg_advisory_xact_lock_shared(${hash})::text END`
  return sql`SELECT ${lock} AS lock FROM unnest(${keys}::text[], ${areAlone}::integer[]) AS w (key, alone)`
}

/** True if the engine has these locks: some accept the functions, which then do nothing, and some refuse them. */
export async function canLockConditions(db: Database): Promise<boolean> {
  try {
    return await db.transaction(async (executor) => {
      await executor.rows(lockingSql({ alone: [], shared: [''] }))
      const held = sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`
      const [row] = await executor.rows(sql`SELECT EXISTS (${held}) AS held`)
      return row?.['held'] === true
    })
  } catch (error) {
    if (isUnsupported(error)) return false
    throw error
  }
}

/** A write with conditions. */
interface ConditionalWrite {
  readonly conditions: readonly ConditionalPut[]
  readonly entries: readonly WriteEntry[]
  /** Returns the last versions of the entries' ids and locks them, after `locking`. */
  readonly lockedVersions: (locking?: Sql) => Promise<readonly VersionBefore[]>
}

/**
 * Takes the locks of a write and checks its conditions. Only statements after that one see what earlier holders have stored. So a resource that one of
 * them has created is found by a condition, but is missing among the versions, which are then read again.
 *
 * @throws {OperationError} `version-conflict` if a condition does not hold.
 */
export async function checkedVersions(
  executor: Executor,
  { conditions, entries, lockedVersions }: ConditionalWrite,
): Promise<readonly VersionBefore[]> {
  const locked = await lockedVersions(lockingSql(conditionLocks(conditions, entries)))
  const found: { readonly put: ConditionalPut; readonly matches: readonly string[] }[] = []
  for (const put of conditions) {
    const { items } = await searchPage(executor, { type: put.type, where: put.where, limit: MATCHES_OF_PUT })
    found.push({ put, matches: items.map(({ id }) => id) })
  }
  const isNew = found.some(({ put, matches }) => matches.includes(put.id) && !isCurrent(put, locked))
  const before = isNew ? await lockedVersions() : locked
  for (const { put, matches } of found) checkOnlyMatch(put, { matches, isCurrent: isCurrent(put, before) })
  return before
}

function isCurrent(put: ConditionalPut, before: readonly VersionBefore[]): boolean {
  return before.some(({ type, id, current }) => current && type === put.type && id === put.id)
}
