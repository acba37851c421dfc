import type { Comparison, IndexEntry, Condition, EntryTest } from './query.js'

/** True when the entry satisfies every comparison. */
export function satisfies(entry: IndexEntry, comparisons: readonly Comparison[]): boolean {
  return comparisons.every((comparison) => holds(entry, comparison))
}

function holds(entry: IndexEntry, comparison: Comparison): boolean {
  if (isTextComparison(comparison)) {
    const value = entry[comparison.field]
    return value !== undefined && textHolds(value, comparison)
  }
  if (isNumberComparison(comparison)) {
    const value = entry[comparison.field]
    return value !== undefined && numberHolds(value, comparison)
  }
  return entry[comparison.field] === undefined
}

/** A comparison of a text field with operands. */
export type TextComparison = Exclude<Extract<Comparison, { readonly field: 'system' | 'value' | 'text' }>, { readonly op: 'absent' }>
/** A comparison of a number field with an operand. */
export type NumberComparison = Exclude<Extract<Comparison, { readonly field: 'low' | 'high' }>, { readonly op: 'absent' }>

export function isTextComparison(comparison: Comparison): comparison is TextComparison {
  return comparison.op !== 'absent' && comparison.field !== 'low' && comparison.field !== 'high'
}

export function isNumberComparison(comparison: Comparison): comparison is NumberComparison {
  return comparison.op !== 'absent' && (comparison.field === 'low' || comparison.field === 'high')
}

/** True when a present text satisfies the comparison. */
export function textHolds(value: string, comparison: TextComparison): boolean {
  switch (comparison.op) {
    case 'eq':
      return value === comparison.operand
    case 'in':
      return comparison.operands.includes(value)
    case 'prefix':
      return value.startsWith(comparison.operand)
    case 'suffix':
      return value.endsWith(comparison.operand)
    case 'contains':
      return value.includes(comparison.operand)
  }
}

/** True when a present number satisfies the comparison. */
export function numberHolds(value: number, { op, operand }: NumberComparison): boolean {
  switch (op) {
    case 'eq':
      return value === operand
    case 'lt':
      return value < operand
    case 'le':
      return value <= operand
    case 'gt':
      return value > operand
    case 'ge':
      return value >= operand
  }
}

/** Maximum length of a list in a test whose matches are kept. */
const MAX_OPERANDS = 16

/** Returns the same text for equal tests; `undefined` for a test with a long list, which is rarely repeated. */
export function testKey(all: readonly Comparison[]): string | undefined {
  const isShort = all.every((comparison) => comparison.op !== 'in' || comparison.operands.length <= MAX_OPERANDS)
  return isShort ? JSON.stringify(all) : undefined
}

/** Options of `createFrequency`. */
export interface FrequencyOptions {
  /** Number of questions after which a key is frequent. Default 4. */
  readonly times?: number
  /** Maximum number of counted keys; the least recently asked one is dropped. Default 256. */
  readonly most?: number
}

/**
 * Counts questions by key.
 *
 * @returns A function that counts one question and returns whether it is asked often enough for its answer to be kept.
 */
export function createFrequency({ times = 4, most = 256 }: FrequencyOptions = {}): (key: string) => boolean {
  const asked = new Map<string, number>()
  return (key) => {
    const count = (asked.get(key) ?? 0) + 1
    asked.delete(key)
    asked.set(key, count)
    if (asked.size > most) asked.delete(asked.keys().next().value ?? '')
    return count >= times
  }
}

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
