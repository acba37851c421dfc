import { joined, sortColumn } from '@fhir-ops/sql'
import type { SearchQuery, SortKey } from 'fhir-ops/storage'
import { wholeText } from './entry-sql.js'
import { sql, type Sql } from './sql.js'

/** The expressions that a query sorts by, for the resource `r`, named as sort columns. */
export function sortColumns({ type, sort = [] }: SearchQuery): Sql {
  return joined(
    sort.map((key, index) => sql`, ${sortExpression(type, key)} AS ${sortColumn(index)}`),
    '',
  )
}

function sortExpression(type: string, { param, field, descending }: SortKey): Sql {
  if (field === 'id') return sql`r.id`
  if (field === 'lastUpdated') return sql`r.updated`
  const value = field === 'low' || field === 'high' ? NUMBERS[field] : wholeText(sql`e0`, field)
  const best = descending ? sql`max(${value})` : sql`min(${value})`
  // OFFSET as in `meets`: an index by parameter would lead through all its entries for every resource.
  const own = sql`SELECT * FROM fhir_entry WHERE type = ${type} AND id = r.id OFFSET 0`
  return sql`(SELECT ${best} FROM (${own}) AS e0 WHERE e0.param = ${param})`
}

const NUMBERS: Readonly<Record<'low' | 'high', Sql>> = { low: sql`e0.low`, high: sql`e0.high` }
