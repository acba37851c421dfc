import { joined } from '@fhir-ops/sql'
import { placesOf, type Condition, type SearchQuery } from 'fhir-ops/storage'
import { sql, type Sql } from '../database/sql.js'
import {
  bounds,
  entryTests,
  exactTest,
  hasExactly,
  passes,
  type EntryTests,
  type ReferredBy,
  type RefersTo,
  type Updated,
} from './condition.js'

/**
 * The ids of the current resources that match, as sets out of indexes. There is no join in it, so that its cost is that of the sets
 * whatever the planner believes of the data. An id may come several times where `repeatsIds` says so.
 */
export function idsWhere({ type, where }: Pick<SearchQuery, 'type' | 'where'>): Sql {
  const tests = entryTests(where)
  if (tests !== undefined) return idsWithEntry(type, tests)
  switch (where.kind) {
    case 'and':
      return idsOfAll(type, where.conditions)
    case 'or':
      return idsOfAny(type, where.conditions)
    case 'not':
      return sql`${currentIds(type)} EXCEPT (${idsWhere({ type, where: where.condition })})`
    case 'id':
      return sql`${currentIds(type)} AND id = ANY (${where.ids})`
    case 'lastUpdated':
      return idsUpdated(type, where)
    case 'refersTo':
      return idsReferringTo(type, where)
    case 'referredBy':
      return idsReferredBy(type, where)
    case 'entry':
      return NONE
  }
}

/** Whether an id may come several times among `idsWhere`. Intersections and differences have none twice; removing duplicates again takes long. */
export function repeatsIds(where: Condition): boolean {
  switch (where.kind) {
    case 'and': {
      const [first, another] = where.conditions
      return first !== undefined && another === undefined && repeatsIds(first)
    }
    case 'entry':
    case 'or':
    case 'refersTo':
      return true
    default:
      return false
  }
}

const NONE = sql`SELECT id FROM fhir_resource WHERE FALSE`

function currentIds(type: string): Sql {
  return sql`SELECT id FROM fhir_resource WHERE type = ${type} AND text IS NOT NULL`
}

function idsWithEntry(type: string, tests: EntryTests): Sql {
  return sql`SELECT e.id FROM fhir_entry e WHERE e.type = ${type} AND ${passes(sql`e`, tests)}`
}

function idsOfAll(type: string, conditions: readonly Condition[]): Sql {
  const [first, ...others] = conditions.toSorted((a, b) => Number(a.kind === 'not') - Number(b.kind === 'not'))
  if (first === undefined) return currentIds(type)
  const steps = others.map((condition) =>
    condition.kind === 'not'
      ? sql` EXCEPT (${idsWhere({ type, where: condition.condition })})`
      : sql` INTERSECT (${idsWhere({ type, where: condition })})`,
  )
  // Both have to be in one order: INTERSECT binds more tightly than EXCEPT, and the negations are last.
  return joined([sql`(${idsWhere({ type, where: first })})`, ...steps], '')
}

function idsOfAny(type: string, conditions: readonly Condition[]): Sql {
  if (conditions.length === 0) return NONE
  return joined(
    conditions.map((condition) => sql`(${idsWhere({ type, where: condition })})`),
    ' UNION ALL ',
  )
}

function idsUpdated(type: string, condition: Updated): Sql {
  const [from, to] = bounds(condition)
  return sql`${currentIds(type)} AND updated BETWEEN ${from} AND ${to}`
}

/** Each target is looked up in the index by value: OFFSET keeps the planner from going through all references for each target. */
function idsReferringTo(type: string, { param, query }: RefersTo): Sql {
  const places = placesOf(query.type)
  const targets = places.map((place) => sql`(${idsWhere({ ...query, type: place })})`)
  const references = sql`SELECT id FROM fhir_entry WHERE type = ${type} AND param = ${param} AND value = target AND system = ANY (${places}) OFFSET 0`
  return sql`SELECT e.id FROM unnest(ARRAY(${joined(targets, ' UNION ALL ')})) AS target, LATERAL (${references}) AS e`
}

/** Up to this many sources are looked up one by one. */
const FEW_SOURCES = 1_000

/** Entries may refer to what does not exist. The references of many sources are found by going through all references once. */
function idsReferredBy(type: string, { param, query }: ReferredBy): Sql {
  const own = sql`SELECT * FROM fhir_entry WHERE type = ${query.type} AND id = source.id OFFSET 0`
  const ofOne = sql`SELECT e.value FROM source, LATERAL (${own}) AS e
    WHERE (SELECT count(*) FROM source) <= ${FEW_SOURCES} AND e.param = ${param} AND e.system = ${type}`
  const ofAny = sql`SELECT value FROM fhir_entry WHERE (SELECT count(*) FROM source) > ${FEW_SOURCES}
    AND type = ${query.type} AND param = ${param} AND system = ${type} AND (id IN (SELECT id FROM source)) IS TRUE`
  const targets = sql`WITH source (id) AS MATERIALIZED (${idsWhere(query)}) ${ofOne} UNION ALL ${ofAny}`
  return sql`SELECT id FROM fhir_resource WHERE type = ${type} AND id = ANY (ARRAY(${targets})) AND (text IS NOT NULL) IS TRUE`
}

/** Which resource is asked. */
export interface Asking {
  readonly id: Sql
  /** The time of its last write, where the row has it. */
  readonly updated?: Sql
  /** Follow the references of each resource, instead of reading all that refer to a match: right where few resources are asked. */
  readonly each?: boolean
}

/** The resource in the row `r` of `fhir_resource`. */
export const ROW: Asking = { id: sql`r.id`, updated: sql`r.updated` }

/** Whether a resource meets a condition, looked up in its own entries, one resource at a time. */
export function meets(type: string, condition: Condition, asking: Asking = ROW): Sql {
  const exact = exactTest(condition)
  if (exact !== undefined) return hasExactly(type, exact, asking.id)
  const tests = entryTests(condition)
  if (tests !== undefined) return hasEntry(type, tests, asking.id)
  switch (condition.kind) {
    case 'and':
      return joined([sql`TRUE`, ...condition.conditions.map((part) => meets(type, part, asking))], ' AND ')
    case 'or':
      return sql`(${joined([sql`FALSE`, ...condition.conditions.map((part) => sql`(${meets(type, part, asking)})`)], ' OR ')})`
    case 'not':
      return sql`NOT (${meets(type, condition.condition, asking)})`
    case 'id':
      return sql`${asking.id} = ANY (${condition.ids})`
    case 'lastUpdated':
      return wasUpdated(type, condition, asking)
    default:
      if (condition.kind === 'refersTo' && asking.each === true) return refersToMatch(type, condition, asking.id)
      // IS TRUE keeps the planner from making a join of it: the ids are hashed once, and each resource is looked up among them.
      return sql`(${asking.id} IN (${idsWhere({ type, where: condition })})) IS TRUE`
  }
}

/**
 * OFFSET keeps the planner from looking for the values first, which may be anybody's. Its order by `n` is that of the key, so that of two indexes of which the planner
 * believes the same, as where statistics are of before a bulk load, the key is taken: the others begin with the parameter, and would lead through all its entries
 * for every resource.
 */
function hasEntry(type: string, tests: EntryTests, id: Sql): Sql {
  const own = sql`SELECT * FROM fhir_entry WHERE type = ${type} AND id = ${id} AND param = ${tests.param} ORDER BY n OFFSET 0`
  return sql`EXISTS (SELECT 1 FROM (${own}) AS e WHERE ${passes(sql`e`, tests)})`
}

/** Follows the references of one resource; the names of a source are not seen within the next. */
function refersToMatch(type: string, { param, query }: RefersTo, id: Sql): Sql {
  const own = sql`SELECT * FROM fhir_entry WHERE type = ${type} AND id = ${id} OFFSET 0`
  const isMatch = placesOf(query.type).map((place) => {
    const target = sql`SELECT id, updated FROM fhir_resource WHERE type = ${place} AND id = f.value AND text IS NOT NULL OFFSET 0`
    const isMet = meets(place, query.where, { id: sql`t.id`, updated: sql`t.updated`, each: true })
    return sql`(f.system = ${place} AND EXISTS (SELECT 1 FROM (${target}) AS t WHERE ${isMet}))`
  })
  return sql`EXISTS (SELECT 1 FROM (${own}) AS f WHERE f.param = ${param} AND (${joined(isMatch, ' OR ')}))`
}

function wasUpdated(type: string, condition: Updated, { id, updated }: Asking): Sql {
  const [from, to] = bounds(condition)
  if (updated !== undefined) return sql`${updated} BETWEEN ${from} AND ${to}`
  const own = sql`SELECT updated FROM fhir_resource WHERE type = ${type} AND id = ${id} AND text IS NOT NULL OFFSET 0`
  return sql`EXISTS (SELECT 1 FROM (${own}) AS u WHERE u.updated BETWEEN ${from} AND ${to})`
}
