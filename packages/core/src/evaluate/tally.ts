import type { Extension } from 'fhir/r4.js'
import type { JsonObject } from '../json/index.js'

/** What belongs to a population. */
export interface Tally {
  readonly count: number
  /** References (`Patient/p1`) to what belongs to it, where they were asked for; of what is not a resource, that of its subject, `#` and its value. */
  readonly members?: readonly string[]
  /** For each supporting evidence of the population, its values as extensions `value`, in a report of one subject. */
  readonly evidence?: readonly (readonly Extension[])[]
}

/** A stratum of a group: what of its populations has a value, or satisfies a criterion, in common. */
export interface Stratum {
  /** What its members have in common, one for each criterion of the stratifier; absent where these satisfy a criterion. */
  readonly values?: readonly StratumValue[]
  /** What of each population of the group lies in it, in their order. */
  readonly populations: readonly Tally[]
  /** The score, where observations make it; default: that of the counts. */
  readonly score?: number | undefined
  /** The UCUM unit of the score; absent for a number. */
  readonly scoreUnit?: string | undefined
}

/** A value that divides populations. */
export interface StratumValue {
  /** A CodeableConcept; values that are not codes are its text. */
  readonly concept: JsonObject
  /** The Quantity that the text describes. */
  readonly quantity?: JsonObject
}
