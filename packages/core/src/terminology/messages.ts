import type { OperationOutcomeIssue } from 'fhir/r4.js'
import { quoted, type IssueSeverity } from '../errors/index.js'

/** Severity, issue type, code in the system tx-issue-type, and text with the places in braces that are filled in. */
type MessageRow = readonly [IssueSeverity, OperationOutcomeIssue['code'], string | undefined, string]

/**
 * Every message of the terminology operations by its stable id, as the terminology ecosystem words them.
 *
 * @see https://build.fhir.org/ig/HL7/fhir-tx-ecosystem-ig/
 */
const MESSAGES = {
  None_of_the_provided_codes_are_in_the_value_set_one: [
    'error',
    'code-invalid',
    'not-in-vs',
    "The provided code '{coding}' was not found in the value set '{valueSet}'",
  ],
  TX_GENERAL_CC_ERROR_MESSAGE: ['error', 'code-invalid', 'not-in-vs', "No valid coding was found for the value set '{valueSet}'"],
  Unknown_Code_in_Version: [
    'error',
    'code-invalid',
    'invalid-code',
    "Unknown code '{code}' in the CodeSystem '{system}' version '{version}'",
  ],
  Unknown_Code_in: ['error', 'code-invalid', 'invalid-code', "Unknown code '{code}' in the CodeSystem '{system}'"],
  UNKNOWN_CODE_IN_FRAGMENT: [
    'warning',
    'code-invalid',
    'invalid-code',
    "Unknown Code '{code}' in the CodeSystem '{system}' version '{version}' - note that the code system is labeled as a fragment, so the code may be valid in some other fragment",
  ],
  UNKNOWN_CODESYSTEM: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' could not be found, so the code cannot be validated",
  ],
  UNKNOWN_CODESYSTEM_EXP: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' could not be found, so the value set cannot be expanded",
  ],
  UNKNOWN_CODESYSTEM_VERSION: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' version '{version}' could not be found, so the code cannot be validated. Valid versions: {versions}",
  ],
  UNKNOWN_CODESYSTEM_VERSION_NONE: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' version '{version}' could not be found, so the code cannot be validated. No versions of this code system are known",
  ],
  UNKNOWN_CODESYSTEM_VERSION_EXP: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' version '{version}' could not be found, so the value set cannot be expanded. Valid versions: {versions}",
  ],
  UNKNOWN_CODESYSTEM_VERSION_EXP_NONE: [
    'error',
    'not-found',
    'not-found',
    "A definition for CodeSystem '{system}' version '{version}' could not be found, so the value set cannot be expanded. No versions of this code system are known",
  ],
  VALUESET_VALUE_MISMATCH: [
    'error',
    'invalid',
    'vs-invalid',
    "The code system '{system}' version '{version}' in the ValueSet include is different to the one in the value ('{given}')",
  ],
  VALUESET_VALUE_MISMATCH_CHANGED: [
    'error',
    'invalid',
    'vs-invalid',
    "The code system '{system}' version '{version}' resulting from the version '{include}' in the ValueSet include is different to the one in the value ('{given}')",
  ],
  VALUESET_VALUE_MISMATCH_DEFAULT: [
    'warning',
    'invalid',
    'vs-invalid',
    "The code system '{system}' version '{version}' for the versionless include in the ValueSet include is different to the one in the value ('{given}')",
  ],
  VALUESET_VERSION_CHECK: [
    'error',
    'exception',
    'version-error',
    "The version '{version}' is not allowed for system '{system}': required to be '{required}' by a version-check parameter",
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
  VALUESET_SUPPLEMENT_MISSING: ['error', 'not-found', 'not-found', 'Required supplement not found: {supplement}'],
  UNABLE_TO_HANDLE_SYSTEM_FILTER_WITH_NO_VALUE: [
    'error',
    'invalid',
    'vs-invalid',
    'The system {system} filter with property = {property}, op = {op} has no value',
  ],
  INVALID_ECL: ['error', 'invalid', 'vs-invalid', "Invalid ECL expression '{ecl}': {reason}"],
  FILTER_NOT_UNDERSTOOD: [
    'error',
    'not-supported',
    'vs-invalid',
    "The filter '{property} {op} {value}' from the value set {valueSet} was not understood in the context of {system}",
  ],
  CODESYSTEM_CS_NO_SUPPLEMENT: [
    'error',
    'invalid',
    'invalid-data',
    "CodeSystem {system} is a supplement, so can't be used as a value in Coding.system",
  ],
  Terminology_TX_System_ValueSet2: [
    'error',
    'invalid',
    'invalid-data',
    "The Coding references a value set, not a code system ('{system}')",
  ],
  Terminology_TX_System_Relative: [
    'error',
    'invalid',
    'invalid-data',
    'Coding.system must be an absolute reference, not a local reference',
  ],
  Coding_has_no_system__cannot_validate: [
    'warning',
    'invalid',
    'invalid-data',
    'Coding has no system. A code with no system has no defined meaning, and it cannot be validated. A system should be provided',
  ],
  UNABLE_TO_INFER_CODESYSTEM: [
    'error',
    'not-found',
    'cannot-infer',
    "The System URI could not be determined for the code '{code}' in the ValueSet '{valueSet}'",
  ],
  Unable_to_resolve_system__value_set_has_multiple_matches: [
    'error',
    'not-found',
    'cannot-infer',
    "The System URI could not be determined for the code '{code}' in the ValueSet '{valueSet}': value set expansion has multiple matches: [{systems}]",
  ],
  INACTIVE_CONCEPT_FOUND: [
    'warning',
    'business-rule',
    'code-comment',
    "The concept '{code}' has a status of {status} and its use should be reviewed",
  ],
  DEPRECATED_CONCEPT_FOUND: [
    'warning',
    'business-rule',
    'code-comment',
    "The concept '{code}' is deprecated and its use should be reviewed",
  ],
  CONCEPT_DEPRECATED_IN_VALUESET: [
    'warning',
    'business-rule',
    'code-comment',
    "The presence of the concept '{code}' in the system '{system}' in the value set {valueSet} is marked with a status of deprecated and its use should be reviewed",
  ],
  STATUS_CODE_WARNING_CODE: ['error', 'business-rule', 'code-rule', "The concept '{code}' is valid but is not active"],
  ABSTRACT_CODE_NOT_ALLOWED: ['error', 'business-rule', 'code-rule', "Code '{system}#{code}' is abstract, and not allowed in this context"],
  CODE_CASE_DIFFERENCE: [
    'information',
    'business-rule',
    'code-rule',
    "The code '{given}' differs from the correct code '{code}' by case. Although the code system '{system}' is case insensitive, implementers are strongly encouraged to use the correct case anyway",
  ],
  Display_Name_for__should_be_one_of__instead_of: [
    'error',
    'invalid',
    'invalid-display',
    "Wrong Display Name '{given}' for {system}#{code}. Valid display is {choices} (for the language(s) '{languages}')",
  ],
  Display_Name_WS_for__should_be_one_of__instead_of: [
    'error',
    'invalid',
    'invalid-display',
    "Wrong whitespace in Display Name '{given}' for {system}#{code}. Valid display is {choices} (for the language(s) '{languages}')",
  ],
  NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_OK: [
    'information',
    'invalid',
    'invalid-display',
    "There are no valid display names found for the code {system}#{code} for language(s) '{languages}'. The display is '{given}' which is a valid display for the default language",
  ],
  NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_ERR: [
    'error',
    'invalid',
    'invalid-display',
    "Wrong Display Name '{given}' for {system}#{code}. There are no valid display names found for language(s) '{languages}'. Default display is '{display}'",
  ],
  INACTIVE_DISPLAY_FOUND: [
    'warning',
    'invalid',
    'display-comment',
    "'{given}' is no longer considered a correct display for code '{code}' (status = {status}). The correct display is one of {choices}.",
  ],
  INVALID_DISPLAY_NAME: ['error', 'processing', 'invalid-display', "Invalid displayLanguage: '{value}'"],
  MSG_DRAFT: ['information', 'business-rule', 'status-check', 'Reference to draft {type} {canonical}'],
  MSG_EXPERIMENTAL: ['information', 'business-rule', 'status-check', 'Reference to experimental {type} {canonical}'],
  MSG_DEPRECATED: ['information', 'business-rule', 'status-check', 'Reference to deprecated {type} {canonical}'],
  MSG_WITHDRAWN: ['information', 'business-rule', 'status-check', 'Reference to withdrawn {type} {canonical}'],
  MSG_RETIRED: ['information', 'business-rule', 'status-check', 'Reference to retired {type} {canonical}'],
} as const

/** Stable id of a message. */
export type MessageId = keyof typeof MESSAGES

/** What the braces of a message stand for. */
export type MessageValues = Readonly<Record<string, string>>

/** One kind of message. */
export interface MessageKind {
  readonly severity: IssueSeverity
  readonly code: OperationOutcomeIssue['code']
  readonly type: string | undefined
  /** True when the `message` of an answer includes it; errors always are included. */
  readonly inMessage: boolean
}

/** In `message`, whatever their severity. */
const IN_MESSAGE: ReadonlySet<MessageId> = new Set<MessageId>([
  'Coding_has_no_system__cannot_validate',
  'INACTIVE_CONCEPT_FOUND',
  'DEPRECATED_CONCEPT_FOUND',
  'Display_Name_for__should_be_one_of__instead_of',
  'Display_Name_WS_for__should_be_one_of__instead_of',
  'NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_OK',
  'NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_ERR',
])

/** Values that are lists made by us, of pieces that were escaped one by one. */
const LISTS: ReadonlySet<string> = new Set(['choices', 'coding', 'languages', 'path', 'reason', 'systems', 'versions'])

/** What is fixed about a message. */
export function messageKind(id: MessageId): MessageKind {
  const row: MessageRow = MESSAGES[id]
  const [severity, code, type] = row
  return { severity, code, type, inMessage: severity === 'error' || IN_MESSAGE.has(id) }
}

/** The text of a message. Values are escaped and cut as all caller text. */
export function messageText(id: MessageId, values: MessageValues): string {
  return MESSAGES[id][3].replace(/\{([a-zA-Z]+)\}/g, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? (values[name] ?? '') : ''
    return LISTS.has(name) ? value : escaped(value)
  })
}

/** Caller text as it may stand in a message: escaped, at most 100 characters. */
export function escaped(text: string): string {
  return quoted(text).slice(1, -1)
}

/** Text that is not the caller's alone, as it may stand in a message: escaped, of any length. */
export function escapedWhole(text: string): string {
  return JSON.stringify(text.toWellFormed()).slice(1, -1)
}
