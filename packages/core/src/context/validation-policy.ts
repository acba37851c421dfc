import { OperationError, quoted, type IssueSeverity } from '../errors/index.js'

/** What a host has decided about findings of validation, for every call. */
export interface ValidationPolicy {
  /** Findings that are known and accepted for a time. */
  readonly suppress?: readonly Suppression[] | undefined
  /** Severity of constraints that are best practices. Default `off`: they are not checked. */
  readonly bestPractice?: BestPractice | undefined
  /** What is an error though FHIR allows it. Default: nothing. */
  readonly refuse?: readonly Refusal[] | undefined
  /** The least severity that is told. Default `information`. */
  readonly level?: FindingLevel | undefined
}

/** A finding that is not told, for a reason, up to a day. */
export interface Suppression {
  /** Kind of the finding, `extension-unknown`; of one constraint `invariant:dom-6`. */
  readonly id: string
  /** FHIRPath without indexes, `Patient.contact`: the element and what is inside. Anywhere when absent. */
  readonly at?: string | undefined
  /** Why the finding is accepted. */
  readonly reason: string
  /** The last day, `YYYY-MM-DD` in UTC. From the next one on the finding is told again, and that the suppression has expired. */
  readonly until: string
}

/** How best practices are told. */
export type BestPractice = 'off' | Exclude<IssueSeverity, 'fatal'>

/** `markup`: tags of HTML in texts and markdown. `examples`: URLs of hosts that are meant for examples. */
export type Refusal = 'markup' | 'examples'

/** Findings of this severity and above. */
export type FindingLevel = Exclude<IssueSeverity, 'fatal'>

/**
 * Checks that a suppression says why and how long it holds. What it is about is for the validation to know.
 *
 * @throws {OperationError} `parameter-value` when it does not.
 */
export function checkReasonAndDay({ id, reason, until }: Suppression): void {
  if (reason.trim() === '') throw new OperationError('parameter-value', `The suppression of ${quoted(id)} needs a reason.`)
  if (!/^\d{4}-\d\d-\d\d$/.test(until) || Number.isNaN(Date.parse(until))) {
    throw new OperationError(
      'parameter-value',
      `The suppression of ${quoted(id)} needs a last day such as 2030-12-31, not ${quoted(until)}.`,
    )
  }
}
