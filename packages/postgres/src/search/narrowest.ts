import { joined } from '@fhir-ops/sql'
import type { Condition, SearchQuery } from 'fhir-ops/storage'
import { conjuncts } from './condition.js'
import type { Executor } from '../database/database.js'
import { idsWhere } from './ids-sql.js'
import { numberAt } from '../database/row.js'
import { sql } from '../database/sql.js'

/** So many resources are rather looked at one by one than through sets. */
export const FEW = 1_000
/** Conditions that are looked at; there is seldom a better one behind these. */
const MAX_LOOKED_AT = 8

/**
 * The condition of a query that few resources meet, if there is one: found by counting into the indexes, no further than that few.
 * What the planner estimates is of no use here, as the values of an entry depend on its parameter.
 */
export async function narrowest(db: Executor, { type, where }: SearchQuery, few: number): Promise<Condition | undefined> {
  const candidates = conjuncts(where)
    .filter((condition) => condition.kind !== 'not')
    .slice(0, MAX_LOOKED_AT)
  if (candidates.length === 0) return undefined
  const counts = candidates.map((condition, index) => {
    const some = sql`SELECT 1 FROM (${idsWhere({ type, where: condition })}) AS ids LIMIT ${few + 1}`
    return sql`(SELECT count(*) FROM (${some}) AS few) AS ${{ text: `n${index}`, values: [] }}`
  })
  const [row] = await db.rows(sql`SELECT ${joined(counts, ', ')}`)
  const sizes = candidates.map((condition, index) => ({ condition, size: numberAt(row ?? {}, `n${index}`) }))
  const [smallest] = sizes.sort((a, b) => a.size - b.size)
  return smallest !== undefined && smallest.size <= few ? smallest.condition : undefined
}
