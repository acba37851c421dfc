import { joined } from '@fhir-ops/sql'
import { placesOf, type Condition } from 'fhir-ops/storage'
import { bounds, entryTests, type RefersTo, type Updated, exactTest, hasExactly } from './condition.js'
import { passes, type EntryTests } from './entry-sql.js'
import { idsWhere } from './ids-sql.js'
import { sql, type Sql } from '../database/sql.js'

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
