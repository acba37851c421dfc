import type { StratumValue } from '../tally.js'

/** What was observed: a number, or an amount in a UCUM unit. */
export type Amount = number | { readonly value: number; readonly unit: string }

/** The counts of some subjects in the populations of a group, or of a stratum of it, as plain data. */
export interface PopulationSums {
  /** For each population, how many belong to it. */
  readonly counts: readonly number[]
  /** For each population, the references of what belongs to it, where they are asked for. */
  readonly members?: readonly (readonly string[])[] | undefined
  /** For each population, its observations. */
  readonly observations: readonly (readonly Amount[])[]
}

/** The counts of some subjects in a stratum. */
export interface SumOfStratum extends PopulationSums {
  /** what distinguishes it from the others of its stratifier. */
  readonly key: string
  readonly values?: readonly StratumValue[] | undefined
  /** The first subject in it by id, and its place among the strata of that subject, by which strata are sorted. */
  readonly first: FirstSubject
}

/** Who comes first, and at which place of what it has. */
export interface FirstSubject {
  readonly subject: string
  readonly place: number
}

/** The counts of some subjects in a group: plain data, to which the counts of other subjects can be added. */
export interface GroupSum extends PopulationSums {
  /** For each stratifier. */
  readonly strata: readonly (readonly SumOfStratum[])[]
}

/** A value of supplemental data, and how many subjects have it. */
export interface SumOfValue {
  /** what distinguishes it from other values. */
  readonly key: string
  readonly value: StratumValue
  readonly count: number
  /** The first subject that has it by id, and its place among the values of that subject, by which values are sorted. */
  readonly first: FirstSubject
}

/** The counts of some subjects in the groups and the supplemental data of a Measure. */
export interface MeasureSums {
  readonly groups: readonly GroupSum[]
  /** For each supplement. */
  readonly supplements: readonly (readonly SumOfValue[])[]
  /** Which subjects were counted by searches, in words that are the same where the same were: only the first part has them in its sums. */
  readonly searched: string
}

/** Whether one comes before the other: strata and values are in the order of the first subjects that have them. */
export function isBefore(one: FirstSubject, other: FirstSubject): boolean {
  return one.subject < other.subject || (one.subject === other.subject && one.place < other.place)
}

/** The order of texts by code units, which is the same everywhere. */
export function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
