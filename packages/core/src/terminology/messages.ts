import type { OperationOutcomeIssue } from 'fhir/r4.js'
import { quoted, type IssueSeverity, ERRORS, OperationError, type ErrorCode, type ErrorDetail } from '../errors/index.js'

/** Severity, issue type, code in the system tx-issue-type, and text with placeholders in braces. */
export type MessageRow = readonly [IssueSeverity, OperationOutcomeIssue['code'], string | undefined, string]

/**
 * Error messages of terminology operations by their stable ids, in the wording of the terminology ecosystem. Messages about validated codes are in
 * `validate-code`.
 *
 * @see https://build.fhir.org/ig/HL7/fhir-tx-ecosystem-ig/
 */
export const MESSAGES = {
  UNKNOWN_CODESYSTEM: ['error', 'not-found', 'not-found', "A definition for CodeSystem '{system}' could not be found, so {consequence}"],
  UNKNOWN_CODESYSTEM_EXP: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' could not be found, so {consequence}",
  ],
  UNKNOWN_CODESYSTEM_VERSION: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' version '{version}' could not be found, so {consequence}. Valid versions: {versions}",
  ],
  UNKNOWN_CODESYSTEM_VERSION_NONE: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' version '{version}' could not be found, so {consequence}. No versions of this code system are known",
  ],
  UNKNOWN_CODESYSTEM_VERSION_EXP: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' version '{version}' could not be found, so {consequence}. Valid versions: {versions}",
  ],
  UNKNOWN_CODESYSTEM_VERSION_EXP_NONE: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' version '{version}' could not be found, so {consequence}. No versions of this code system are known",
  ],
  VALUESET_VERSION_CHECK: [
    'error',
    'exception',
    'version-error',
    "The version '{version}' is not allowed for system '{system}': required to be '{required}' by a version-check parameter",
  ],
  VALUESET_IMPORT_VERSION_CHECK: [
    'error',
    'exception',
    'version-error',
    "The version '{version}' is not allowed for value set '{valueSet}': required to be '{required}' by a version-check parameter",
  ],
  Unable_to_resolve_value_Set_: ['error', 'not-found', 'not-found', "A definition for the value Set '{valueSet}' could not be found"],
  VS_EXP_IMPORT_UNK: ['error', 'not-found', 'not-found', "Unable to find included value set '{valueSet}'"],
  VS_EXP_IMPORT_UNK_PINNED: ['error', 'not-found', 'not-found', "Unable to find included value set '{valueSet}' version '{version}'"],
  VALUESET_CIRCULAR_REFERENCE: [
    'error',
    'processing',
    'vs-invalid',
    'Found a circularity pointing to {valueSet} processing ValueSet with pathway [{path}]',
  ],
  VALUESET_TOO_COSTLY: ['error', 'too-costly', undefined, "The value set '{valueSet}' expansion has too many codes to produce (>{limit})"],
  CODESYSTEM_NOT_ENUMERABLE: [
    'error',
    'not-supported',
    undefined,
    "The code system '{system}' cannot be expanded because its codes cannot be iterated or enumerated in any meaningful sense",
  ],
  VALUESET_SUPPLEMENT_MISSING: ['error', 'not-found', 'not-found', 'Required supplement not found: {supplement}{reason}'],
  UNABLE_TO_HANDLE_SYSTEM_FILTER_WITH_NO_VALUE: [
    'error',
    'invalid',
    'vs-invalid',
    'The system {system} filter with property = {property}, op = {op} has no value',
  ],
  VALUESET_BAD_FILTER_VALUE: [
    'error',
    'invalid',
    'vs-invalid',
    "The value for a filter based on property '{property}' must be {wanted}, not '{value}'",
  ],
  INVALID_ECL: ['error', 'invalid', 'vs-invalid', "Invalid ECL expression '{ecl}': {reason}"],
  FILTER_NOT_UNDERSTOOD: [
    'error',
    'not-supported',
    'vs-invalid',
    "The filter '{property} {op} {value}' from the value set {valueSet} was not understood in the context of {system}",
  ],
  INVALID_DISPLAY_NAME: ['error', 'processing', 'invalid-display', "Invalid displayLanguage: '{value}'"],
} as const

/** Stable id of a message. */
export type MessageId = keyof typeof MESSAGES

/** The values of placeholders. */
export type MessageValues = Readonly<Record<string, string>>

/** Placeholders whose values are lists of already escaped pieces. */
const LISTS: ReadonlySet<string> = new Set(['choices', 'coding', 'languages', 'path', 'reason', 'systems', 'versions'])

/** Formats a message. Values are escaped and shortened like all text of callers. */
export function messageText([, , , text]: MessageRow, values: MessageValues): string {
  return text.replace(/\{([a-zA-Z]+)\}/g, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? (values[name] ?? '') : ''
    return LISTS.has(name) ? value : escaped(value)
  })
}

/** Escapes text of a caller for a message, at most 100 characters. */
export function escaped(text: string): string {
  return quoted(text).slice(1, -1)
}

/** Escapes text for a message without shortening it; for text that does not come only from the caller. */
export function escapedWhole(text: string): string {
  return JSON.stringify(text.toWellFormed()).slice(1, -1)
}

/** Options of `refusal`: details of the error, and its code if that does not follow from the message. */
export interface RefusalOptions extends Pick<ErrorDetail, 'expression' | 'omitsPlace' | 'missing' | 'diagnostics'> {
  readonly code?: ErrorCode
}

/** Error codes by issue type of a message. */
const CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ['not-found', 'content-not-found'],
  ['invalid', 'definition-invalid'],
  ['too-costly', 'too-costly'],
  ['not-supported', 'not-supported'],
])

/** Creates the error for an operation that cannot be performed, with a text from the table of messages. */
export function refusal(id: MessageId, values: MessageValues, options: RefusalOptions = {}): OperationError {
  const row = MESSAGES[id]
  const [, issue, type] = row
  const { code = CODES.get(issue) ?? 'unprocessable', ...detail } = options
  return new OperationError(code, messageText(row, values), {
    messageId: id,
    ...(type !== undefined && { txIssue: type }),
    ...(ERRORS[code].issue !== issue && { issue }),
    ...detail,
  })
}
