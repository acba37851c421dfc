import type { JsonObject } from 'fhir-ops/internal/json'

/** A case for both validators: a resource, and optionally a profile against which it is validated. */
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

/** A resource and changes to it. Only the findings of a run that the original resource does not have are compared. */
export interface Origin {
  readonly name: string
  readonly base: Case
  readonly runs: readonly Run[]
}
