import { joined } from '@fhir-ops/sql'
import type { Condition, SearchQuery } from 'fhir-ops/storage'
import { passes, type EntryTests } from './entry-sql.js'
import { sql, type Sql } from './sql.js'

/** What is asked of a resource whose type is known. */
interface Asking {
  readonly type: string
  /** SQL of the resource's id. */
  readonly id: Sql
  /** How deep the question stands; each level names its tables by it. */
  readonly level: number
}

/** Whether the resource in the row `r` of `fhir_resource` is current and meets the conditions of the query. */
export function matches({ type, where }: SearchQuery): Sql {
  return sql`${isCurrent(sql`r`, type)} AND ${meets(where, { type, id: sql`r.id`, level: 1 })}`
}

/** The number of matches. Where one test finds all of them in an index, no resource is looked at. */
export function countSql(query: SearchQuery): Sql {
  const ids = idsWhere(query.type, query.where)
  if (ids === undefined) return sql`SELECT count(*) AS count FROM fhir_resource r WHERE ${matches(query)}`
  return sql`SELECT count(*) AS count FROM (SELECT DISTINCT id FROM (${ids}) AS found) AS each`
}

/** Sets of ids that are put together in one statement; more are asked of each resource. */
const MAX_SETS = 50

/** The ids that meet a condition, from indexes; an id may come several times. `undefined` where no test leads to them. */
function idsWhere(type: string, where: Condition): Sql | undefined {
  const tests = entryTests(where)
  if (tests !== undefined) return sql`SELECT e0.id FROM fhir_entry e0 WHERE e0.type = ${type} AND ${passes(sql`e0`, tests)}`
  if (where.kind === 'or') return idsOfAny(type, where.conditions)
  if (where.kind !== 'and') return undefined
  const first = mostSelective(where.conditions)
  const ids = first && idsWhere(type, first)
  if (ids === undefined) return undefined
  const others: Condition = { kind: 'and', conditions: where.conditions.filter((condition) => condition !== first) }
  return sql`SELECT f.id FROM (${ids}) AS f WHERE ${meets(others, { type, id: sql`f.id`, level: 1 })}`
}

function idsOfAny(type: string, conditions: readonly Condition[]): Sql | undefined {
  const sets = conditions.map((condition) => idsWhere(type, condition)).filter((ids) => ids !== undefined)
  if (sets.length === 0 || sets.length < conditions.length || sets.length > MAX_SETS) return undefined
  return joined(
    sets.map((ids) => sql`(${ids})`),
    ' UNION ALL ',
  )
}

/** The test with a text that must be equal, else any test. */
function mostSelective(conditions: readonly Condition[]): Condition | undefined {
  const tests = conditions.filter((condition) => entryTests(condition) !== undefined)
  return tests.find(isExact) ?? tests[0]
}

function isExact(condition: Condition): boolean {
  return entryTests(condition)?.any.every((all) => all.some(({ field, op }) => field === 'value' && (op === 'eq' || op === 'in'))) ?? false
}

/** The condition as a question about one entry: a test, or several tests of one parameter of which one must hold. */
function entryTests(condition: Condition): EntryTests | undefined {
  if (condition.kind === 'entry') return { param: condition.param, any: [condition.all] }
  if (condition.kind !== 'or') return undefined
  const tests = condition.conditions.filter((part) => part.kind === 'entry')
  const [first] = tests
  if (first === undefined || tests.length < condition.conditions.length) return undefined
  return tests.every(({ param }) => param === first.param) ? { param: first.param, any: tests.map(({ all }) => all) } : undefined
}

/** Whether a resource meets a condition. What is asked of entries has the form of a join, so that the planner chooses how. */
function meets(condition: Condition, asking: Asking): Sql {
  const tests = entryTests(condition)
  if (tests !== undefined) return hasEntry(asking, (e) => passes(e, tests))
  switch (condition.kind) {
    case 'and':
      return joined([sql`TRUE`, ...condition.conditions.map((part) => meets(part, asking))], ' AND ')
    case 'or':
      return sql`(${joined([sql`FALSE`, ...condition.conditions.map((part) => sql`(${meets(part, asking)})`)], ' OR ')})`
    case 'not':
      return sql`NOT (${meets(condition.condition, asking)})`
    case 'id':
      return sql`${asking.id} = ANY (${condition.ids})`
    case 'lastUpdated':
      return wasUpdated(condition, asking)
    case 'refersTo':
      return refersTo(condition, asking)
    case 'referredBy':
      return referredBy(condition, asking)
    case 'entry':
      return sql`FALSE`
  }
}

function hasEntry({ type, id, level }: Asking, test: (e: Sql) => Sql): Sql {
  const e = alias('e', level)
  return sql`EXISTS (SELECT 1 FROM fhir_entry ${e} WHERE ${e}.type = ${type} AND ${e}.id = ${id} AND ${test(e)})`
}

/** The last times that `Date` knows. */
const MAX_TIME = 8_640_000_000_000_000

function wasUpdated({ from = -MAX_TIME, to = MAX_TIME }: Extract<Condition, { kind: 'lastUpdated' }>, { type, id, level }: Asking): Sql {
  const u = alias('u', level)
  const bounds = sql`${u}.updated BETWEEN ${Math.ceil(Math.max(from, -MAX_TIME))} AND ${Math.floor(Math.min(to, MAX_TIME))}`
  return sql`EXISTS (SELECT 1 FROM fhir_resource ${u} WHERE ${isCurrent(u, type)} AND ${u}.id = ${id} AND ${bounds})`
}

/** Entries may refer to what does not exist. */
function refersTo({ param, query }: Extract<Condition, { kind: 'refersTo' }>, asking: Asking): Sql {
  const t = alias('t', asking.level)
  const target = meets(query.where, { type: query.type, id: sql`${t}.id`, level: asking.level + 1 })
  return hasEntry(asking, (e) => {
    const targets = sql`SELECT 1 FROM fhir_resource ${t} WHERE ${isCurrent(t, query.type)} AND ${t}.id = ${e}.value AND ${target}`
    return sql`${e}.param = ${param} AND ${e}.system = ${query.type} AND EXISTS (${targets})`
  })
}

function referredBy({ param, query }: Extract<Condition, { kind: 'referredBy' }>, { type, id, level }: Asking): Sql {
  const e = alias('e', level)
  const source = meets(query.where, { type: query.type, id: sql`${e}.id`, level: level + 1 })
  return sql`EXISTS (SELECT 1 FROM fhir_entry ${e}
    WHERE ${e}.type = ${query.type} AND ${e}.param = ${param} AND ${e}.system = ${type} AND ${e}.value = ${id} AND ${source})`
}

function isCurrent(r: Sql, type: string): Sql {
  return sql`${r}.type = ${type} AND ${r}.text IS NOT NULL`
}

function alias(letter: string, level: number): Sql {
  return { text: `${letter}${level}`, values: [] }
}
