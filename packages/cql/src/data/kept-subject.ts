import type { FhirElement } from '../values/value.js'

/** The resources that a retrieve finds for a subject in any period, with the first and last moment of each in milliseconds since 1970. */
export interface KeptView {
  readonly found: readonly FhirElement[]
  /** In the order of `found`; `NaN` if unknown; empty if the retrieve has no condition on dates. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** One subject with its resources, which never change. */
export interface KeptSubject {
  readonly id: string
  readonly subject: FhirElement
  /** For each kept type, by its index, the resources that refer to the subject. */
  readonly resources: readonly (readonly FhirElement[])[]
  readonly bytes: number
  /** Results of retrieves that were requested, by their index in the views of the population. */
  readonly views: (KeptView | undefined)[]
}
