import { OperationError } from '../errors/index.js'
import type { Comparison, Condition } from '../storage/index.js'

/** Values that an index finds. */
const MAX_EXACT = 10_000
/** Comparisons with texts, dates, numbers and whole code systems: each may look at everything that a parameter has. */
const MAX_COMPARISONS = 256
/** The values of one system are one look-up. */
const MAX_SYSTEMS = 256

/**
 * Sees to it that a storage can answer a search in bounded work: what ends it there looks at the time now and then only.
 *
 * @throws {OperationError} `too-costly` for more than 10,000 exact values, or 256 comparisons with texts, dates, numbers and whole code
 *   systems, or values of more than 256 different code systems, all parameters together.
 */
export function checkCost(where: Condition): void {
  const tests = testsIn(where)
  const exact = tests.filter(isExact)
  if (exact.length > MAX_EXACT) throw tooCostly(`${MAX_EXACT} values`)
  if (tests.length - exact.length > MAX_COMPARISONS)
    throw tooCostly(`${MAX_COMPARISONS} comparisons with texts, dates, numbers and whole code systems`)
  if (systemsOf(exact).size > MAX_SYSTEMS) throw tooCostly(`${MAX_SYSTEMS} different code systems`)
}

function systemsOf(tests: readonly (readonly Comparison[])[]): ReadonlySet<unknown> {
  return new Set(tests.flatMap((all) => all.flatMap((test) => (test.field === 'system' && test.op === 'eq' ? [test.operand] : []))))
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

/** A code system alone, or a unit beside a bound, leaves many entries to look at. */
function isExact(all: readonly Comparison[]): boolean {
  const finds = all.some(({ field, op }) => field !== 'system' && (op === 'eq' || op === 'in'))
  return finds && all.every(({ op }) => op === 'eq' || op === 'in' || op === 'absent')
}

function tooCostly(most: string): OperationError {
  return new OperationError('too-costly', `A search has at most ${most}, all parameters together.`)
}
