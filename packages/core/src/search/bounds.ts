import { OperationError } from '../errors/index.js'
import type { Comparison, Condition } from '../storage/index.js'
import type { CodeExpander, HierarchyQuestion, SearchOptions } from './search-options.js'

/** The greatest integer of FHIR, which clients send for as many as there are. */
export const MAX_COUNT = 2_147_483_647

/** Limits of everything that can be repeated in a search, for all parameters together unless stated otherwise. */
export const SEARCH_BOUNDS = {
  /** Parameters. */
  parameters: 1_000,
  /** Keys of `_sort`. */
  sortKeys: 16,
  /** Parameters `_include` and `_revinclude`. */
  includes: 64,
  /** Names in `_elements`. */
  elements: 100,
  /** References that one parameter follows (chains and `_has`). */
  references: 8,
  /** Paths along one chain: through the types that it does not name, and through independent and contained resources. */
  ways: 256,
  /** Steps over references, counted on each path. */
  steps: 256,
  /** Values that an index finds: ids, codes, identifiers, references. */
  values: 10_000,
  /** Comparisons with texts, dates, numbers and whole code systems: each may scan all entries of a parameter. */
  comparisons: 256,
  /** Different code systems, or types of identifiers, of the values: the values of each take one lookup. */
  systems: 256,
  /** Characters of one value. */
  valueLength: 4_096,
  /** Characters of all texts searched for, including those derived from a value. */
  characters: 16_777_216,
  /** Different value sets of `:in` and `:not-in`, and codes and resources of `:above` and `:below`. */
  questions: 64,
} as const

/** Creates the error for a search that exceeds a limit. */
export function overBound(most: number, things: string, parameter?: string): OperationError {
  const message = `A search has at most ${most} ${things}.`
  return new OperationError('too-costly', message, parameter === undefined ? {} : { expression: [parameter] })
}

/** Counts the values of a search while it is parsed, so that too long a list is refused before it is processed. */
export interface ValueCounter {
  /** Adds values to the count. @throws {OperationError} `too-costly` for more than 10,000 values in total. */
  readonly add: (values: number) => void
}

/** Creates a counter for one search over one type. */
export function valueCounter(): ValueCounter {
  let counted = 0
  return {
    add(values) {
      counted += values
      if (counted > SEARCH_BOUNDS.values) throw overBound(SEARCH_BOUNDS.values, 'values, all parameters together')
    },
  }
}

/** Wraps the options so that each question for codes or ids is answered only once; more than 64 different questions are `too-costly`. */
export function boundedQuestions(options: SearchOptions): SearchOptions {
  const { codesOf, hierarchyOf } = options
  let asked = 0
  const once = <Q, A>(answer: (question: Q) => Promise<A>): ((question: Q) => Promise<A>) => {
    const answers = new Map<string, Promise<A>>()
    return (question) => {
      const name = JSON.stringify(question)
      const known = answers.get(name)
      if (known !== undefined) return known
      if (++asked > SEARCH_BOUNDS.questions)
        throw overBound(SEARCH_BOUNDS.questions, 'different values with the modifiers in, not-in, above and below')
      const found = answer(question)
      answers.set(name, found)
      return found
    }
  }
  const codes: CodeExpander | undefined = codesOf && once(codesOf)
  return { ...options, codesOf: codes, hierarchyOf: hierarchyOf && once<HierarchyQuestion, readonly string[]>(hierarchyOf) }
}

/**
 * Checks that a storage can answer a search with a bounded amount of work.
 *
 * @throws {OperationError} `too-costly` for a condition beyond `SEARCH_BOUNDS`.
 */
export function checkCost(where: Condition): void {
  const { tests, ids, steps } = costOf(where)
  const exact = tests.filter(isExact)
  if (exact.length + ids > SEARCH_BOUNDS.values) throw overBound(SEARCH_BOUNDS.values, 'values, all parameters together')
  if (tests.length - exact.length > SEARCH_BOUNDS.comparisons)
    throw overBound(SEARCH_BOUNDS.comparisons, 'comparisons with texts, dates, numbers and whole code systems, all parameters together')
  if (systemsOf(exact).size > SEARCH_BOUNDS.systems)
    throw overBound(SEARCH_BOUNDS.systems, 'different code systems and types of identifiers, all parameters together')
  if (steps > SEARCH_BOUNDS.steps) throw overBound(SEARCH_BOUNDS.steps, 'steps over references, all parameters and ways together')
  if (charactersOf(tests) > SEARCH_BOUNDS.characters) throw overBound(SEARCH_BOUNDS.characters, 'characters in the texts that it looks for')
}

interface Cost {
  /** The comparisons of each value with one index entry, or with the resource itself. */
  readonly tests: (readonly Comparison[])[]
  ids: number
  steps: number
}

function costOf(where: Condition): Cost {
  const cost: Cost = { tests: [], ids: 0, steps: 0 }
  const open = [where]
  for (let condition = open.pop(); condition !== undefined; condition = open.pop()) {
    if (condition.kind === 'and' || condition.kind === 'or') for (const part of condition.conditions) open.push(part)
    else if (condition.kind === 'not') open.push(condition.condition)
    else if (condition.kind === 'id') cost.ids += condition.ids.length
    else if (condition.kind === 'refersTo' || condition.kind === 'referredBy') {
      cost.steps++
      open.push(condition.query.where)
    } else cost.tests.push(condition.kind === 'entry' ? condition.all : [])
  }
  return cost
}

/** True if an index finds the matches directly. A code system alone, or a unit with a bound, leaves many entries to compare. */
function isExact(all: readonly Comparison[]): boolean {
  const finds = all.some(({ field, op }) => field !== 'system' && (op === 'eq' || op === 'in'))
  return finds && all.every(({ op }) => op === 'eq' || op === 'in' || op === 'absent')
}

/** Returns the conditions of tests besides their values: tests with the same conditions take one lookup. */
function systemsOf(tests: readonly (readonly Comparison[])[]): ReadonlySet<string> {
  return new Set(tests.flatMap((all) => (all.length === 1 ? [] : [JSON.stringify(all.filter(({ field }) => field !== 'value'))])))
}

function charactersOf(tests: readonly (readonly Comparison[])[]): number {
  let characters = 0
  for (const test of tests.flat()) if (test.op === 'in') characters += test.operands.reduce((sum, operand) => sum + operand.length, 0)
  return characters
}
