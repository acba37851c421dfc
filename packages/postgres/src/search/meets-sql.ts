import { joined } from '@fhir-ops/sql'
import type { Condition } from 'fhir-ops/storage'
import { bounds, entryTests, type Updated } from './condition.js'
import { passes, type EntryTests } from './entry-sql.js'
import { idsWhere } from './ids-sql.js'
import { sql, type Sql } from '../database/sql.js'

/** Whether the resource in the row `r` of `fhir_resource` meets a condition, looked up in its own entries, one resource at a time. */
export function meets(type: string, condition: Condition): Sql {
  const tests = entryTests(condition)
  if (tests !== undefined) return hasEntry(tests)
  switch (condition.kind) {
    case 'and':
      return joined([sql`TRUE`, ...condition.conditions.map((part) => meets(type, part))], ' AND ')
    case 'or':
      return sql`(${joined([sql`FALSE`, ...condition.conditions.map((part) => sql`(${meets(type, part)})`)], ' OR ')})`
    case 'not':
      return sql`NOT (${meets(type, condition.condition)})`
    case 'id':
      return sql`r.id = ANY (${condition.ids})`
    case 'lastUpdated':
      return wasUpdated(condition)
    default:
      // IS TRUE keeps the planner from making a join of it: the ids are hashed once, and each resource is looked up among them.
      return sql`(r.id IN (${idsWhere({ type, where: condition })})) IS TRUE`
  }
}

/**
 * OFFSET keeps the planner from looking for the values first, which may be anybody's, and for the parameter: without statistics, as
 * after a bulk load, it would go through all its entries for every resource.
 */
function hasEntry(tests: EntryTests): Sql {
  const own = sql`SELECT * FROM fhir_entry WHERE type = r.type AND id = r.id OFFSET 0`
  return sql`EXISTS (SELECT 1 FROM (${own}) AS e WHERE ${passes(sql`e`, tests)})`
}

function wasUpdated(condition: Updated): Sql {
  const [from, to] = bounds(condition)
  return sql`r.updated BETWEEN ${from} AND ${to}`
}
