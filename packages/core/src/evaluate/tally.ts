import type { Extension } from 'fhir/r4.js'
import type { JsonObject } from '../json/index.js'

/** The members of a population. */
export interface Tally {
  readonly count: number
  /** References (`Patient/p1`) to the members, if they are requested. For a member that is not a resource, the reference of its subject, `#` and its value. */
  readonly members?: readonly string[]
  /** For each supporting evidence of the population, its values as extensions `value`; only in a report of one subject. */
  readonly evidence?: readonly (readonly Extension[])[]
}

/** A stratum of a group: the members of its populations that have a value in common, or satisfy a criterion. */
export interface Stratum {
  /** The common values, one for each criterion of the stratifier; absent when the members satisfy a criterion. */
  readonly values?: readonly StratumValue[]
  /** The members of each population of the group in this stratum, in the order of the populations. */
  readonly populations: readonly Tally[]
  /** The score, if it is computed from observations; by default it is computed from the counts. */
  readonly score?: number | undefined
  /** The UCUM unit of the score; absent for a number. */
  readonly scoreUnit?: string | undefined
}

/** A value that divides populations. */
export interface StratumValue {
  /** A CodeableConcept; its text is the value if that is not a code. */
  readonly concept: JsonObject
  /** The Quantity that the text describes. */
  readonly quantity?: JsonObject
}
