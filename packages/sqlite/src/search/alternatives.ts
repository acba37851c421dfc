import type { Comparison, Condition, EntryTest } from 'fhir-ops/storage'

/** A test that wants one value, and what it wants beside. */
interface Wanting {
  readonly param: string
  readonly value: string
  readonly others: readonly Comparison[]
}

/**
 * Conditions of which one must hold, where tests that differ only in the value that they want have become one: a list of codes is one
 * look-up, and the same statement however long it is.
 */
export function alternatives(conditions: readonly Condition[]): readonly Condition[] {
  const alike = Map.groupBy(conditions, (condition) => {
    const wanting = wantingOf(condition)
    return wanting === undefined ? condition : JSON.stringify([wanting.param, wanting.others])
  })
  return [...alike.values()].flatMap((group): readonly Condition[] =>
    group.length < 2 ? group : testOf(group.flatMap((condition) => wantingOf(condition) ?? [])),
  )
}

function wantingOf(condition: Condition): Wanting | undefined {
  if (condition.kind !== 'entry') return undefined
  const { param, all } = condition
  const [wanted, ...more] = all.filter(({ field, op }) => field === 'value' && op === 'eq')
  if (wanted?.op !== 'eq' || more.length > 0 || typeof wanted.operand !== 'string') return undefined
  return { param, value: wanted.operand, others: all.filter((comparison) => comparison !== wanted) }
}

function testOf(group: readonly Wanting[]): readonly EntryTest[] {
  const operands = group.map(({ value }) => value)
  return group.slice(0, 1).map(({ param, others }) => ({ kind: 'entry', param, all: [...others, { field: 'value', op: 'in', operands }] }))
}
