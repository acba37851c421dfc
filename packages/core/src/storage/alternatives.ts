import type { Comparison, Condition, EntryTest } from './query.js'

/** Options of `joinAlternatives`. */
export interface JoinOptions {
  /** Fewest tests that become a list. Default 2. */
  readonly from?: number
}

/**
 * Merges alternative conditions: tests that differ only in the value become one test for a list. A list of codes is then a single
 * lookup, with the same statement whatever its length.
 */
export function joinAlternatives(conditions: readonly Condition[], { from = 2 }: JoinOptions = {}): readonly Condition[] {
  const alike = Map.groupBy(conditions, (condition) => {
    const wanting = wantingOf(condition)
    return wanting === undefined ? condition : JSON.stringify([wanting.param, wanting.others])
  })
  return [...alike.values()].flatMap((group): readonly Condition[] =>
    group.length < from ? group : testOf(group.flatMap((condition) => wantingOf(condition) ?? [])),
  )
}

/** A test for one value, with its other comparisons. */
interface Wanting {
  readonly param: string
  readonly value: string
  readonly others: readonly Comparison[]
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
