import { COLUMN, joined, MAX_PAGE_TEXT, orderTerms, sortColumn } from '@fhir-ops/sql'
import { type SearchQuery, type SortKey, placesOf, type Condition } from 'fhir-ops/storage'
import { literal, sql, type Sql } from '../database/sql.js'
import {
  wholeText,
  bounds,
  entryTests,
  exactTest,
  hasExactly,
  passes,
  type EntryTests,
  type ReferredBy,
  type RefersTo,
  type Updated,
} from './condition.js'

/** The part of the matches on a page. */
export interface Page {
  /** Condition for rows after the previous page. */
  readonly after: Sql
  readonly limit: number
  /** Texts of at least this number of bytes are omitted. */
  readonly textBelow: number
}

/** The rows from which a page is taken. */
interface Found extends Page {
  /** Rows with their sort columns. */
  readonly found: Sql
  /** Number of leading sort columns that are never null. */
  readonly filled: number
}

/** Selects rows in order. Rows after the first that exceed the page size do not fit. */
export function pageSql(query: SearchQuery, { after, limit, textBelow, found, filled }: Found): Sql {
  const order = orderTerms(query, filled)
  const page = sql`SELECT * FROM (${found}) AS found WHERE ${after} ORDER BY ${order} LIMIT ${literal(limit)}`
  const sized = sql`SELECT *, sum(octet_length(text)) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - octet_length(text) AS bytes_before FROM (${page}) AS page`
  const keys = joined(
    (query.sort ?? []).map((_, index) => sql`, ${sortColumn(index)}`),
    '',
  )
  const fits = sql`bytes_before <= ${literal(query.maxBytes ?? MAX_PAGE_TEXT)}`
  const text = sql`CASE WHEN ${fits} AND octet_length(text) < ${literal(textBelow)} THEN text END AS text`
  return sql`SELECT id, version, updated, ${fits} AS fits, ${text}${keys} FROM (${sized}) AS sized ORDER BY ${order}`
}

/**
 * Selects the rows `r` that match, with their sort columns.
 *
 * @param firstKey Expression for the first sort key of all rows, if available.
 */
export function matchesSql(query: SearchQuery, which: Sql, firstKey?: Sql): Sql {
  return sql`SELECT r.id, r.version, r.updated, r.text${sortColumns(query, firstKey)} FROM fhir_resource r WHERE ${which}`
}

/** IS TRUE hides from the planner that the index by time is usable: it has all resources of the type, and may be chosen without statistics. */
export function isOneOf(type: string, ids: Sql): Sql {
  return sql`r.type = ${type} AND r.id = ANY (ARRAY(${ids})) AND (r.text IS NOT NULL) IS TRUE`
}

/** Condition that row `r` is a current resource of the type. */
export function isCurrent(type: string): Sql {
  return sql`r.type = ${type} AND r.text IS NOT NULL`
}

/**
 * The expressions by which a query sorts, for the resource `r`, named as sort columns.
 *
 * @param first Expression for the first of them, if available.
 */
export function sortColumns({ type, sort = [] }: SearchQuery, first?: Sql): Sql {
  return joined(
    sort.map((key, index) => sql`, ${index === 0 && first !== undefined ? first : sortExpression(type, key)} AS ${sortColumn(index)}`),
    '',
  )
}

function sortExpression(type: string, { param, field, descending }: SortKey): Sql {
  if (field === 'id') return sql`r.id`
  if (field === 'lastUpdated') return sql`r.updated`
  const value = field === 'low' || field === 'high' ? sql`e0.${COLUMN[field]}` : wholeText(sql`e0`, field)
  const best = descending ? sql`max(${value})` : sql`min(${value})`
  // OFFSET as in `meets`: an index by parameter would read all its entries for every resource.
  const own = sql`SELECT * FROM fhir_entry WHERE type = ${type} AND id = r.id OFFSET 0`
  return sql`(SELECT ${best} FROM (${own}) AS e0 WHERE e0.param = ${param})`
}

const SQL_TYPE: Readonly<Record<'low' | 'high' | 'value' | 'text', Sql>> = {
  low: sql`double precision`,
  high: sql`double precision`,
  value: sql`text`,
  text: sql`text`,
}

/** Source of the current rows `r` of a type in the order of a sort key, from an index. */
export interface OrderedRows {
  /** Value of the key. */
  readonly key: Sql
  /** Operator that compares the key of a row with that of an earlier row or its own. */
  readonly onwards: Sql
  /** Operator that compares the key of a row with that of a later row or its own. */
  readonly backwards: Sql
  /** `ASC` or `DESC`. */
  readonly direction: Sql
  /** FROM and WHERE for everything in the index: a resource may occur several times. */
  readonly all: Sql
  readonly from: Sql
  readonly where: Sql
  /** Rows without the key, which come last; absent if all have it. */
  readonly others?: Others
}

/** Resources without a key. */
export interface Others {
  /** Selects the ids of all resources with the key. */
  readonly except: Sql
  /** Value of the key for these resources. */
  readonly key: Sql
}

const ASCENDING = { onwards: sql`>=`, backwards: sql`<=`, direction: sql`ASC` } as const
const DESCENDING = { onwards: sql`<=`, backwards: sql`>=`, direction: sql`DESC` } as const

/** Returns each resource once, with the entry that determines its position. For long texts, an index has only the beginning. */
export function rowsInOrder(type: string, { param, field, descending }: SortKey): OrderedRows {
  const where = sql`r.type = ${type} AND r.text IS NOT NULL`
  const order = descending ? DESCENDING : ASCENDING
  const all = sql`fhir_resource r WHERE ${where}`
  if (field === 'lastUpdated') return { key: sql`r.updated`, ...order, all, from: sql`fhir_resource r`, where }
  if (field === 'id') return { key: sql`r.id`, ...order, all, from: sql`fhir_resource r`, where }
  const column = COLUMN[field]
  const [key, other] = [sql`e.${column}`, sql`o.${column}`]
  // OFFSET prevents the planner from searching better entries of other resources.
  const own = sql`SELECT * FROM fhir_entry WHERE type = e.type AND id = e.id AND param = e.param OFFSET 0`
  const better = sql`${other} ${descending ? sql`>` : sql`<`} ${key} OR (${other} = ${key} AND o.n < e.n)`
  const ofParam = sql`e.type = ${type} AND e.param = ${param} AND ${key} IS NOT NULL`
  return {
    key,
    ...order,
    all: sql`fhir_entry e WHERE ${ofParam}`,
    from: sql`fhir_entry e JOIN fhir_resource r ON r.type = e.type AND r.id = e.id`,
    where: sql`${where} AND ${ofParam} AND NOT EXISTS (SELECT 1 FROM (${own}) AS o WHERE ${better})`,
    others: {
      except: sql`SELECT id FROM fhir_entry WHERE type = ${type} AND param = ${param} AND ${column} IS NOT NULL`,
      key: sql`NULL::${SQL_TYPE[field]}`,
    },
  }
}

/** Selects entries of the key's parameter whose text is truncated in the index. */
export function longTexts(type: string, { param }: SortKey): Sql {
  return sql`SELECT 1 FROM fhir_entry WHERE type = ${type} AND param = ${param} AND (whole_value IS NOT NULL OR whole_text IS NOT NULL)`
}

/**
 * Selects the ids of current resources that match, by combining sets from indexes. It contains no join, so its cost depends only on the sizes of the sets,
 * whatever the planner estimates. An id may occur several times if `repeatsIds` says so.
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

/** True if `idsWhere` may return an id several times. Intersections and differences never do; removing duplicates again would take long. */
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
  // The order matters: INTERSECT binds more tightly than EXCEPT, and negations are last.
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

/** Looks up each target in the index by value: OFFSET prevents the planner from reading all references for each target. */
function idsReferringTo(type: string, { param, query }: RefersTo): Sql {
  const places = placesOf(query.type)
  const targets = places.map((place) => sql`(${idsWhere({ ...query, type: place })})`)
  const references = sql`SELECT id FROM fhir_entry WHERE type = ${type} AND param = ${param} AND value = target AND system = ANY (${places}) OFFSET 0`
  return sql`SELECT e.id FROM unnest(ARRAY(${joined(targets, ' UNION ALL ')})) AS target, LATERAL (${references}) AS e`
}

/** Up to this number of sources, each is looked up separately. */
const FEW_SOURCES = 1_000

/** Entries may refer to resources that do not exist. With many sources, their references are found by reading all references once. */
function idsReferredBy(type: string, { param, query }: ReferredBy): Sql {
  const own = sql`SELECT * FROM fhir_entry WHERE type = ${query.type} AND id = source.id OFFSET 0`
  const ofOne = sql`SELECT e.value FROM source, LATERAL (${own}) AS e
    WHERE (SELECT count(*) FROM source) <= ${FEW_SOURCES} AND e.param = ${param} AND e.system = ${type}`
  const ofAny = sql`SELECT value FROM fhir_entry WHERE (SELECT count(*) FROM source) > ${FEW_SOURCES}
    AND type = ${query.type} AND param = ${param} AND system = ${type} AND (id IN (SELECT id FROM source)) IS TRUE`
  const targets = sql`WITH source (id) AS MATERIALIZED (${idsWhere(query)}) ${ofOne} UNION ALL ${ofAny}`
  return sql`SELECT id FROM fhir_resource WHERE type = ${type} AND id = ANY (ARRAY(${targets})) AND (text IS NOT NULL) IS TRUE`
}

/** The resource to be tested. */
interface Asking {
  readonly id: Sql
  /** Time of its last write, if the row has it. */
  readonly updated?: Sql
  /** Follows the references of each resource, instead of reading all references to matches. Faster if only few resources are tested. */
  readonly each?: boolean
}

/** The resource in row `r` of `fhir_resource`. */
const ROW: Asking = { id: sql`r.id`, updated: sql`r.updated` }

/** Condition that a resource meets a condition, tested on its own entries, one resource at a time. */
export function meets(type: string, condition: Condition, asking: Asking = ROW): Sql {
  const exact = exactTest(condition)
  if (exact !== undefined) return hasExactly(type, exact, asking.id)
  const tests = entryTests(condition)
  if (tests !== undefined) return hasEntry(type, tests, asking.id)
  switch (condition.kind) {
    case 'and':
      return joined([sql`TRUE`, ...meetAll(type, condition.conditions, asking)], ' AND ')
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
      // IS TRUE prevents the planner from converting it to a join: the ids are hashed once, and each resource is looked up in the hash.
      return sql`(${asking.id} IN (${idsWhere({ type, where: condition })})) IS TRUE`
  }
}

/** One test for the conditions on the same parameter, such as the start and the end of a period: the entries are read once for all of them. */
function meetAll(type: string, conditions: readonly Condition[], asking: Asking): readonly Sql[] {
  const ofParams = Map.groupBy(conditions, (condition) =>
    exactTest(condition) === undefined ? (entryTests(condition)?.param ?? condition) : condition,
  )
  return [...ofParams.values()].map((group) => {
    const tests = group.flatMap((condition) => entryTests(condition) ?? [])
    const [first, second] = tests
    if (first === undefined || second === undefined)
      return joined(
        group.map((condition) => meets(type, condition, asking)),
        ' AND ',
      )
    const each = tests.map((test) => sql`bool_or(${passes(sql`e`, test)})`)
    return sql`(SELECT ${joined(each, ' AND ')} FROM (${ownEntries(type, first.param, asking.id)}) AS e) IS TRUE`
  })
}

/**
 * OFFSET prevents the planner from searching by value first, which would find entries of other resources. The order by `n` is that of the primary key. It
 * makes the planner choose the key if its estimates for two indexes are equal, as with statistics from before a bulk load: the other indexes begin with
 * the parameter, and would read all its entries for every resource.
 */
function ownEntries(type: string, param: string, id: Sql): Sql {
  return sql`SELECT * FROM fhir_entry WHERE type = ${type} AND id = ${id} AND param = ${param} ORDER BY n OFFSET 0`
}

function hasEntry(type: string, tests: EntryTests, id: Sql): Sql {
  return sql`EXISTS (SELECT 1 FROM (${ownEntries(type, tests.param, id)}) AS e WHERE ${passes(sql`e`, tests)})`
}

/** Follows the references of one resource. The aliases of a source are not visible inside the next one. */
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
