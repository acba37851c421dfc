import { joined } from '@fhir-ops/sql'
import { joinAlternatives } from 'fhir-ops/internal/storage'
import { placesOf, type Condition, type SearchQuery } from 'fhir-ops/storage'
import { balanced, numberOf, sql, type Sql, type SqliteDriver } from '../database/driver.js'
import { entriesOf, inTime, keyPasses, keysOfTest, paramKey } from './entry-sql.js'

/** A condition that does not combine others. */
type Leaf = Exclude<Condition, { readonly kind: 'and' | 'or' | 'not' }>
type RefersTo = Extract<Leaf, { kind: 'refersTo' }>

/** Returns the keys of the matches, each once, without reading resources. */
export function matchingKeys({ type, where }: Pick<SearchQuery, 'type' | 'where'>): Sql {
  const keys = keysWhere(type, where)
  return keys === undefined
    ? sql`${keysOfType(type)} AND ${inTime(sql`key`)} AND ${meets(type, where, { key: sql`resource.key` })}`
    : sql`SELECT DISTINCT key FROM (${keys})`
}

/** Returns those of a few keys that meet a condition, each once, by testing each key. */
export function keysAmong(type: string, keys: Sql, condition: Condition): Sql {
  return sql`SELECT DISTINCT k.key FROM (${keys}) AS k WHERE in_time() AND ${meets(type, condition, { key: sql`k.key`, each: true })}`
}

/** Returns the keys that meet a condition, from indexes; a key may occur several times. `undefined` if no index has them, as for a negation. */
export function keysWhere(type: string, condition: Condition): Sql | undefined {
  switch (condition.kind) {
    case 'and':
      return keysOfAll(type, condition.conditions)
    case 'or':
      return keysOfAny(type, joinAlternatives(condition.conditions))
    case 'not':
      return undefined
    default:
      return keysOfLeaf(type, condition)
  }
}

/** The resource that a condition is tested for, and how. */
interface Asking {
  /** SQL expression of the resource's key, including the table name. */
  readonly key: Sql
  /** Tests the entries of each resource instead of reading all keys that meet the condition. Faster if only few resources are tested. */
  readonly each?: boolean
}

/** Condition that a resource meets the condition of a query. */
export function meets(type: string, condition: Condition, asking: Asking): Sql {
  switch (condition.kind) {
    case 'and':
      return balanced(
        condition.conditions.map((part) => meets(type, part, asking)),
        'AND',
      )
    case 'or':
      if (condition.conditions.length === 0) return sql`${asking.key} IN (${NO_KEYS})`
      return balanced(
        joinAlternatives(condition.conditions).map((part) => meets(type, part, asking)),
        'OR',
      )
    case 'not':
      return sql`NOT (${meets(type, condition.condition, asking)})`
    default:
      if (condition.kind === 'entry' && asking.each === true) return keyPasses(type, condition, asking.key)
      if (condition.kind === 'refersTo' && asking.each === true) return keyRefersTo(type, condition, asking.key)
      return sql`${asking.key} IN (${keysOfLeaf(type, condition)})`
  }
}

/** Returns the keys of the part that is likely to have the fewest, filtered by the other parts. */
function keysOfAll(type: string, conditions: readonly Condition[]): Sql | undefined {
  const first = conditions.toSorted((a, b) => rankOf(a) - rankOf(b))[0]
  const keys = first && keysWhere(type, first)
  if (keys === undefined) return undefined
  const others = conditions.filter((condition) => condition !== first)
  return sql`SELECT k.key FROM (${keys}) AS k WHERE ${inTime(sql`k.key`)} AND ${meets(type, { kind: 'and', conditions: others }, { key: sql`k.key` })}`
}

/** Not just the constant 0: SQLite rejects a query if a constant makes its named index useless. */
const NO_KEYS = sql`SELECT NULL AS key WHERE 0`

/** SQLite allows 500 terms in a compound select. */
const MAX_UNION = 400

function keysOfAny(type: string, conditions: readonly Condition[]): Sql | undefined {
  if (conditions.length === 0) return NO_KEYS
  const sets = conditions.map((condition) => keysWhere(type, condition)).filter((keys) => keys !== undefined)
  if (sets.length < conditions.length || sets.length > MAX_UNION) return undefined
  return joined(
    sets.map((keys) => sql`SELECT key FROM (${keys})`),
    ' UNION ALL ',
  )
}

function keysOfLeaf(type: string, leaf: Leaf): Sql {
  switch (leaf.kind) {
    case 'entry':
      return keysOfTest(type, leaf)
    case 'id':
      return keysOfIds(type, sql`SELECT value FROM json_each(${JSON.stringify(leaf.ids)})`)
    case 'lastUpdated':
      return keysUpdated(type, leaf)
    case 'refersTo':
      return keysReferringTo(type, leaf)
    case 'referredBy':
      return keysReferredBy(type, leaf)
  }
}

function keysOfType(type: string): Sql {
  return sql`SELECT key FROM resource INDEXED BY resource_id WHERE type = ${type}`
}

function keysOfIds(type: string, ids: Sql): Sql {
  return sql`${keysOfType(type)} AND id IN (${ids})`
}

function keysUpdated(type: string, { from = -Number.MAX_VALUE, to = Number.MAX_VALUE }: Extract<Leaf, { kind: 'lastUpdated' }>): Sql {
  return sql`SELECT key FROM resource INDEXED BY resource_updated WHERE type = ${type} AND updated BETWEEN ${from} AND ${to}`
}

function keysReferringTo(type: string, { param, query }: RefersTo): Sql {
  const places = placesOf(query.type)
  const targets = places.map((place) => sql`SELECT id FROM resource WHERE key IN (${matchingKeys({ ...query, type: place })})`)
  return sql`SELECT resource AS key FROM entry INDEXED BY entry_value
    WHERE param = ${paramKey(type, param)} AND system IN (${joined(
      places.map((place) => sql`${place}`),
      ', ',
    )}) AND ${inTime(sql`resource`)} AND value IN (${joined(targets, ' UNION ALL ')})`
}

/** Follows the references of one resource. The alias of a source is not visible inside the next one. */
function keyRefersTo(type: string, { param, query }: RefersTo, key: Sql): Sql {
  const references = entriesOf(key, paramKey(type, param))
  const isMatch = placesOf(query.type).map(
    (place) => sql`e.system = ${place} AND ${meets(place, query.where, { key: sql`t.key`, each: true })}`,
  )
  return sql`EXISTS (SELECT 1 FROM (${references}) AS e CROSS JOIN resource AS t INDEXED BY resource_id
    WHERE t.type = e.system AND t.id = e.value AND (${joined(isMatch, ' OR ')}))`
}

function keysReferredBy(type: string, { param, query }: Extract<Leaf, { kind: 'referredBy' }>): Sql {
  const key = paramKey(query.type, param)
  return keysOfIds(
    type,
    sql`SELECT value FROM entry WHERE param = ${key} AND system = ${type} AND ${inTime(sql`resource`)} AND resource IN (${matchingKeys(query)})`,
  )
}

/** Rank of a condition; the lower, the fewer keys it is likely to leave. */
function rankOf(condition: Condition): number {
  switch (condition.kind) {
    case 'id':
      return 0
    case 'entry':
      return condition.all.some(({ field, op }) => field !== 'system' && (op === 'eq' || op === 'in')) ? 1 : 4
    case 'refersTo':
    case 'referredBy':
      return 2
    case 'or':
    case 'and':
      return Math.min(5, Math.max(0, ...condition.conditions.map(rankOf)))
    case 'lastUpdated':
      return 5
    case 'not':
      return 6
  }
}

/** Up to this number of resources, a condition is tested for each instead of being compared with all keys that meet it. */
export const FEW_TO_ASK = 10_000
/** Number of conditions that are examined; later ones are seldom better. */
const MAX_LOOKED_AT = 8

/** A query reduced to the keys of resources that may match. */
interface Narrowed {
  /** Keys that meet one of the conditions; a key may occur several times. */
  readonly keys: Sql
  /** The remaining conditions. */
  readonly others: Condition
}

/**
 * Narrows a query with several conditions to the condition that the fewest resources meet, if these are few. Counts index entries for that,
 * each time no further than to the lowest count so far. SQLite's estimates do not help, because the values of entries depend on their parameter.
 */
export function narrowest(db: SqliteDriver, { type, where }: Pick<SearchQuery, 'type' | 'where'>, few: number): Narrowed | undefined {
  const conditions = conjuncts(where)
  if (conditions.length < 2) return undefined
  let found: Narrowed | undefined
  let fewest = few + 1
  for (const condition of conditions.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, MAX_LOOKED_AT)) {
    const keys = keysWhere(type, condition)
    const count = keys === undefined ? fewest : countUpTo(db, keys, fewest)
    if (keys === undefined || count >= fewest) continue
    fewest = count
    found = { keys, others: { kind: 'and', conditions: conditions.filter((other) => other !== condition) } }
  }
  return found
}

/** Counts keys, up to `most`. */
export function countUpTo(db: SqliteDriver, keys: Sql, most: number): number {
  return numberOf(db.get(sql`SELECT count(*) FROM (SELECT 1 FROM (${keys}) LIMIT ${Math.max(0, most)})`)?.[0])
}

/** Returns the conditions that must all hold. */
export function conjuncts(where: Condition): readonly Condition[] {
  return where.kind === 'and' ? where.conditions.flatMap(conjuncts) : [where]
}
