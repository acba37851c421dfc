import type { Extension } from 'fhir/r4.js'
import { objectsAt, type JsonObject } from '../../json/index.js'

/** An observation: a number, or an amount in a UCUM unit. */
export type Amount = number | { readonly value: number; readonly unit: string }

/** The sums of some subjects for the populations of a group, or of one of its strata, as plain data. */
export interface PopulationSums {
  /** For each population, the number of its members. */
  readonly counts: readonly number[]
  /** For each population, the references of its members, if they are requested. */
  readonly members?: readonly (readonly string[])[] | undefined
  /** For each population, its observations. */
  readonly observations: readonly (readonly Amount[])[]
}

/** The sums of some subjects for a stratum. */
export interface SumOfStratum extends PopulationSums {
  /** Distinguishes it from the other strata of its stratifier. */
  readonly key: string
  readonly values?: readonly StratumValue[] | undefined
  /** The first of its subjects by id, and its place among the strata of that subject. Strata are sorted by this. */
  readonly first: FirstSubject
}

/** The first subject, and a place among the strata or values of that subject. */
export interface FirstSubject {
  readonly subject: string
  readonly place: number
}

/** The sums of some subjects for a group: plain data, to which the sums of other subjects can be added. */
export interface GroupSum extends PopulationSums {
  /** For each stratifier. */
  readonly strata: readonly (readonly SumOfStratum[])[]
}

/** A value of supplemental data, and how many subjects have it. */
export interface SumOfValue {
  /** Distinguishes it from other values. */
  readonly key: string
  readonly value: StratumValue
  readonly count: number
  /** The first subject by id that has it, and its place among the values of that subject. Values are sorted by this. */
  readonly first: FirstSubject
}

/** The sums of some subjects for the groups and the supplemental data of a Measure. */
export interface MeasureSums {
  readonly groups: readonly GroupSum[]
  /** For each supplement. */
  readonly supplements: readonly (readonly SumOfValue[])[]
  /** A text that identifies which subjects were counted by searches; it is equal if these are the same. Only the first part has them in its sums. */
  readonly searched: string
}

/** Whether one is before the other. Strata and values are in the order of the first subjects that have them. */
export function isBefore(one: FirstSubject, other: FirstSubject): boolean {
  return one.subject < other.subject || (one.subject === other.subject && one.place < other.place)
}

/** Compares texts by code units, which gives the same order everywhere. */
export function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

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

/** A text that is the same for values with the same codes, whatever their displays, texts and versions (R, Equivalent), and otherwise only for equal ones. */
export function stratumKey(value: StratumValue): string {
  const codings = objectsAt(value.concept, 'coding')
  if (codings.length === 0 || codings.some(({ code }) => code === undefined)) return JSON.stringify(value)
  const codes = new Set(codings.map(({ system = '', code }) => JSON.stringify([system, code])))
  return JSON.stringify([...codes].toSorted())
}
