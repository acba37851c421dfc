import type { Explained } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import type { ValidationIssue } from './validation-issue.js'

/** The answer to a validation. */
export interface Validation extends Explained {
  readonly result: boolean
  readonly issues: readonly ValidationIssue[]
  /** The code, as it was given; of a CodeableConcept the first coding that is good. */
  readonly code?: string | undefined
  readonly system?: string | undefined
  /** Version of the code system that was used. */
  readonly version?: string | undefined
  readonly display?: string | undefined
  readonly inactive?: boolean | undefined
  /** `retired`, `deprecated` ... for a code that should no longer be used. */
  readonly status?: string | undefined
  /** The code as the code system writes it, when it was given otherwise. */
  readonly normalizedCode?: string | undefined
  /** The CodeableConcept that was validated. */
  readonly concept?: JsonObject | undefined
  /** Code systems, with or without version, that are not known. */
  readonly unknownSystems: readonly string[]
  /** True when the code might be good but for them. */
  readonly causedByUnknown: boolean
}
