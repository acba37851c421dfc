import type { OperationOutcomeIssue } from 'fhir/r4.js'

/** How bad an issue is, from the R4 issue-severity value set. */
export type IssueSeverity = 'fatal' | 'error' | 'warning' | 'information'

/** One issue of an OperationOutcome before it is written as FHIR. `code` is an R4 issue-type. */
export interface OutcomeIssue {
  readonly severity: IssueSeverity
  readonly code: OperationOutcomeIssue['code']
  readonly text: string
  readonly expression?: readonly string[]
  readonly txIssue?: string
  readonly messageId?: string
  readonly diagnostics?: string
}
