import { joined, orderTerms, type Position } from '@fhir-ops/sql'
import type { Condition, EntryTest, SearchQuery } from 'fhir-ops/storage'
import type { Executor } from '../database/database.js'
import { numberAt, literal, sql, type Row, type Sql } from '../database/sql.js'
import { conjuncts, entryTests, exactTest, exactTests, passesExactly } from './condition.js'
import { idsWhere, meets } from './ids-sql.js'
import { isOneOf, matchesSql, pageSql, type Page } from './page-sql.js'

/** How many times more resources are still asked one by one, without being put in order. */
const MANY_TIMES = 10

/** A page that is looked for. */
export interface LookUpPage extends Page {
  readonly position: Position | undefined
  /** A value that at most this many resources have is rare. A rare value is looked for first, then one that at most a multiple of it have. */
  readonly few: number
}

/**
 * The rows of a page, from one statement: by one value, or by several conditions one of which is a value that not too many have. The statement counts how
 * many have each of the values, no further than it has to, and takes the first that few have.
 *
 * @returns `undefined` where the query asks for no value, or many have each of them.
 */
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
    return isOrdered
      ? sql`(${idsInOrder(query, test, { position, limit: page.limit, others, isPicked: isPicked(index) })})`
      : sql`SELECT c.id FROM c${literal(index)} AS c WHERE ${isPicked(index)} AND ${meets(query.type, others, { id: sql`c.id`, each: true })}`
  })
  const found = foundIn(query, joined(ids, ' UNION ALL '))
  const rows = pageSql(query, { ...page, found, filled: 0 })
  const answer = await db.rows(sql`WITH ${picking(query, tests, steps)}
    SELECT page.*, (SELECT place FROM pick) IS NULL AS many FROM (VALUES (1)) AS v (one) LEFT JOIN (${rows}) AS page ON TRUE ORDER BY ${orderTerms(query)}`)
  return answer[0]?.['many'] === true ? undefined : answer.filter(({ id }) => id !== null)
}

/** The number of matches of a query of several conditions, found as by `lookedUpPage`, and `undefined` as there. */
export async function lookedUpCount(db: Executor, query: SearchQuery, few: number): Promise<number | undefined> {
  const { type, where } = query
  const tests = exactTests(where)
  if (tests.length === 0) return undefined
  const picked = tests.map((_, index) => sql`SELECT id FROM c${literal(index)} WHERE ${isPicked(index)}`)
  const spans = conjuncts(where).filter(isSpan)
  const areMet = conjuncts(where).map((condition) => {
    const isMet = meets(type, condition, { id: sql`c.id`, each: true })
    const [test, span] = [tests.findIndex((known) => known === condition), spans.indexOf(condition)]
    if (test >= 0) return sql`(${isPicked(test)} OR ${isMet})`
    return span >= 0 ? sql`((SELECT yes FROM near${literal(span)}) OR ${isMet})` : isMet
  })
  const steps = [
    picking(query, tests, [few, few * MANY_TIMES]),
    sql`m0 (id) AS MATERIALIZED (${joined(picked, ' UNION ALL ')})`,
    sql`counted AS MATERIALIZED (SELECT count(*) AS count FROM m0)`,
    ...spans.map((span, index) => passing({ type, where: span }, index, few)),
  ]
  const [row] = await db.rows(sql`WITH ${joined(steps, ', ')} SELECT CASE WHEN (SELECT place FROM pick) IS NOT NULL
    THEN (SELECT count(DISTINCT c.id) FROM m${literal(spans.length)} AS c WHERE ${joined([sql`TRUE`, ...areMet], ' AND ')}) END AS count`)
  return row === undefined || row['count'] === null ? undefined : numberAt(row, 'count')
}

/** Whether an index has together what meets a condition that may be met by many values, such as those of a year; not so alternatives. */
function isSpan(condition: Condition): boolean {
  return exactTest(condition) === undefined && entryTests(condition)?.any.length === 1
}

/** What share of `few` resources is always looked at one by one. */
const LEAST_SHARE = 10
/** Half of the entries of an index that can be skipped in the time in which the entries of one resource are looked at (`npm run bench storage`). */
const ENTRIES_PER_LOOK = 12

/**
 * `m1` of `m0`, `m2` of `m1` and so on: where not too many entries meet a span (`near`), they are skipped, and those resources are left that have one.
 * What is hashed are always the resources, which are few.
 */
function passing(span: Pick<SearchQuery, 'type' | 'where'>, index: number, few: number): Sql {
  const [from, near, to] = [sql`m${literal(index)}`, sql`near${literal(index)}`, sql`m${literal(index + 1)}`]
  const ids = idsWhere(span)
  const most = sql`(SELECT count * ${literal(ENTRIES_PER_LOOK)} FROM counted)`
  const areFew = sql`(SELECT count(*) FROM (SELECT 1 FROM (${ids}) AS ids LIMIT ${most} + 1) AS passed) <= ${most}`
  const passed = sql`SELECT id FROM (${ids}) AS ids WHERE (SELECT yes FROM ${near}) AND (id IN (SELECT id FROM ${from})) IS TRUE`
  return sql`${near} AS MATERIALIZED (SELECT CASE WHEN count > ${literal(few / LEAST_SHARE)} THEN ${areFew} ELSE FALSE END AS yes FROM counted),
    ${to} (id) AS MATERIALIZED (${passed} UNION ALL SELECT id FROM ${from} WHERE NOT (SELECT yes FROM ${near}))`
}

function isPicked(index: number): Sql {
  return sql`(SELECT place FROM pick) = ${literal(index)}`
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
