import { joined, orderTerms, type Position } from '@fhir-ops/sql'
import type { Condition, EntryTest, SearchQuery } from 'fhir-ops/storage'
import type { Executor } from '../database/database.js'
import { numberAt, type Row } from '../database/row.js'
import { literal, sql, type Sql } from '../database/sql.js'
import { conjuncts } from './condition.js'
import { exactTests, passesExactly } from './exact.js'
import { meets } from './meets-sql.js'
import { isOneOf, matchesSql, pageSql, type Page } from './page-sql.js'

/**
 * Searches that one statement answers: by one value, or by several conditions one of which is a value that not too many have. It counts how
 * many have each of the values, no further than it has to, and takes the first that few have; where many have each, it says so.
 */

/** So many resources with a value are few. First such a value is looked for, then one that no more than a multiple of it have. */
export interface Few {
  readonly few: number
}

/** How many times more resources are still asked one by one, without being put in order. */
const MANY_TIMES = 10

/** A page that is looked for. */
export interface LookUpPage extends Page, Few {
  readonly position: Position | undefined
}

/** The rows of a page; `undefined` where the query asks for no value, or many have each of them. */
export async function lookedUpPage(
  db: Executor,
  query: SearchQuery,
  { few, position, ...page }: LookUpPage,
): Promise<readonly Row[] | undefined> {
  const tests = exactTests(query.where)
  const [first] = tests
  if (first === undefined) return undefined
  const isOrdered = (query.sort ?? []).length === 0
  if (isOrdered && conjuncts(query.where).length === 1) {
    const ids = idsInOrder(query, first, { position, limit: page.limit, others: ALL })
    return db.rows(pageSql(query, { ...page, found: foundIn(query, ids), filled: 0 }))
  }
  const steps = isOrdered ? [few, few * MANY_TIMES] : [few]
  const ids = tests.map((test, index) => {
    const others = withoutOne(query.where, test)
    const isPicked = sql`(SELECT place FROM pick) = ${literal(index)}`
    return isOrdered
      ? sql`(${idsInOrder(query, test, { position, limit: page.limit, others: others, isPicked })})`
      : sql`SELECT c.id FROM c${literal(index)} AS c WHERE ${isPicked} AND ${meets(query.type, others, { id: sql`c.id`, each: true })}`
  })
  const found = foundIn(query, joined(ids, ' UNION ALL '))
  const rows = pageSql(query, { ...page, found, filled: 0 })
  const answer = await db.rows(sql`WITH ${picking(query, tests, steps)}
    SELECT page.*, (SELECT place FROM pick) IS NULL AS many FROM (VALUES (1)) AS v (one) LEFT JOIN (${rows}) AS page ON TRUE ORDER BY ${orderTerms(query)}`)
  return answer[0]?.['many'] === true ? undefined : answer.filter(({ id }) => id !== null)
}

/** The number of matches of a query of several conditions; `undefined` where it asks for no value, or many have each of them. */
export async function lookedUpCount(db: Executor, query: SearchQuery, { few }: Few): Promise<number | undefined> {
  const tests = exactTests(query.where)
  if (tests.length === 0) return undefined
  const counts = tests.map((test, index) => {
    const isMet = meets(query.type, withoutOne(query.where, test), { id: sql`c.id`, each: true })
    return sql`WHEN ${literal(index)} THEN (SELECT count(DISTINCT c.id) FROM c${literal(index)} AS c WHERE ${isMet})`
  })
  const [row] = await db.rows(sql`WITH ${picking(query, tests, [few, few * MANY_TIMES])}
    SELECT CASE (SELECT place FROM pick) ${joined(counts, ' ')} END AS count`)
  return row === undefined || row['count'] === null ? undefined : numberAt(row, 'count')
}

const ALL: Condition = { kind: 'and', conditions: [] }

function withoutOne(where: Condition, test: EntryTest): Condition {
  return { kind: 'and', conditions: conjuncts(where).filter((condition) => condition !== test) }
}

/** `c0`, `c1` and so on: the ids with each value, read as far as somebody asks; `pick`: the place of the one that is taken, or null. */
function picking({ type }: SearchQuery, tests: readonly EntryTest[], steps: readonly number[]): Sql {
  const most = Math.max(0, ...steps) + 1
  const sets = tests.map(
    (test, index) =>
      sql`c${literal(index)} AS MATERIALIZED (SELECT e.id FROM fhir_entry e WHERE ${passesExactly(sql`e`, type, test)} LIMIT ${literal(most)})`,
  )
  const choices = steps.flatMap((step) =>
    tests.map((_, index) => {
      const some = sql`SELECT 1 FROM c${literal(index)} LIMIT ${literal(Math.max(0, step) + 1)}`
      return sql`WHEN (SELECT count(*) FROM (${some}) AS counted) <= ${literal(step)} THEN ${literal(index)}`
    }),
  )
  return joined([...sets, sql`pick AS MATERIALIZED (SELECT CASE ${joined(choices, ' ')} END AS place)`], ', ')
}

interface InOrder {
  readonly position: Position | undefined
  readonly limit: number
  /** What is asked of each. */
  readonly others: Condition
  readonly isPicked?: Sql
}

/** The first ids with a value, as the index has them, no further than to the limit. */
function idsInOrder({ type }: SearchQuery, test: EntryTest, { position, limit, others, isPicked = sql`TRUE` }: InOrder): Sql {
  const behind = position === undefined ? sql`TRUE` : sql`e.id > ${position.id}`
  return sql`SELECT DISTINCT e.id FROM fhir_entry e WHERE ${passesExactly(sql`e`, type, test)} AND ${behind} AND ${isPicked}
    AND ${meets(type, others, { id: sql`e.id`, each: true })} ORDER BY e.id LIMIT ${literal(limit)}`
}

function foundIn(query: SearchQuery, ids: Sql): Sql {
  return matchesSql(query, isOneOf(query.type, ids))
}
