import type { OperationContext } from '../../context/index.js'
import type { GroupPlan } from '../measure-plan.js'
import type { Period } from '../period.js'

/** What an evaluation is about. */
export interface Scope {
  readonly period: Period
  /** Id of the one Patient that is looked at; all when absent. */
  readonly patient?: string | undefined
}

/** How many belong to each population of a group, in the group's order. */
export interface GroupCounts {
  readonly populations: readonly number[]
  /** For each stratifier, how many of each population satisfy its criterion too. */
  readonly strata: readonly (readonly number[])[]
}

/** A language that criteria are written in. Adding one is a file and a line of the registry. */
export interface CriteriaLanguage {
  /** Values of `criteria.language`. */
  readonly names: readonly string[]
  /**
   * Begins one evaluation. The function that it gives counts a group; what groups have in common is worked out once.
   *
   * @throws {OperationError} 422 for a criterion that cannot be evaluated, naming group and population.
   */
  readonly evaluator: (ctx: OperationContext, scope: Scope) => (group: GroupPlan) => Promise<GroupCounts>
}
