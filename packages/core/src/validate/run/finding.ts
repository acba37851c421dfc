import type { IssueSeverity, OutcomeIssue } from '../../errors/index.js'
import type { FindingKind } from '../finding-kinds.js'
import type { JsonPatch } from './patch.js'

/** One thing that validation has to say. */
export interface Finding {
  /** Names the kind of finding; it does not depend on the wording, and codes may switch on it. */
  readonly kind: FindingKind
  readonly severity: IssueSeverity
  /** R4 issue type. */
  readonly code: OutcomeIssue['code']
  readonly text: string
  /** FHIRPath of the element, with an index on all that repeats: `Patient.name[0].family`. Absent when there is no resource to speak of. */
  readonly expression?: string
  /** Canonical of the profile, extension or questionnaire whose rule it is; absent for rules of FHIR itself. */
  readonly profile?: string
  /** A question or sentence that leads on: `Did you mean 'birthDate'?`. */
  readonly hint?: string
  /**
   * What to change in the resource, where there is no doubt. Of several, those of later places come first when they are to be applied to
   * one copy, so that indexes keep their meaning.
   */
  readonly fix?: JsonPatch
  /** From 1; only when the caller asked for places and gave a text. */
  readonly line?: number
  /** From 1, in UTF-16 code units. */
  readonly column?: number
}
