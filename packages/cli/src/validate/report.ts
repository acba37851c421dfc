import type { ValidateResult } from 'fhir-ops/validate'
import type { Source } from '../load/sources.js'

/** What validation said about a resource; lines are those of the file. */
export interface ResourceResult extends ValidateResult {
  /** The profiles that the resource claims; its type when it claims none, `unreadable` when it has none. */
  readonly profiles: readonly string[]
}

/** A resource and what validation said about it. */
export interface Checked {
  readonly source: Source
  readonly result: ResourceResult
}

/** Tells what validation said. */
export interface Report {
  readonly add: (checked: Checked) => void
  /** After the last. */
  readonly end: () => void
}
