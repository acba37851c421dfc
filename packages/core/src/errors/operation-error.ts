import type { OperationOutcome, OperationOutcomeIssue } from 'fhir/r4.js'
import { explanationExtension, type Explanation } from '../explain/index.js'

/** Every way an operation can fail. Adding a code is a minor release, removing one a major. */
export type ErrorCode = keyof typeof ERRORS

/** Maps each error code to its FHIR issue type (`issue`, from the R4 issue-type value set) and its HTTP status (`status`). */
export const ERRORS = {
  // Request
  'body-invalid': { status: 400, issue: 'invalid' },
  'body-structure': { status: 400, issue: 'structure' },
  'body-too-long': { status: 413, issue: 'too-long' },
  'url-too-long': { status: 414, issue: 'too-long' },
  'media-type-unsupported': { status: 415, issue: 'not-supported' },
  'not-acceptable': { status: 406, issue: 'not-supported' },
  'method-not-allowed': { status: 405, issue: 'not-supported' },
  'parameter-invalid': { status: 400, issue: 'invalid' },
  'parameter-required': { status: 400, issue: 'required' },
  'parameter-value': { status: 400, issue: 'value' },
  'parameter-too-long': { status: 400, issue: 'too-long' },
  'parameter-unsupported': { status: 400, issue: 'not-supported' },
  'source-ambiguous': { status: 400, issue: 'invalid' },
  'search-invalid': { status: 400, issue: 'invalid' },
  'search-unsupported': { status: 400, issue: 'not-supported' },
  throttled: { status: 429, issue: 'throttled' },
  // Caller
  'token-missing': { status: 401, issue: 'login' },
  'token-malformed': { status: 400, issue: 'invalid' },
  'token-invalid': { status: 401, issue: 'login' },
  forbidden: { status: 403, issue: 'forbidden' },
  // Target of the request
  'not-found': { status: 404, issue: 'not-found' },
  deleted: { status: 410, issue: 'deleted' },
  'profile-not-found': { status: 400, issue: 'not-found' },
  'definition-not-found': { status: 422, issue: 'not-found' },
  'content-not-found': { status: 422, issue: 'not-found' },
  'definition-invalid': { status: 422, issue: 'invalid' },
  'definition-required': { status: 422, issue: 'required' },
  'business-rule': { status: 422, issue: 'business-rule' },
  unprocessable: { status: 422, issue: 'processing' },
  'not-supported': { status: 422, issue: 'not-supported' },
  'too-costly': { status: 422, issue: 'too-costly' },
  'computation-timeout': { status: 422, issue: 'timeout' },
  'multiple-matches': { status: 412, issue: 'multiple-matches' },
  // Content
  'version-conflict': { status: 412, issue: 'conflict' },
  conflict: { status: 409, issue: 'conflict' },
  'resource-invalid': { status: 400, issue: 'structure' },
  'validation-failed': { status: 422, issue: 'invalid' },
  // Engines
  'regex-unsupported': { status: 422, issue: 'not-supported' },
  'fhirpath-invalid': { status: 422, issue: 'invalid' },
  'fhirpath-budget': { status: 422, issue: 'too-costly' },
  'bot-failed': { status: 422, issue: 'processing' },
  'bot-timeout': { status: 422, issue: 'timeout' },
  'bot-too-costly': { status: 422, issue: 'too-costly' },
  // Storage and other services
  aborted: { status: 503, issue: 'timeout' },
  'storage-unavailable': { status: 503, issue: 'transient' },
  'storage-timeout': { status: 503, issue: 'timeout' },
  'storage-full': { status: 503, issue: 'no-store' },
  'storage-locked': { status: 503, issue: 'lock-error' },
  'storage-damaged': { status: 503, issue: 'exception' },
  unavailable: { status: 503, issue: 'transient' },
  unforeseen: { status: 503, issue: 'exception' },
} as const

/** Details of an error besides its code and message. */
export interface ErrorDetail {
  /** FHIRPath of each offending element of the input. */
  readonly expression?: readonly string[]
  /** True if the OperationOutcome must not state `expression`, because the terminology ecosystem defines it without. */
  readonly omitsPlace?: boolean
  /** The error that caused this one. */
  readonly cause?: unknown
  /** Seconds after which the caller may try again (`Retry-After`). */
  readonly retryAfterSeconds?: number
  /** Code in the terminology ecosystem's tx-issue-type system, as `details.coding`. */
  readonly txIssue?: string
  /** Stable message id (extension operationoutcome-message-id). */
  readonly messageId?: string
  /** Overrides the issue type of the error code, for the few failures whose type depends on the case. */
  readonly issue?: OperationOutcomeIssue['code']
  /** Technical details for operators and, where allowed, owners; never set from request data. */
  readonly diagnostics?: string
  /** Issues that this error summarizes; reported after the error itself. */
  readonly issues?: readonly OutcomeIssue[]
  /**
   * The name that was not found, for programs that suggest similar names: a canonical (with version, if one was given) or an id, with the resource type as
   * `kind`; or a code of a known code system, with the kind `code`.
   */
  readonly missing?: { readonly kind: string; readonly name: string }
  /** The steps before the failure, if the caller asked for an explanation. */
  readonly explanation?: Explanation
}

/**
 * The error that every operation and adapter throws. Switch on `code`, never on `message`. `instanceof` is also true for errors of another copy of this
 * package in the same process.
 */
export class OperationError extends Error {
  override readonly name: string = 'OperationError'
  readonly code: ErrorCode
  /** FHIRPath of each offending element of the input, empty when none applies. */
  readonly expression: readonly string[]
  readonly detail: ErrorDetail

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, 'cause' in detail ? { cause: detail.cause } : undefined)
    this.code = code
    this.expression = detail.expression ?? []
    this.detail = detail
  }

  static {
    // `instanceof` tests members, because an application and its packages may each load their own copy of this class. Subclasses are tested as usual.
    const hasInstance = function (this: unknown, value: unknown): boolean {
      if (this !== OperationError) return Function.prototype[Symbol.hasInstance].call(this, value)
      // The Web Cryptography API has errors with the same name.
      return value instanceof Error && value.name === 'OperationError' && 'detail' in value
    }
    Object.defineProperty(this, Symbol.hasInstance, { value: hasInstance })
  }
}

/**
 * True for a failure that is due to the input or to stored content, and would be the same at the next attempt. False for a timeout, overload or an
 * unavailable storage, which say nothing about the content.
 */
export function isAboutContent(error: unknown): error is OperationError {
  return error instanceof OperationError && !(ERRORS[error.code].status === 503 || PASSING.has(error.code))
}

const PASSING: ReadonlySet<ErrorCode> = new Set(['computation-timeout', 'throttled'])

const MAX_QUOTED = 100

/** Quotes text of a caller for a message: JSON-escaped, in single quotes, at most 100 characters. */
export function quoted(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED - 1).toWellFormed()}…` : text.toWellFormed()
  return `'${JSON.stringify(cut).slice(1, -1)}'`
}

/**
 * Escapes control characters and line separators as JSON does (`\n`, `\u001b`), for text that is shown on one line, such as in a log or a table: they
 * could start a line of their own, or control the terminal.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, escaped)
}

/** JSON does not escape control characters beyond U+001F. */
function escaped(char: string): string {
  return char < ' ' ? JSON.stringify(char).slice(1, -1) : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Severity of an issue, from the R4 issue-severity value set. */
export type IssueSeverity = 'fatal' | 'error' | 'warning' | 'information'

/** An issue of an OperationOutcome before it is written as FHIR. `code` is an R4 issue-type. */
export interface OutcomeIssue {
  readonly severity: IssueSeverity
  readonly code: OperationOutcomeIssue['code']
  readonly text: string
  readonly expression?: readonly string[]
  readonly txIssue?: string
  readonly messageId?: string
  readonly diagnostics?: string
}

/** Checks that a required argument is given, for callers in plain JavaScript. @throws {OperationError} `parameter-required` when it is missing. */
export function checkGiven(name: string, value: unknown): void {
  if (value === undefined || value === null) throw new OperationError('parameter-required', `${name} is missing.`, { expression: [name] })
}

/** As `checkGiven`, for a text: not the bytes of one, for example. @throws {OperationError} also `parameter-value` for anything else. */
export function checkText(name: string, value: unknown): void {
  checkGiven(name, value)
  if (typeof value !== 'string') throw new OperationError('parameter-value', `${name} must be a text.`, { expression: [name] })
}

/**
 * Checks the type of an argument by its members, for callers in plain JavaScript, who often pass a promise instead.
 *
 * @throws {OperationError} `parameter-required` when it is missing, `parameter-value` when it lacks one of these members.
 */
export function checkHas(name: string, value: unknown, members: readonly PropertyKey[]): void {
  checkGiven(name, value)
  const given: object = Object(value)
  for (const member of members) if (!(member in given)) throw notIt(name, given, member)
}

function notIt(name: string, given: object, lacking: PropertyKey): OperationError {
  const reason = 'then' in given ? 'is a promise that was not awaited' : `has no ${String(lacking)}`
  return new OperationError('parameter-value', `${name} ${reason}.`, { expression: [name] })
}

/**
 * Checks the result that is passed to a function which converts it, for callers in plain JavaScript, who often pass a promise instead.
 *
 * @param maker Name of the function whose result is expected.
 * @param member A member that every such result has.
 * @throws {OperationError} as `checkHas`.
 */
export function checkResult(maker: string, value: unknown, member: string): void {
  checkHas(`the result of ${maker}`, value, [member])
}

const TX_ISSUE_TYPE = 'http://hl7.org/fhir/tools/CodeSystem/tx-issue-type'
const MESSAGE_ID = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-message-id'

/** Creates the OperationOutcome of a success without further content: id `ok`, one issue `All OK`. */
export function outcomeOk(): OperationOutcome {
  return {
    resourceType: 'OperationOutcome',
    id: 'ok',
    issue: [{ severity: 'information', code: 'informational', details: { text: 'All OK' } }],
  }
}

/**
 * Creates the OperationOutcome that describes an error to the caller.
 *
 * @param id Generated identifier of the outcome.
 * @throws {TypeError} for any other error, because its message may not be meant for callers.
 */
export function outcomeOf(error: OperationError, id: string): OperationOutcome {
  if (!(error instanceof OperationError)) throw new TypeError('outcomeOf takes an OperationError: other messages may not be for callers.')
  const { txIssue, messageId, diagnostics, issue, issues = [], explanation, omitsPlace } = error.detail
  const extension = explanationExtension(explanation)
  return {
    resourceType: 'OperationOutcome',
    id,
    ...(extension.length > 0 && { extension }),
    issue: [
      writeIssue({
        severity: 'error',
        code: issue ?? ERRORS[error.code].issue,
        text: error.message,
        ...(omitsPlace !== true && placesIn(error)),
        ...(txIssue !== undefined && { txIssue }),
        ...(messageId !== undefined && { messageId }),
        ...(diagnostics !== undefined && { diagnostics }),
      }),
      ...issues.map(writeIssue),
    ],
  }
}

/** Longer than any path of elements, except one with a name that the caller chose. */
const MAX_PLACE = 200

function shortPlace(place: string): string {
  return place.length > MAX_PLACE ? `${place.slice(0, MAX_PLACE - 1).toWellFormed()}…` : place.toWellFormed()
}

/** Characters that FHIR strings must not have. */
const CONTROL = /[\0-\x08\v\f\x0e-\x1f]/g

/** Returns the expressions of an error as valid FHIR strings: parameter names come from the caller and may be blank or have control characters. */
function placesIn({ expression }: OperationError): { readonly expression?: string[] } {
  const places = expression.map((place) => shortPlace(place).replaceAll(CONTROL, '\uFFFD')).filter((place) => place.trim() !== '')
  return places.length > 0 ? { expression: places } : {}
}

/** Writes one issue as FHIR. */
export function writeIssue(issue: OutcomeIssue): OperationOutcomeIssue {
  return {
    ...(issue.messageId !== undefined && { extension: [{ url: MESSAGE_ID, valueString: issue.messageId }] }),
    severity: issue.severity,
    code: issue.code,
    details: {
      ...(issue.txIssue !== undefined && { coding: [{ system: TX_ISSUE_TYPE, code: issue.txIssue }] }),
      text: issue.text,
    },
    ...(issue.diagnostics !== undefined && { diagnostics: issue.diagnostics }),
    ...(issue.expression !== undefined && { expression: [...issue.expression] }),
  }
}
