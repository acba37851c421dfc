import type { DataRequirement, ParameterDefinition } from 'fhir/r4.js'
import type { OperationContext } from '../../context/index.js'
import type { Coverage } from '../../explain/index.js'
import { having, listOf, type MemberKind } from '../../input/index.js'
import type { JsonObject } from '../../json/index.js'
import type { ChangeReader } from '../live/change-reader.js'
import type { GroupPlan, Supplement } from '../measure-plan.js'
import type { SubjectsPart } from '../parts/subjects-part.js'
import type { Period } from '../period.js'
import type { Stratum, StratumValue, Tally } from '../tally.js'
import type { Subject } from '../subject.js'
import type { MeasureSums } from '../totals/sums.js'

/** Results of subjects that a language may keep from one evaluation of a Measure to the next, under this object. */
export interface KeptResults {
  /** Says whose results no longer hold. */
  readonly changes: ChangeReader
  /** Most memory that they may take. */
  readonly maxBytes: number
}

/** What an evaluation is about. */
export interface Scope {
  readonly period: Period
  /** The Measure, for languages that need its libraries. */
  readonly measure: JsonObject
  /** Type of the subjects of the Measure, which are counted with basis `boolean`. */
  readonly subjectType: string
  /** Only what belongs to this subject, or to those for whom it stands, is looked at; all when absent. */
  readonly subject?: Subject | undefined
  /** Id of a Practitioner: only what belongs to patients of this general practitioner is looked at. */
  readonly practitioner?: string | undefined
  /** Whether the members of each population are asked for, too. */
  readonly listed?: boolean | undefined
  /** Whether the report is of one subject, with what was evaluated and supporting evidence. */
  readonly individual?: boolean | undefined
  /** Whether it is counted what the clauses of its libraries are. */
  readonly coverage?: boolean | undefined
  /** Values of parameters of the Measure's libraries, a Parameters resource. */
  readonly parameters?: JsonObject | undefined
  /** What is reported besides the populations, as far as it is in this language. */
  readonly supplements?: readonly Supplement[] | undefined
  /** Where results of subjects are kept; each evaluation is whole when absent. A language that keeps none counts as always. */
  readonly kept?: KeptResults | undefined
  /** Which of the subjects are evaluated; all when absent. Only a language that `divides` is given one. */
  readonly part?: SubjectsPart | undefined
}

/** What a language gives for the groups of a Measure that are written in it. */
export interface MeasureCounts {
  /** In the order of the groups. */
  readonly groups: readonly GroupCounts[]
  /** For each of `scope.supplements`, what it is for the subjects of the initial populations. */
  readonly supplements?: readonly SupplementValues[] | undefined
  /** References to the resources that the evaluation of the only subject read. */
  readonly evaluatedResources?: readonly string[] | undefined
  /** Subjects that could not be evaluated. The counts are not reported then. */
  readonly failures?: readonly SubjectFailure[] | undefined
  /** What the clauses of libraries were, where `scope.coverage` asks for it. */
  readonly coverage?: Coverage | undefined
  /** The counts of the subjects of `scope.part`, to which those of the others can be added. */
  readonly sums?: MeasureSums | undefined
}

/** What supplemental data or a risk adjustment factor is, for all subjects. */
export interface SupplementValues {
  /** Its values, and how many subjects have each. */
  readonly values: readonly { readonly value: StratumValue; readonly count: number }[]
  /** References to the resources that it consists of. */
  readonly resources: readonly string[]
}

/** A subject whose evaluation failed. */
export interface SubjectFailure {
  /** `Patient/p1`. */
  readonly subject: string
  readonly message: string
  /** What was thrown by code of the host (an external function), for its log: no report names it. Absent in results of parts. */
  readonly cause?: unknown
}

/** How many of those whose evaluation failed a result names, at most. */
export const MAX_FAILURES = 20

/** What belongs to each population of a group, in the group's order. */
export interface GroupCounts {
  readonly populations: readonly Tally[]
  /** For each stratifier, the parts into which it divides the populations. */
  readonly strata: readonly (readonly Stratum[])[]
  /** The score, where observations make it; default: that of the counts. */
  readonly score?: number | undefined
  /** The UCUM unit of the score; absent for a number. */
  readonly scoreUnit?: string | undefined
}

/** What of a scope matters to what data is looked at. */
export interface RequirementScope extends Pick<Scope, 'measure' | 'period' | 'subjectType' | 'supplements'> {
  /** Whether the data is going to be looked up by subject: criteria that find a subject's data otherwise are refused. */
  readonly bySubject?: boolean | undefined
}

/** FHIR's DataRequirement. */
export interface RequiredData extends Omit<DataRequirement, 'type'> {
  /** A resource type. */
  readonly type: string
}

/** FHIR's ParameterDefinition. */
export interface ParameterUse extends Omit<ParameterDefinition, 'type'> {
  /** A FHIR type, or `Any`. */
  readonly type: string
}

/** What criteria look at. */
export interface Requirements {
  readonly data: readonly RequiredData[]
  readonly parameters: readonly ParameterUse[]
  /** Canonicals of the definitions that they use. */
  readonly dependsOn: readonly string[]
}

/** A language, or several that may be mixed in one group, that criteria are written in. */
export interface CriteriaLanguage {
  /** Values of `criteria.language`. */
  readonly names: readonly string[]
  /** Values of `criteria.language` of stratifiers that divide by values, and of their components; none when absent. */
  readonly valueNames?: readonly string[]
  /** Whether it evaluates supplemental data and supporting evidence, and takes parameters. Default false. */
  readonly supplements?: boolean
  /** Whether it can evaluate a part of the subjects. Default false: then the first part of a run counts for all. */
  readonly divides?: boolean
  /**
   * Begins one evaluation. The function that it gives counts the groups that are in this language.
   *
   * @throws {OperationError} 422 for a criterion that cannot be evaluated, naming group and population.
   */
  readonly evaluator: (ctx: OperationContext, scope: Scope) => (groups: readonly GroupPlan[]) => Promise<MeasureCounts>
  /**
   * What data groups look at, without looking at any: `$data-requirements` of a Measure. Refused where absent.
   *
   * @throws {OperationError} 422 for a criterion that cannot be evaluated.
   */
  readonly requirements?: (ctx: OperationContext, scope: RequirementScope) => (groups: readonly GroupPlan[]) => Promise<Requirements>
  /**
   * The same of a Library, for some of its definitions or all public ones: `$data-requirements` of a Library. Refused where absent.
   *
   * @throws {OperationError} 422 for a Library that cannot be evaluated; `parameter-value` for a definition that it does not have.
   */
  readonly libraryRequirements?: (ctx: OperationContext, library: JsonObject, definitions?: readonly string[]) => Promise<Requirements>
}

/** What the option `languages` must be. */
export const LANGUAGES: MemberKind = listOf(having('a criteria language', ['names', 'evaluator']))
