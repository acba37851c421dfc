import { joined } from '@fhir-ops/sql'
import { placesOf, type Condition, type SearchQuery } from 'fhir-ops/storage'
import { bounds, entryTests, type ReferredBy, type RefersTo, type Updated } from './condition.js'
import { passes, type EntryTests } from './entry-sql.js'
import { sql, type Sql } from '../database/sql.js'

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

/** Whether an id may come several times among `idsWhere`. Intersections and differences have none twice; to tell theirs apart again takes long. */
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

/** So many sources are rather looked up one by one. */
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
