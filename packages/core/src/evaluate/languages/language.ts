import type { DataRequirement, ParameterDefinition } from 'fhir/r4.js'
import type { OperationContext } from '../../context/index.js'
import type { Coverage } from '../../explain/index.js'
import { having, listOf, type MemberKind } from '../../input/index.js'
import type { JsonObject } from '../../json/index.js'
import type { ChangeReader } from '../live/change-reader.js'
import type { GroupPlan, Supplement } from '../measure-plan.js'
import type { SubjectsPart, Subject } from '../subject.js'
import type { Period } from '../period.js'
import type { Stratum, StratumValue, Tally, MeasureSums } from '../totals/sums.js'

/** Results of subjects that a language may keep between evaluations of a Measure, under this object. */
export interface KeptResults {
  /** Reports whose results are no longer valid. */
  readonly changes: ChangeReader
  /** Maximum memory that they may use. */
  readonly maxBytes: number
}

/** What a language evaluates: groups of a Measure, over a period, for some subjects or all. */
export interface Scope {
  readonly period: Period
  /** The groups of the Measure that are written in the language. */
  readonly groups: readonly GroupPlan[]
  /** The Measure, for languages that need its libraries. */
  readonly measure: JsonObject
  /** Type of the subjects of the Measure, which are counted if the basis is `boolean`. */
  readonly subjectType: string
  /** Only data of this subject, or of the subjects for which it stands, is read; data of all when absent. */
  readonly subject?: Subject | undefined
  /** Id of a Practitioner: only data of patients of this general practitioner is read. */
  readonly practitioner?: string | undefined
  /** Whether the members of each population are requested, too. */
  readonly listed?: boolean | undefined
  /** Whether the report is for one subject, with the evaluated resources and supporting evidence. */
  readonly individual?: boolean | undefined
  /** Whether the results of the clauses of its libraries are counted. */
  readonly coverage?: boolean | undefined
  /** Whether subjects whose evaluation fails count nowhere, instead of ending the report. */
  readonly continues?: boolean | undefined
  /** Values for parameters of the Measure's libraries, as a Parameters resource. */
  readonly parameters?: JsonObject | undefined
  /** A Library that states the versions of definitions which the Measure leaves open. Only a language that `manifest` says so for gets it. */
  readonly manifest?: JsonObject | undefined
  /** Data to report besides the populations, as far as it is in this language. */
  readonly supplements?: readonly Supplement[] | undefined
  /** Where results of subjects are kept; when absent, each evaluation is complete. A language that keeps none ignores it. */
  readonly kept?: KeptResults | undefined
  /** The subjects to evaluate; all when absent. Only a language that `divides` gets it. */
  readonly part?: SubjectsPart | undefined
}

/** The results of a language for `scope.groups`. */
export interface MeasureCounts {
  /** In the order of the groups. */
  readonly groups: readonly GroupCounts[]
  /** For each of `scope.supplements`, its values for the subjects of the initial populations. */
  readonly supplements?: readonly SupplementValues[] | undefined
  /** References to the resources that the evaluation of the only subject read. */
  readonly evaluatedResources?: readonly string[] | undefined
  /** The first subjects that could not be evaluated. If there are any, the counts are only reported if `scope.continues`. */
  readonly failures?: readonly SubjectFailure[] | undefined
  /** With `scope.continues`: the number of subjects that could not be evaluated, if there are any. */
  readonly failed?: number | undefined
  /** The results of the clauses of libraries, if `scope.coverage` requests them. */
  readonly coverage?: Coverage | undefined
  /** The counts of the subjects in `scope.part`, to which those of other parts can be added. */
  readonly sums?: MeasureSums | undefined
}

/** The values of supplemental data, or of a risk adjustment factor, for all subjects. */
export interface SupplementValues {
  /** Its values, with the number of subjects that have each. */
  readonly values: readonly { readonly value: StratumValue; readonly count: number }[]
  /** References to the resources that contain it. */
  readonly resources: readonly string[]
}

/** A subject whose evaluation failed. */
export interface SubjectFailure {
  /** Such as `Patient/p1`. */
  readonly subject: string
  readonly message: string
  /** The error from code of the host (an external function), for the host's log; no report names it. Absent in results of parts. */
  readonly cause?: unknown
}

/** Maximum number of failed subjects that a result names. */
export const MAX_FAILURES = 20

/** The members of each population of a group, in the group's order. */
export interface GroupCounts {
  readonly populations: readonly Tally[]
  /** For each stratifier, the strata into which it divides the populations. */
  readonly strata: readonly (readonly Stratum[])[]
  /** The score, if it is computed from observations; by default it is computed from the counts. */
  readonly score?: number | undefined
  /** The UCUM unit of the score; absent for a number. */
  readonly scoreUnit?: string | undefined
}

/** The counts of a group without criteria. */
export const NO_COUNTS: GroupCounts = { populations: [], strata: [] }

/** The members of a scope that affect which data is read. */
export interface RequirementScope extends Pick<Scope, 'groups' | 'manifest' | 'measure' | 'period' | 'subjectType' | 'supplements'> {
  /** Whether the data will be searched by subject. Criteria that find a subject's data in another way are refused then. */
  readonly bySubject?: boolean | undefined
}

/** A FHIR DataRequirement. */
export interface RequiredData extends Omit<DataRequirement, 'type'> {
  /** A resource type. */
  readonly type: string
}

/** A FHIR ParameterDefinition. */
export interface ParameterUse extends Omit<ParameterDefinition, 'type'> {
  /** A FHIR type, or `Any`. */
  readonly type: string
}

/** The data and definitions that criteria use. */
export interface Requirements {
  readonly data: readonly RequiredData[]
  readonly parameters: readonly ParameterUse[]
  /** Canonicals of the definitions that they use. */
  readonly dependsOn: readonly string[]
}

/** A language of criteria, or several that may be mixed in one group. */
export interface CriteriaLanguage {
  /** Values of `criteria.language`. */
  readonly names: readonly string[]
  /** Values of `criteria.language` for stratifiers that divide by values, and for their components; none when absent. */
  readonly valueNames?: readonly string[]
  /** Whether it evaluates supplemental data and supporting evidence, and has libraries. Default false. */
  readonly supplements?: boolean
  /** Whether it accepts values for parameters of libraries, and counts the results of their clauses. Default: as `supplements`. */
  readonly parameters?: boolean
  /** Whether it uses the versions that a manifest states. Default false. */
  readonly manifest?: boolean
  /** Whether it can evaluate strata, observations and supplemental data of populations with given `members`, which another language found. Default false. */
  readonly givenMembers?: boolean
  /** Whether it can evaluate a part of the subjects. Default false: the first part of a run counts for all then. */
  readonly divides?: boolean
  /**
   * Counts the populations of groups. For a Measure without groups, it only checks that the libraries of the Measure exist.
   *
   * @throws {OperationError} 422 for a criterion that cannot be evaluated, naming group and population.
   */
  readonly evaluate: (ctx: OperationContext, scope: Scope) => Promise<MeasureCounts>
  /**
   * Determines the data that groups use, without reading any: `$data-requirements` of a Measure. When absent, this is refused.
   *
   * @throws {OperationError} 422 for a criterion that cannot be evaluated.
   */
  readonly requirements?: (ctx: OperationContext, scope: RequirementScope) => Promise<Requirements>
  /**
   * Determines the data that a Library uses, for some of its definitions or all public ones: `$data-requirements` of a Library. When absent, this is
   * refused.
   *
   * @throws {OperationError} 422 for a Library that cannot be evaluated; `parameter-value` for a definition that it does not have.
   */
  readonly libraryRequirements?: (
    ctx: OperationContext,
    library: JsonObject,
    asked: { readonly definitions?: readonly string[] | undefined; readonly manifest?: JsonObject | undefined },
  ) => Promise<Requirements>
}

/** The check of the option `languages`. */
export const LANGUAGES: MemberKind = listOf(having('a criteria language', ['names', 'evaluate']))
