import { PENDING, type FhirPathBudget, type FhirPathContext, type Pending } from './host.js'
import type { Items } from './item.js'
import type { TypeModel } from './model.js'
import { budgetProblem } from './problem.js'

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
