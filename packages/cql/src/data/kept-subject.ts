import type { FhirElement } from '../values/value.js'

/** One subject with what was read of it. It is never changed. */
export interface KeptSubject {
  readonly id: string
  readonly subject: FhirElement
  /** For each type that is kept, by its place, what refers to the subject. */
  readonly resources: readonly (readonly FhirElement[])[]
  readonly bytes: number
}

/** All subjects of a population, in the order of the storage. */
export interface KeptPopulation {
  readonly subjects: readonly KeptSubject[]
  /** Where in `resources` a type is. */
  readonly places: ReadonlyMap<string, number>
}
