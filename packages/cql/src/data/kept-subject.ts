import type { FhirElement } from '../values/value.js'

/** What one retrieve finds of a subject whatever the period is, with the first and last moment of each resource in milliseconds since 1970. */
export interface KeptView {
  readonly found: readonly FhirElement[]
  /** In the order of `found`, not a number where it is not known; none where no dates are asked for. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** One subject with what was read of it, which is never changed. */
export interface KeptSubject {
  readonly id: string
  readonly subject: FhirElement
  /** For each type that is kept, by its place, what refers to the subject. */
  readonly resources: readonly (readonly FhirElement[])[]
  readonly bytes: number
  /** What retrieves find of it, by the places that they have in the views of the population, as far as that was asked for. */
  readonly views: (KeptView | undefined)[]
}
