import type { ValidateResult } from 'fhir-ops/validate'
import type { Source } from '../load/sources.js'

/** A resource and what validation said about it; lines are those of the file. */
export interface Checked {
  readonly source: Source
  readonly result: ValidateResult
}

/** Tells what validation said. */
export interface Report {
  readonly add: (checked: Checked) => void
  /** After the last. */
  readonly end: () => void
}
