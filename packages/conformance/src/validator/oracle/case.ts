import type { JsonObject } from 'fhir-ops/internal/json'

/** What both validators are asked: a resource, and the profile that it is validated against, where there is one. */
export interface Case {
  readonly text: string
  readonly profile?: JsonObject
}

/** A change of a resource, by its name and number; or a profile, by its seed. */
export interface Run {
  readonly change: string
  readonly number: number
  readonly asked: Case
}

/** A resource and what was done to it. What is compared of a run is what it has beyond the resource as it was. */
export interface Origin {
  readonly name: string
  readonly base: Case
  readonly runs: readonly Run[]
}
