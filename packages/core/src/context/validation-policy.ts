import { OperationError, quoted, type IssueSeverity } from '../errors/index.js'
import { inputShape, listOf, needed, objectWith, oneOf, TEXT, type InputShape } from '../input/index.js'

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

/** What each member of a policy must be. */
export const VALIDATION_SHAPE: InputShape = inputShape<ValidationPolicy>({
  suppress: listOf(objectWith('a suppression', { id: needed(TEXT), at: TEXT, reason: needed(TEXT), until: needed(TEXT) })),
  bestPractice: oneOf('off', 'error', 'warning', 'information'),
  refuse: listOf(oneOf('markup', 'examples')),
  level: oneOf('error', 'warning', 'information'),
})

/** Says, in a sentence, why a suppression is not complete; `undefined` when it has a reason and a last day. What it is about is not checked. */
export function suppressionProblem({ id, reason, until }: Suppression): string | undefined {
  if (reason.trim() === '') return `The suppression of ${quoted(id)} needs a reason.`
  if (/^\d{4}-\d\d-\d\d$/.test(until) && !Number.isNaN(Date.parse(until))) return undefined
  return `The suppression of ${quoted(id)} needs a last day such as 2030-12-31, not ${quoted(until)}.`
}

/** @throws {OperationError} `parameter-value` when a suppression lacks a reason or a last day. */
export function checkReasonAndDay(suppression: Suppression): void {
  const problem = suppressionProblem(suppression)
  if (problem !== undefined) throw new OperationError('parameter-value', problem)
}
