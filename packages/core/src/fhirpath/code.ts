import { isNode, itemsOfTruth, type Items } from './item.js'
import { evaluationProblem, budgetProblem } from './problem.js'
import { PENDING, type FhirPathBudget, type FhirPathContext, type Pending } from './host.js'
import type { TypeModel } from './model.js'

/**
 * A compiled expression in the three forms in which its result is asked for. `truth` and `count` spare the collection
 * where an expression can give them without making it.
 */
export interface Code {
  readonly items: (scope: Scope) => Items
  /** The result as a truth by singleton evaluation; `undefined` when it is empty. */
  readonly truth: (scope: Scope) => boolean | undefined
  readonly count: (scope: Scope) => number
}

/** Code whose other forms follow from its items. */
export function codeOfItems(items: (scope: Scope) => Items): Code {
  return { items, truth: (scope) => truthOf(items(scope)), count: (scope) => items(scope).length }
}

/** Code that gives a truth. */
export function codeOfTruth(truth: (scope: Scope) => boolean | undefined): Code {
  return { items: (scope) => itemsOfTruth(truth(scope)), truth, count: (scope) => (truth(scope) === undefined ? 0 : 1) }
}

/** Code whose result does not depend on anything. */
export function codeOfConstant(items: Items): Code {
  return codeOfItems(() => items)
}

/**
 * Singleton evaluation of a collection as Boolean: any single item that is not a boolean counts as true.
 *
 * @throws {OperationError} `fhirpath-invalid` for several items.
 * @see https://hl7.org/fhirpath/N1/#singleton-evaluation-of-collections
 */
function truthOf(items: Items): boolean | undefined {
  const [item] = items
  if (item === undefined) return undefined
  if (items.length > 1) throw evaluationProblem(`a single Boolean is needed, but there are ${items.length} items`)
  if (typeof item === 'boolean') return item
  return isNode(item) && typeof item.value === 'boolean' ? item.value : true
}

/** Bounds for expressions that come with profiles and other content. */
export const DEFAULT_BUDGET: FhirPathBudget = { steps: 1_000_000, items: 100_000 }

/** One evaluation: what it works with, and what it has used up. */
export interface Run {
  readonly context: FhirPathContext
  readonly budget: FhirPathBudget
  readonly model: TypeModel
  /** `%context`: what the evaluation started from. */
  readonly focus: Items
  steps: number
  moment: Date | undefined
  isPending: boolean
}

/** What `$this`, `$index`, `$total` and `defineVariable` mean at one place of an expression. */
export interface Scope {
  readonly run: Run
  focus: Items
  index: number
  total: Items
  variables: ReadonlyMap<string, Items> | undefined
}

/** The scope in which an evaluation begins. */
export function rootScope(run: Run): Scope {
  return { run, focus: run.focus, index: 0, total: [], variables: undefined }
}

/** A scope for the expressions that a function evaluates for each item of its input. */
export function innerScope(scope: Scope): Scope {
  return { run: scope.run, focus: scope.focus, index: 0, total: scope.total, variables: scope.variables }
}

/**
 * Counts work: one step for each item made or looked at.
 *
 * @throws {OperationError} `fhirpath-budget` beyond the steps of the budget.
 */
export function spend(run: Run, steps: number): void {
  run.steps += steps
  const { steps: most } = run.budget
  if (run.steps > most) throw budgetProblem(`${most} steps`)
}

/** Takes an answer of the host; one that is not there yet counts as unknown, and the whole evaluation as pending. */
export function answered<T>(run: Run, answer: T | Pending): T | undefined {
  if (answer !== PENDING) return answer
  run.isPending = true
  return undefined
}
