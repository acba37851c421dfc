import { joined, orderTerms, type Position } from '@fhir-ops/sql'
import type { Condition, EntryTest, SearchQuery } from 'fhir-ops/storage'
import type { Executor } from '../database/database.js'
import { numberAt, literal, sql, type Row, type Sql } from '../database/sql.js'
import { conjuncts, entryTests, exactTest, exactTests, passesExactly } from './condition.js'
import { idsWhere, meets, isOneOf, matchesSql, pageSql, type Page } from './page-sql.js'

/** Factor: up to this many times more resources than `few` are still tested one by one, if they need not be sorted. */
const MANY_TIMES = 10

/** The page to find. */
interface LookUpPage extends Page {
  readonly position: Position | undefined
  /** A value that at most this number of resources have is rare. A rare value is tried first, then one that at most a multiple of this number have. */
  readonly few: number
}

/**
 * Returns the rows of a page, with one statement: by one value, or by several conditions of which one is a value that not too many resources have. The
 * statement counts the resources with each value, no further than necessary, and uses the first value that few have.
 *
 * @returns `undefined` if the query does not test for a value, or if many resources have each of the values.
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

/** Counts the matches of a query with several conditions, in the same way as `lookedUpPage`; `undefined` in the same cases. */
export async function lookedUpCount(db: Executor, query: SearchQuery, few: number): Promise<number | undefined> {
  const { type, where } = query
  const tests = exactTests(where)
  if (tests.length === 0) return undefined
  const picked = tests.map((_, index) => sql`SELECT id FROM c${literal(index)} WHERE ${isPicked(index)}`)
  const spans = conjuncts(where).filter(isSpan)
  const looked = new Set<Condition>([...tests, ...spans])
  const isMet = (condition: Condition): Sql => meets(type, condition, { id: sql`c.id`, each: true })
  const areMet = [
    ...tests.map((test, index) => sql`(${isPicked(index)} OR ${isMet(test)})`),
    ...spans.map((span, index) => sql`((SELECT yes FROM near${literal(index)}) OR ${isMet(span)})`),
    // Together, so that the entries of a parameter are read once for the start and the end of a period.
    isMet({ kind: 'and', conditions: conjuncts(where).filter((condition) => !looked.has(condition)) }),
  ]
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

/** True if the matches of a condition with many values, such as those of a year, are adjacent in an index; false for alternatives. */
function isSpan(condition: Condition): boolean {
  return exactTest(condition) === undefined && entryTests(condition)?.any.length === 1
}

/** Up to this fraction (1/10) of `few`, resources are always tested one by one. */
const LEAST_SHARE = 10
/** Half the number of index entries that can be skipped in the time that testing the entries of one resource takes (`npm run bench storage`). */
const ENTRIES_PER_LOOK = 12

/**
 * Derives `m1` from `m0`, `m2` from `m1` and so on: if not too many entries meet a span (`near`), they are read, and the resources with such an entry
 * remain. Only the resources, which are few, are hashed.
 */
function passing(span: Pick<SearchQuery, 'type' | 'where'>, index: number, few: number): Sql {
  const [from, near, to] = [sql`m${literal(index)}`, sql`near${literal(index)}`, sql`m${literal(index + 1)}`]
  const most = sql`(SELECT CASE WHEN count > ${literal(few / LEAST_SHARE)} THEN count * ${literal(ENTRIES_PER_LOOK)} ELSE -1 END FROM counted)`
  const ids = idsWhere(span)
  const some = (what: Sql): Sql => sql`SELECT ${what} FROM (${ids}) AS ids LIMIT ${most} + 1`
  const isOneOfThem = sql`(id IN (SELECT id FROM ${from})) IS TRUE`
  const others = sql`UNION ALL SELECT id FROM ${from} WHERE NOT (SELECT yes FROM ${near})`
  if (hasTwoEnds(span.where))
    return sql`${near} AS MATERIALIZED (SELECT count(*) <= ${most} AS yes, array_agg(id) FILTER (WHERE ${isOneOfThem}) AS ids FROM (${some(sql`id`)}) AS passed),
      ${to} (id) AS MATERIALIZED (SELECT unnest(ids) FROM ${near} WHERE yes ${others})`
  return sql`${near} AS MATERIALIZED (SELECT (SELECT count(*) FROM (${some(sql`1`)}) AS passed) <= ${most} AS yes),
    ${to} (id) AS MATERIALIZED (SELECT id FROM (${ids}) AS ids WHERE (SELECT yes FROM ${near}) AND ${isOneOfThem} ${others})`
}

/**
 * True for a span with a beginning and an end, such as a year. Its entries are usually few, so they are read once, to count them and to find the resources.
 * Without an end, they are usually too many, which is found out faster if nothing else is done with them.
 */
function hasTwoEnds(condition: Condition): boolean {
  const [all = []] = entryTests(condition)?.any ?? []
  const bounds = all.filter(({ field }) => field === 'low').map(({ op }) => op)
  return bounds.some((op) => op.startsWith('g')) && bounds.some((op) => op.startsWith('l'))
}

function isPicked(index: number): Sql {
  return sql`(SELECT place FROM pick) = ${literal(index)}`
}

const ALL: Condition = { kind: 'and', conditions: [] }

function withoutOne(where: Condition, test: EntryTest): Condition {
  return { kind: 'and', conditions: conjuncts(where).filter((condition) => condition !== test) }
}

/** `c0`, `c1` and so on: the ids with each value, read as far as needed; `pick`: the index of the chosen value, or null. */
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
  /** Condition to test for each id. */
  readonly others: Condition
  readonly isPicked?: Sql
}

/** Selects the first ids with a value, in index order, up to the limit. */
function idsInOrder({ type }: SearchQuery, test: EntryTest, { position, limit, others, isPicked = sql`TRUE` }: InOrder): Sql {
  const behind = position === undefined ? sql`TRUE` : sql`e.id > ${position.id}`
  return sql`SELECT DISTINCT e.id FROM fhir_entry e WHERE ${passesExactly(sql`e`, type, test)} AND ${behind} AND ${isPicked}
    AND ${meets(type, others, { id: sql`e.id`, each: true })} ORDER BY e.id LIMIT ${literal(limit)}`
}

function foundIn(query: SearchQuery, ids: Sql): Sql {
  return matchesSql(query, isOneOf(query.type, ids))
}
