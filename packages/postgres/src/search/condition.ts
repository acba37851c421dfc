import { COLUMN, hasPrefix, joined, ORDER_OPERATOR } from '@fhir-ops/sql'
import type { Comparison, Condition, EntryTest } from 'fhir-ops/storage'
import { sql, type Sql } from '../database/sql.js'
import { beginning, isAnsweredByIndex } from '../resources/write-plan.js'

/** A condition on the time of the last write. */
export type Updated = Extract<Condition, { kind: 'lastUpdated' }>
/** A condition on the targets of a resource's references. */
export type RefersTo = Extract<Condition, { kind: 'refersTo' }>
/** A condition on the resources that refer to a resource. */
export type ReferredBy = Extract<Condition, { kind: 'referredBy' }>

/** Returns the condition as a test of one entry: one test, or alternative tests of the same parameter. */
export function entryTests(condition: Condition): EntryTests | undefined {
  if (condition.kind === 'entry') return { param: condition.param, any: [condition.all] }
  if (condition.kind !== 'or') return undefined
  const tests = condition.conditions.filter((part) => part.kind === 'entry')
  const [first] = tests
  if (first === undefined || tests.length < condition.conditions.length) return undefined
  return tests.every(({ param }) => param === first.param) ? { param: first.param, any: tests.map(({ all }) => all) } : undefined
}

/** Returns the conditions that must all hold. */
export function conjuncts(where: Condition): readonly Condition[] {
  return where.kind === 'and' ? where.conditions : [where]
}

/** The latest time that `Date` supports. */
const MAX_TIME = 8_640_000_000_000_000

/** Returns the first and last whole millisecond of a condition. */
export function bounds({ from = -MAX_TIME, to = MAX_TIME }: Updated): readonly [from: number, to: number] {
  return [Math.ceil(Math.max(from, -MAX_TIME)), Math.floor(Math.min(to, MAX_TIME))]
}

/** Returns the condition if it tests for one value: the index by value has its matches in the order of ids, and alone answers it for a single resource. */
export function exactTest(condition: Condition): EntryTest | undefined {
  if (condition.kind !== 'entry') return undefined
  const values = condition.all.filter(({ field }) => field === 'value')
  const [value] = values
  const isOne = values.length === 1 && value?.op === 'eq' && typeof value.operand === 'string' && isAnsweredByIndex(value.operand)
  return isOne && condition.all.every(isOfIndex) ? condition : undefined
}

/** True for comparisons that the index by value answers, which also contains systems. */
function isOfIndex(comparison: EntryTest['all'][number]): boolean {
  if (comparison.field === 'value') return true
  if (comparison.field !== 'system') return false
  if (comparison.op === 'eq') return isAnsweredByIndex(comparison.operand)
  return comparison.op === 'in' && comparison.operands.every(isAnsweredByIndex)
}

/** Returns the exact tests among conditions that must all hold, up to a fixed number. */
export function exactTests(where: Condition): readonly EntryTest[] {
  return conjuncts(where)
    .flatMap((condition) => exactTest(condition) ?? [])
    .slice(0, MAX_LOOKED_AT)
}

const MAX_LOOKED_AT = 3

/** Condition that the row of `fhir_entry` with this alias passes the test. */
export function passesExactly(name: Sql, type: string, { param, all }: EntryTest): Sql {
  return sql`${name}.type = ${type} AND ${passes(name, { param, any: [all] })}`
}

/** Condition that a resource passes the test. OFFSET prevents the planner from converting it to a join. No other row has the alias `x`. */
export function hasExactly(type: string, test: EntryTest, id: Sql): Sql {
  return sql`EXISTS (SELECT 1 FROM fhir_entry x WHERE ${passesExactly(sql`x`, type, test)} AND x.id = ${id} OFFSET 0)`
}

/** A test that an entry of `param` passes if it satisfies all comparisons of one alternative. */
export interface EntryTests {
  readonly param: string
  readonly any: readonly EntryTest['all'][]
}

/** Condition that the entry in row `e` passes. */
export function passes(e: Sql, { param, any }: EntryTests): Sql {
  const alternatives = any.map((all) => joined([sql`TRUE`, ...all.map((comparison) => comparisonSql(e, comparison))], ' AND '))
  return sql`${e}.param = ${param} AND (${joined(alternatives, ' OR ')})`
}

type NumberComparison = Extract<Comparison, { readonly operand: number }>
type TextComparison = Extract<Comparison, { readonly operand: string } | { readonly operands: readonly string[] }>
type TextField = TextComparison['field']

/** SQL expression of the whole text. */
export function wholeText(e: Sql, field: TextField): Sql {
  return sql`coalesce(${e}.whole_${COLUMN[field]}, ${e}.${COLUMN[field]})`
}

function comparisonSql(e: Sql, comparison: Comparison): Sql {
  if (comparison.op === 'absent') return sql`${e}.${COLUMN[comparison.field]} IS NULL`
  return isOfNumbers(comparison) ? numberSql(e, comparison) : textSql(e, comparison)
}

function isOfNumbers(comparison: NumberComparison | TextComparison): comparison is NumberComparison {
  return comparison.field === 'low' || comparison.field === 'high'
}

function numberSql(e: Sql, { field, op, operand }: NumberComparison): Sql {
  return sql`${e}.${COLUMN[field]} ${op === 'eq' ? sql`=` : ORDER_OPERATOR[op]} ${operand}`
}

function textSql(e: Sql, comparison: TextComparison): Sql {
  const { field } = comparison
  switch (comparison.op) {
    case 'eq':
      return equalSql(e, field, comparison.operand)
    case 'in':
      return inSql(e, field, comparison.operands)
    case 'prefix':
      return prefixSql(e, field, comparison.operand)
    case 'contains':
      return sql`position(${comparison.operand} IN ${wholeText(e, field)}) > 0`
    case 'suffix':
      return sql`right(${wholeText(e, field)}, length(${comparison.operand})) = ${comparison.operand}`
  }
}

function equalSql(e: Sql, field: TextField, operand: string): Sql {
  const found = sql`${e}.${COLUMN[field]} = ${beginning(operand)}`
  return isAnsweredByIndex(operand) ? found : sql`${found} AND ${wholeText(e, field)} = ${operand}`
}

function inSql(e: Sql, field: TextField, operands: readonly string[]): Sql {
  const found = sql`${e}.${COLUMN[field]} = ANY (${operands.map(beginning)})`
  return operands.every(isAnsweredByIndex) ? found : sql`${found} AND ${wholeText(e, field)} = ANY (${operands})`
}

function prefixSql(e: Sql, field: TextField, prefix: string): Sql {
  const found = hasPrefix(sql`${e}.${COLUMN[field]}`, beginning(prefix))
  return isAnsweredByIndex(prefix) ? found : sql`${found} AND ${hasPrefix(wholeText(e, field), prefix)}`
}
