import { joined, sortColumn } from '@fhir-ops/sql'
import type { SearchQuery, SortKey } from 'fhir-ops/storage'
import { paramKey } from './entry-sql.js'
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
  const column = SORT_COLUMNS[field]
  const best = descending ? sql`max(${column})` : sql`min(${column})`
  return sql`(SELECT ${best} FROM entry WHERE resource = r.key AND param = ${paramKey(type, param)})`
}

const SORT_COLUMNS: Readonly<Record<'value' | 'text' | 'low' | 'high', Sql>> = {
  value: sql`value`,
  text: sql`text`,
  low: sql`low`,
  high: sql`high`,
}
