import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

/** The folder that lists the messages of HL7's validator, with one file for each of its classes. */
const RULE_BOOK: string = resolve(import.meta.dirname, '../../rule-book')
/** Folders with tests of findings, the likeliest first. */
const TESTS = ['packages/conformance/src/validator', 'packages/core/src/validate', 'packages/handler/test', 'packages/cli/src']
const ROOT = resolve(import.meta.dirname, '../../../..')

/**
 * The state of a message of HL7's validator: `yes` is reported by our kinds; `off` as well, but only on request; `partly` has another severity or
 * place, or only some of the cases, with a reason; `open` is missing; `not` is not supported, with a reason.
 */
export const STATES = ['yes', 'off', 'partly', 'open', 'not'] as const

/** One message of HL7's validator. */
export interface Message {
  /** Its message id; `no id: ` and its text for the few without an id. */
  readonly id: string
  /** The class of HL7's validator that reports it. */
  readonly area: string
  /** Severity; several, separated by slashes, if it depends on the circumstances. */
  readonly severity: string
  readonly state: (typeof STATES)[number]
  /** The kinds of finding that cover it, for `yes`, `off` and `partly`. */
  readonly kinds: readonly string[]
  /** For `not`, a key of `REASONS` or a sentence; for `partly`, a sentence, which is empty if the rest is still missing. */
  readonly reason: string
}

/** Reasons why whole groups of messages are not supported. */
export const REASONS: Readonly<Record<string, string>> = {
  internal: 'It reports a limit or fault of the Java program itself.',
  server: 'It is about the terminology server that the Java program asks; here terminology is in the same process.',
  fragment: 'It is a part of the texts of other messages.',
  release: 'It is for other releases than R4.',
  logical: 'It is about instances of logical models, which are not resources.',
  xml: 'It is about XML; JSON is the only format here.',
  expansion: 'It is an error of `$expand`, which has its own errors.',
  viewdefinition: 'ViewDefinitions are resources of SQL on FHIR, not of R4.',
  option: 'It occurs only with an option of the Java program that has no counterpart.',
  request: 'The request is refused instead.',
  detail: 'It adds a detail to the text of another message.',
  cda: 'It is about CDA documents.',
  matchetype: 'It is about matchetypes, which compare test results.',
  ai: 'It asks a language model over the network.',
  network: 'It loads something from the network; nothing is fetched here.',
  limit: 'It reports a limit of the Java program.',
  package: 'It depends on how packages were loaded by the Java program.',
}

/**
 * Messages that are covered here, and that HL7's validator (6.10.3, offline, without packages of other releases) could not be made to report, by the reason why,
 * as its source was read. It is not known that all others have been seen: probes keep the verdict, not the ids of the messages.
 */
export const UNSHOWN: Readonly<Record<string, readonly string[]>> = {
  'It comes only with the answer of a terminology server.': [
    'MSG_WITHDRAWN_SRC',
    'MSG_DEPRECATED_SRC',
    'MSG_RETIRED_SRC',
    'MSG_EXPERIMENTAL_SRC',
    'MSG_DRAFT_SRC',
    'CONCEPTMAP_VS_CONCEPT_CODE_UNKNOWN_SYSTEM_VERSION',
    'CONCEPTMAP_VS_INVALID_CONCEPT_CODE',
    'CONCEPTMAP_VS_INVALID_CONCEPT_CODE_VER',
    'VALUESET_INCLUDE_INVALID_CONCEPT_CODE',
    'CONCEPTMAP_VS_CONCEPT_CODE_UNKNOWN_SYSTEM',
    'VALUESET_CODE_CONCEPT_HINT',
    'VALUESET_CODE_CONCEPT_HINT_VER',
    'VALUESET_CONCEPT_DISPLAY_PRESENCE_MIXED',
    'VALUESET_CONCEPT_DISPLAY_SCT_TAG_MIXED',
    'VALUESET_INC_CS_NO_SUPPORT',
    'VALUESET_UNC_SYSTEM_WARNING',
    'VALUESET_UNC_SYSTEM_WARNING_VER',
    'VALUESET_EXAMPLE_SYSTEM_HINT',
    'VALUESET_EXAMPLE_SYSTEM_ERROR',
    'VALUESET_VALUE_MISMATCH_CHANGED',
    'Terminology_PassThrough_TX_Message',
  ],
  'It needs packages of other releases or guides on the disk.': [
    'Extension_EXT_Version_InvalidId',
    'Extension_EXT_Version_NoChange',
    'EXTENSION_EXTM_CONTEXT_WRONG_XVER',
    'EXTENSION_EXTP_CONTEXT_WRONG_XVER',
    'IG_DEPENDENCY_VERSION_ERROR',
    'VALIDATION_VAL_GLOBAL_PROFILE_UNKNOWN',
  ],
  'It depends on a setting of the Java program: what is fetched, which references are followed, which certificates are known, how many messages are kept.':
    [
      'Unable_to_locate_the_profile__in_order_to_validate_against_it',
      'VALIDATION_VAL_PROFILE_UNKNOWN_ERROR',
      'TYPE_SPECIFIC_CHECKS_DT_CANONICAL_TYPE',
      'Reference_REF_CantMatchType',
      'BUNDLE_SIGNATURE_HEADER_CERT_NOT_FOUND_ERROR',
      'VALIDATION_MAX_MESSAGES_EXCEEDED',
    ],
  'It is for models with other types than those of R4, as of CDA.': [
    'Terminology_TX_NoValid_4',
    'Terminology_TX_NoValid_5',
    'Terminology_TX_NoValid_6',
    'TYPE_SPECIFIC_CHECKS_DT_PRIMITIVE_REGEX_TYPE_ALT',
    'ELEMENT_CANNOT_BE_NULL',
    'Validation_VAL_Content_Unknown',
    'Validation_VAL_Profile_NoDefinition',
  ],
  'Another message, or an exception, always comes first.': [
    'SD_CIRCULAR_DEFINITION',
    'OPDEF_PROFILE_NO_SLICE',
    'QUESTIONNAIRE_QR_ITEM_NOOPTIONSDECIMAL',
    'Questionnaire_QR_Item_CodingNoOptions',
    'SD_OBGLIGATION_PROFILE_UKNOWN',
    'Type_Specific_Checks_DT_Instant_Valid',
    'Terminology_TX_Display_Wrong',
    'Terminology_TX_System_ValueSet',
    'None_of_the_provided_codes_are_in_the_value_set_one',
    'TX_GENERAL_CC_ERROR_MESSAGE',
    'UNABLE_TO_RESOLVE_SYSTEM_SYSTEM_IS_INDETERMINATE',
    '_has_children__and_multiple_types__in_profile_',
    'No_path_on_element_Definition__in_',
    'EXT_VER_URL_MISLEADING',
    'BUNDLE_SIGNATURE_SIG_FAIL_CERT_ID',
    'XHTML_XHTML_BAD_ELEMENT_TYPE',
    'VALUESET_REFERENCE_INVALID_TYPE',
    'VALUESET_REFERENCE_UNKNOWN',
    'OPDEF_PROFILE_NO_FIXED',
    'NO_VALID_DISPLAY_FOUND',
  ],
  'No input leads to it: its condition is always met or never looked at, or it goes to a list that is thrown away.': [
    'Bundle_BUNDLE_Entry_IdUrlMismatch',
    'PATTERN_CHECK_STRING',
    'XHTML_CONTROL_LANGS_NO_DEFAULT',
    'SD_ELEMENT_PATTERN_WRONG_TYPE',
    'SM_GROUP_NAME_DUPLICATE',
    'SM_TARGET_TRANSLATE_BINDING_SOURCE_UNMAPPED',
    'Extension_EXT_Modifier_MismatchY',
    'Extension_EXT_Modifier_MismatchN',
    'BUNDLE_SIGNATURE_PAYLOAD_INVALID',
    'Unable_to_resolve_system__value_set_has_include_with_unknown_system',
  ],
  'No input was found that leads to it.': [
    'BUNDLE_SIGNATURE_PAYLOAD_BASE64_DIFF',
    'BUNDLE_SIGNATURE_SIG_DIGEST_MISMATCH_XADES',
    'VALUESET_BAD_FILTER_VALUE_VALID_CODE_CHANGE',
    'INACTIVE_CONCEPT_FOUND_ADD',
    'CODESYSTEM_SUPP_NO_DISPLAY',
    'MEASURE_M_GROUP_STRATA_COMP_NO_CODE',
  ],
}

/** Every message, in the order of the classes' names and of their files. */
export function messages(): readonly Message[] {
  const files = readdirSync(RULE_BOOK).filter((file) => file.endsWith('.tsv'))
  return files.toSorted().flatMap((file) => messagesIn(basename(file, '.tsv'), readFileSync(join(RULE_BOOK, file), 'utf8')))
}

/** The messages of one file, one per line: id, severity, state, and kinds or reason, separated by tabs; for `partly` kinds and reason. */
export function messagesIn(area: string, text: string): readonly Message[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const [id = '', severity = '', word, detail = '', why = ''] = line.split('\t')
    const state = STATES.find((known) => known === word)
    if (state === undefined) throw new TypeError(`${area}: ${id} has the state ${String(word)}, which is none of ${STATES.join(', ')}.`)
    const isCovered = state === 'yes' || state === 'off' || state === 'partly'
    return {
      id,
      area,
      severity,
      state,
      kinds: isCovered ? detail.split(',').filter((kind) => kind !== '') : [],
      reason: state === 'not' ? detail : why,
    }
  })
}

/** Returns a function that finds the test of a message: the file that names its id, or one that names the kind. Paths are relative to the repository. */
export function testFinder(): (message: Message) => string | undefined {
  const texts = TESTS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts') && !file.endsWith('.slow.test.ts'))
      .toSorted()
      .map((file) => join(folder, file))
      .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })),
  )
  const naming = (word: string): string | undefined => texts.find(({ text }) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text))?.path
  const known = new Map<string, string | undefined>()
  const find = (word: string): string | undefined => {
    if (!known.has(word)) known.set(word, naming(word))
    return known.get(word)
  }
  return ({ id, kinds }) => (id.includes(' ') ? undefined : find(id)) ?? kinds.map(find).find((path) => path !== undefined)
}
