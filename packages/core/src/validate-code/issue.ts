import type { OutcomeIssue } from '../errors/index.js'
import { messageText, type MessageValues, type StatusNote, MESSAGES, type MessageId, type MessageRow } from '../terminology/index.js'

/** A finding about a code. */
export interface ValidationIssue extends OutcomeIssue {
  /** True if the text is part of the answer's `message`. */
  readonly inMessage: boolean
}

/** How an issue differs from its row in the table of messages. */
interface IssueOptions {
  /** FHIRPath of the element; absent when the issue is about the whole input. */
  readonly at?: string
  readonly severity?: OutcomeIssue['severity']
  readonly type?: string
}

/** Creates an issue from the table of messages. An error lowered to a warning stays in the answer's `message`; one lowered to information does not. */
export function issueOf(id: ValidationMessageId, values: MessageValues, options: IssueOptions = {}): ValidationIssue {
  const row = ROWS[id]
  const [usual, code, usualType] = row
  const { type = usualType, severity = usual } = options
  const isInMessage = usual === 'error' || IN_MESSAGE.has(id)
  return {
    severity,
    code,
    text: messageText(row, values),
    messageId: id,
    inMessage: isInMessage && (severity !== 'information' || usual === 'information'),
    ...(type !== undefined && { txIssue: type }),
    ...(options.at !== undefined && { expression: [options.at] }),
  }
}

/** Creates an information issue that is not in the table of messages. */
export function noteOf(text: string, at: string, kind: Pick<OutcomeIssue, 'code' | 'txIssue'>): ValidationIssue {
  return { severity: 'information', text, expression: [at], inMessage: false, ...kind }
}

/** Returns the FHIRPath of a member of a coding; that of the coding itself when `member` is empty. */
export function memberPath(path: string, member: string): string {
  return path === '' || member === '' ? `${path}${member}` : `${path}.${member}`
}

const STATUS_MESSAGES: Readonly<Record<StatusNote['status'], ValidationMessageId>> = {
  draft: 'MSG_DRAFT',
  experimental: 'MSG_EXPERIMENTAL',
  deprecated: 'MSG_DEPRECATED',
  withdrawn: 'MSG_WITHDRAWN',
  retired: 'MSG_RETIRED',
}

/** Creates the note that a definition in use is a draft, experimental, deprecated, withdrawn or retired. */
export function statusIssue({ status, type, canonical }: StatusNote): ValidationIssue {
  return issueOf(STATUS_MESSAGES[status], { type, canonical })
}

/**
 * Messages about validated codes by their stable ids, in the wording of the terminology ecosystem.
 *
 * @see https://build.fhir.org/ig/HL7/fhir-tx-ecosystem-ig/
 */
const OWN = {
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
  CODE_SYSTEM_VERSION_NEEDED: [
    'error',
    'invalid',
    'invalid-data',
    "The meaning of codes of '{system}' depends on its version (versionNeeded), and the coding states none",
  ],
  CODING_OF_OTHER_SYSTEM: ['error', 'code-invalid', 'invalid-data', "The coding is of the code system '{given}', not of '{system}'"],
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
  MSG_DRAFT: ['information', 'business-rule', 'status-check', 'Reference to draft {type} {canonical}'],
  MSG_EXPERIMENTAL: ['information', 'business-rule', 'status-check', 'Reference to experimental {type} {canonical}'],
  MSG_DEPRECATED: ['information', 'business-rule', 'status-check', 'Reference to deprecated {type} {canonical}'],
  MSG_WITHDRAWN: ['information', 'business-rule', 'status-check', 'Reference to withdrawn {type} {canonical}'],
  MSG_RETIRED: ['information', 'business-rule', 'status-check', 'Reference to retired {type} {canonical}'],
} as const

/** Stable id of a message. */
type ValidationMessageId = MessageId | keyof typeof OWN

const ROWS: Readonly<Record<ValidationMessageId, MessageRow>> = { ...MESSAGES, ...OWN }

/** Messages that are part of the answer's `message` even if they are not errors. */
const IN_MESSAGE: ReadonlySet<ValidationMessageId> = new Set<ValidationMessageId>([
  'Coding_has_no_system__cannot_validate',
  'INACTIVE_CONCEPT_FOUND',
  'DEPRECATED_CONCEPT_FOUND',
  'Display_Name_for__should_be_one_of__instead_of',
  'Display_Name_WS_for__should_be_one_of__instead_of',
  'NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_OK',
  'NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_ERR',
])
