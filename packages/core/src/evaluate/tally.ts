import type { Extension } from 'fhir/r4.js'

/** What belongs to a population. */
export interface Tally {
  readonly count: number
  /** References (`Patient/p1`) to what belongs to it, where they were asked for; of what is not a resource, that of its subject, `#` and its value. */
  readonly members?: readonly string[]
  /** For each supporting evidence of the population, its values as extensions `value`, in a report of one subject. */
  readonly evidence?: readonly (readonly Extension[])[]
}
