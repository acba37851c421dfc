import { OperationError } from '../errors/index.js'
import type { Comparison, Condition } from '../storage/index.js'

/** Values that an index finds. */
const MAX_EXACT = 10_000
/** Comparisons with texts, dates and numbers: each may look at everything that a parameter has. */
const MAX_COMPARISONS = 256

/**
 * Sees to it that a storage can answer a search in bounded work, as it cannot be interrupted in it.
 *
 * @throws {OperationError} `too-costly` for more than 10,000 exact values, or 256 comparisons with texts, dates and numbers, all parameters together.
 */
export function checkCost(where: Condition): void {
  const tests = testsIn(where)
  const exact = tests.filter(isExact).length
  if (exact > MAX_EXACT) throw tooCostly(`${MAX_EXACT} values`)
  if (tests.length - exact > MAX_COMPARISONS) throw tooCostly(`${MAX_COMPARISONS} comparisons with texts, dates and numbers`)
}

/** What each value asks of one index entry, or of the resource itself. */
function testsIn(condition: Condition): readonly (readonly Comparison[])[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(testsIn)
    case 'not':
      return testsIn(condition.condition)
    case 'refersTo':
    case 'referredBy':
      return testsIn(condition.query.where)
    case 'entry':
      return [condition.all]
    case 'lastUpdated':
      return [[]]
    case 'id':
      return []
  }
}

function isExact(all: readonly Comparison[]): boolean {
  return all.some(({ op }) => op === 'eq' || op === 'in')
}

function tooCostly(most: string): OperationError {
  return new OperationError('too-costly', `A search has at most ${most}, all parameters together.`)
}
