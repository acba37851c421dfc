import type { IssueSeverity, OutcomeIssue } from '../../errors/index.js'
import type { JsonPatch } from './patch.js'

/** One finding of a validation. */
export interface Finding {
  /** The kind of finding: one of `FINDING_KINDS`, or of a host's own rules. It does not depend on the wording of `text`. */
  readonly kind: string
  readonly severity: IssueSeverity
  /** R4 issue type. */
  readonly code: OutcomeIssue['code']
  /** What is wrong, in a sentence. */
  readonly text: string
  /** FHIRPath of the element, with an index on every repeating element: `Patient.name[0].family`. Absent when the input is not a resource. */
  readonly expression?: string
  /** Canonical of the profile, extension or questionnaire that states the rule; absent for rules of FHIR itself. */
  readonly profile?: string
  /** A question or sentence that helps to correct the resource: `Did you mean 'birthDate'?`. */
  readonly hint?: string
  /**
   * A change to the resource that corrects the finding, present when only one is possible. To apply several to one copy, start with the last, so that
   * indexes stay valid.
   */
  readonly fix?: JsonPatch
  /** From 1; present only when the caller requested places and supplied a text. */
  readonly line?: number
  /** From 1, in UTF-16 code units. */
  readonly column?: number
}

/** A kind of finding, declared next to the rule that reports it. Adding a kind is a minor release, removing one a major. */
export interface FindingDefinition {
  /** The stable name. */
  readonly kind: string
  /** Usual severity; a report may have another. */
  readonly severity: IssueSeverity
  /** Usual issue type of R4; a report may have another. */
  readonly code: OutcomeIssue['code']
  /** What to do about such findings, in a sentence. */
  readonly advice: string
  /** True for findings about the JSON of an element, which do not bear on the profiles that it conforms to. */
  readonly isOfForm?: true
}

/** Declares a kind of finding: its name, usual severity and issue type, and what to do about it. */
export function defineFinding(
  kind: string,
  severity: FindingDefinition['severity'],
  code: FindingDefinition['code'],
  advice: string,
): FindingDefinition {
  return { kind, severity, code, advice }
}

/** Like `defineFinding`, for a kind about the JSON of an element. */
export function defineFormFinding(...definition: Parameters<typeof defineFinding>): FindingDefinition {
  return { ...defineFinding(...definition), isOfForm: true }
}

/** Creates a finding with the usual severity and issue type of its kind, for findings that no rule reports on a node. */
export function findingOf({ kind, severity, code }: FindingDefinition, rest: Omit<Finding, 'kind' | 'severity' | 'code'>): Finding {
  return { kind, severity, code, ...rest }
}

/** True for findings that make a resource invalid. */
export function isError({ severity }: Pick<Finding, 'severity'>): boolean {
  return severity === 'error' || severity === 'fatal'
}
