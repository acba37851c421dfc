import type { Condition, EntryTest } from 'fhir-ops/storage'
import { isAnsweredByIndex } from '../resources/entry-rows.js'
import { sql, type Sql } from '../database/sql.js'
import { conjuncts } from './condition.js'
import { passes } from './entry-sql.js'

/** A test for one value: the index by value has what passes it in the order of ids, and answers it alone for one resource. */
export function exactTest(condition: Condition): EntryTest | undefined {
  if (condition.kind !== 'entry') return undefined
  const values = condition.all.filter(({ field }) => field === 'value')
  const [value] = values
  const isOne = values.length === 1 && value?.op === 'eq' && typeof value.operand === 'string' && isAnsweredByIndex(value.operand)
  return isOne && condition.all.every(isOfIndex) ? condition : undefined
}

/** The index has systems, too. */
function isOfIndex(comparison: EntryTest['all'][number]): boolean {
  if (comparison.field === 'value') return true
  if (comparison.field !== 'system') return false
  if (comparison.op === 'eq') return isAnsweredByIndex(comparison.operand)
  return comparison.op === 'in' && comparison.operands.every(isAnsweredByIndex)
}

/** The exact tests among conditions that must all hold, of which so many are looked at. */
export function exactTests(where: Condition): readonly EntryTest[] {
  return conjuncts(where)
    .flatMap((condition) => exactTest(condition) ?? [])
    .slice(0, MAX_LOOKED_AT)
}

const MAX_LOOKED_AT = 3

/** Whether the row of `fhir_entry` by this name passes the test. */
export function passesExactly(name: Sql, type: string, { param, all }: EntryTest): Sql {
  return sql`${name}.type = ${type} AND ${passes(name, { param, any: [all] })}`
}

/** Whether a resource passes the test. OFFSET keeps the planner from making a join of it. Nobody else calls a row `x`. */
export function hasExactly(type: string, test: EntryTest, id: Sql): Sql {
  return sql`EXISTS (SELECT 1 FROM fhir_entry x WHERE ${passesExactly(sql`x`, type, test)} AND x.id = ${id} OFFSET 0)`
}
