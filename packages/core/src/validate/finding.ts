import type { OutcomeIssue } from '../errors/index.js'
import type { IssueSeverity } from '../errors/index.js'
import type { FindingKind } from './finding-kinds.js'

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
  /** From 1; only when the caller asked for places and gave a text. */
  readonly line?: number
  /** From 1, in UTF-16 code units. */
  readonly column?: number
}
