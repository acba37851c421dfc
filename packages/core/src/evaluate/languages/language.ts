import type { OperationContext } from '../../context/index.js'
import type { JsonObject } from '../../json/index.js'
import type { GroupPlan } from '../measure-plan.js'
import type { Period } from '../period.js'
import type { Stratum } from '../stratum.js'
import type { Subject } from '../subject.js'
import type { Tally } from '../tally.js'

/** What an evaluation is about. */
export interface Scope {
  readonly period: Period
  /** The Measure, for languages that need its libraries. */
  readonly measure: JsonObject
  /** Type of the subjects of the Measure, which are counted with basis `boolean`. */
  readonly subjectType: string
  /** Only what belongs to this patient, or to the patients of this Group, is looked at; all when absent. */
  readonly subject?: Subject | undefined
  /** Id of a Practitioner: only what belongs to patients of this general practitioner is looked at. */
  readonly practitioner?: string | undefined
  /** Whether the members of each population are asked for, too. */
  readonly listed?: boolean | undefined
}

/** What belongs to each population of a group, in the group's order. */
export interface GroupCounts {
  readonly populations: readonly Tally[]
  /** For each stratifier, the parts into which it divides the populations. */
  readonly strata: readonly (readonly Stratum[])[]
  /** The score, where observations make it; default: that of the counts. */
  readonly score?: number | undefined
}

/** A language that criteria are written in. Adding one is a file and a line of the registry. */
export interface CriteriaLanguage {
  /** Values of `criteria.language`. */
  readonly names: readonly string[]
  /** Values of `criteria.language` of stratifiers that divide by values, and of their components; none when absent. */
  readonly valueNames?: readonly string[]
  /**
   * Begins one evaluation. The function that it gives counts a group; what groups have in common is worked out once.
   *
   * @throws {OperationError} 422 for a criterion that cannot be evaluated, naming group and population.
   */
  readonly evaluator: (ctx: OperationContext, scope: Scope) => (group: GroupPlan) => Promise<GroupCounts>
}
