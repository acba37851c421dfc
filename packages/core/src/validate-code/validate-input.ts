import type { ExplainOption } from '../context/index.js'
import { FLAG, inputShape, listOf, needed, OBJECT, TEXT, type InputShape, type MemberKind } from '../input/index.js'
import { isObject, isString, type JsonObject } from '../json/index.js'
import type { AskedLanguages, ValueSetName, VersionRules } from '../terminology/index.js'

/** A code to validate, and where it stands in the request. */
export interface GivenCoding {
  readonly system?: string | undefined
  readonly version?: string | undefined
  readonly code: string
  readonly display?: string | undefined
  /** FHIRPath of the coding in issues: `Coding`, `CodeableConcept.coding[0]`, empty for separate parameters. */
  readonly path: string
}

/** What is validated: separate parameters, a Coding, or a CodeableConcept, of which one coding must be good and none bad. */
export interface GivenValue {
  readonly kind: 'code' | 'coding' | 'codeableConcept'
  readonly codings: readonly GivenCoding[]
  /** The CodeableConcept as it was given. */
  readonly concept?: JsonObject
}

/** Options that both kinds of validation share. */
export interface ValidateOptions extends AskedLanguages, ExplainOption {
  readonly value: GivenValue
  /** A wrong display is a warning. */
  readonly lenientDisplay?: boolean | undefined
  /** False: abstract codes are not valid. */
  readonly abstract?: boolean | undefined
  readonly activeOnly?: boolean | undefined
  /** Canonicals of supplements that must be used. */
  readonly useSupplement?: readonly string[] | undefined
  readonly rules?: VersionRules | undefined
}

/** Validation against a value set. One of `valueSet` and `url` names it. */
export interface ValidateInValueSetInput extends ValidateOptions, ValueSetName {
  /** Take the system from the value set when the code comes without. */
  readonly inferSystem?: boolean | undefined
  /** Say whether the code is in the value set, and nothing about display and code system. */
  readonly membershipOnly?: boolean | undefined
}

/** Validation against a code system. */
export interface ValidateInCodeSystemInput extends ValidateOptions {
  /** Canonical of the code system; that of the coding when absent. */
  readonly url?: string | undefined
  readonly version?: string | undefined
  readonly codeSystem?: object | undefined
}

// Written out, not made of kinds: a validation takes two microseconds (bench `in-process`).
const GIVEN_VALUE: MemberKind = {
  words: 'an object with the kind of the value and its codings',
  is: (value) => isObject(value) && isString(value['kind']) && Array.isArray(value['codings']) && value['codings'].every(isGivenCoding),
}

function isGivenCoding(coding: unknown): boolean {
  if (!isObject(coding)) return false
  const { system, version, code, display } = coding
  return isString(code) && isAbsentOrText(system) && isAbsentOrText(version) && isAbsentOrText(display)
}

function isAbsentOrText(value: unknown): boolean {
  return value === undefined || isString(value)
}

const OPTIONS = {
  value: needed(GIVEN_VALUE),
  lenientDisplay: FLAG,
  abstract: FLAG,
  activeOnly: FLAG,
  useSupplement: listOf(TEXT),
  rules: OBJECT,
  displayLanguage: TEXT,
  acceptLanguage: TEXT,
  explain: FLAG,
}

/** What `validateInValueSet` takes. */
export const IN_VALUE_SET_INPUT: InputShape = inputShape<ValidateInValueSetInput>({
  ...OPTIONS,
  url: TEXT,
  valueSet: OBJECT,
  valueSetVersion: TEXT,
  inferSystem: FLAG,
  membershipOnly: FLAG,
})

/** What `validateInCodeSystem` takes. */
export const IN_CODE_SYSTEM_INPUT: InputShape = inputShape<ValidateInCodeSystemInput>({
  ...OPTIONS,
  url: TEXT,
  version: TEXT,
  codeSystem: OBJECT,
})
