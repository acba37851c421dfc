import type { ExplainOption } from '../context/index.js'
import {
  codeSource,
  CODE_INPUT,
  FLAG,
  inputShape,
  listOf,
  resourceOf,
  TEXT,
  type CodeInput,
  type CodeSource,
  type InputShape,
  type LooseCodeInput,
} from '../input/index.js'
import { isObject, isString, objectsAt } from '../json/index.js'
import { OperationError } from '../errors/index.js'
import { VERSION_RULES, type AskedLanguages, type LooseValueSetName, type ValueSetName, type VersionRules } from '../terminology/index.js'

/** Options of validations against value sets and code systems. */
export interface ValidateCodeOptions extends AskedLanguages, ExplainOption {
  /** True: a wrong display is a warning. Default false: an error. */
  readonly lenientDisplay?: boolean | undefined
  /** False: abstract codes are not valid. Default true. */
  readonly abstract?: boolean | undefined
  /** True: inactive codes are not valid. Default false. */
  readonly activeOnly?: boolean | undefined
  /** Canonicals of supplements that must be used. */
  readonly useSupplement?: readonly string[] | undefined
  /** Rules that choose versions of code systems and value sets. */
  readonly rules?: VersionRules | undefined
}

/** Options of a validation against a value set. */
export interface ValueSetOptions extends ValidateCodeOptions {
  /** True: infer the system from the value set when the code has none. Default false. */
  readonly inferSystem?: boolean | undefined
  /** True: check only whether the code is in the value set, not its display and code system. Default false. */
  readonly membershipOnly?: boolean | undefined
}

/** A code whose system is inferred from the value set. */
export interface CodeWithoutSystem {
  readonly code: string
  readonly inferSystem: true
  readonly display?: string | undefined
  readonly system?: undefined
  readonly version?: undefined
  readonly coding?: undefined
  readonly codeableConcept?: undefined
}

/** Input of `validateCode`: a code, the value set, by `url` or `valueSet`, and options. */
export type ValidateCodeInput = (CodeInput | CodeWithoutSystem) & ValueSetName & ValueSetOptions

/** Input of `validateCodeInSystem`: a code, and options. */
export type ValidateCodeInSystemInput = CodeInput & ValidateCodeOptions & NamedSystem

/** Names the code system explicitly. */
export interface NamedSystem {
  /** Canonical of the code system, with or without version. Default: the system of the code. */
  readonly url?: string | undefined
  /** The CodeSystem resource itself, used instead of a stored one with the same url and version. */
  readonly codeSystem?: object | undefined
}

/** `ValidateCodeInput` as it arrives from Parameters or plain JavaScript. */
export type LooseValueSetInput = LooseCodeInput & LooseValueSetName & ValueSetOptions

/** `ValidateCodeInSystemInput` as it arrives from Parameters or plain JavaScript. */
export type LooseCodeSystemInput = LooseCodeInput & ValidateCodeOptions & NamedSystem

const OPTIONS = {
  ...CODE_INPUT,
  lenientDisplay: FLAG,
  abstract: FLAG,
  activeOnly: FLAG,
  useSupplement: listOf(TEXT),
  rules: VERSION_RULES,
  displayLanguage: TEXT,
  acceptLanguage: TEXT,
  explain: FLAG,
}

/** Shape by which `validateCode` checks its input. */
export const VALUE_SET_INPUT: InputShape = inputShape<ValidateCodeInput>({
  ...OPTIONS,
  url: TEXT,
  valueSet: resourceOf('ValueSet'),
  valueSetVersion: TEXT,
  inferSystem: FLAG,
  membershipOnly: FLAG,
})

/** Shape by which `validateCodeInSystem` checks its input. */
export const CODE_SYSTEM_INPUT: InputShape = inputShape<ValidateCodeInSystemInput>({
  ...OPTIONS,
  url: TEXT,
  codeSystem: resourceOf('CodeSystem'),
})

/** A code to validate, with its path in the request. */
export interface GivenCoding {
  readonly system?: string | undefined
  readonly version?: string | undefined
  readonly code: string
  readonly display?: string | undefined
  /** FHIRPath of the coding in issues: `Coding`, `CodeableConcept.coding[0]`; empty for a code that is given by `code` and `system`. */
  readonly path: string
}

/** The value to validate: a code, a Coding, or a CodeableConcept. One coding of a CodeableConcept must be valid, and none may have an error. */
export interface GivenValue {
  readonly kind: CodeSource
  readonly codings: readonly GivenCoding[]
  /** The CodeableConcept as it was given. */
  readonly concept: object | undefined
}

/** Returns the codings of an input. @throws {OperationError} as `codeSource`; `parameter-required` when none has a code. */
export function givenValue(input: LooseCodeInput): GivenValue {
  const kind = codeSource(input)
  if (kind === undefined) throw nothingToValidate()
  const codings = codingsOf(kind, input)
  if (codings.length === 0) throw nothingToValidate()
  return { kind, codings, concept: input.codeableConcept }
}

/** Creates the error for a call without a code to validate. */
export function nothingToValidate(): OperationError {
  const message = 'Unable to find code to validate (looked for coding | codeableConcept | code+system | code+inferSystem in parameters)'
  return new OperationError('parameter-required', message, { issue: 'invalid' })
}

function codingsOf(kind: CodeSource, input: LooseCodeInput): readonly GivenCoding[] {
  if (kind === 'coding') return givenCoding(input.coding, 'Coding')
  if (kind === 'code') return givenCoding(input, '')
  const codings = isObject(input.codeableConcept) ? objectsAt(input.codeableConcept, 'coding') : []
  return codings.flatMap((one, i) => givenCoding(one, `CodeableConcept.coding[${i}]`))
}

function givenCoding(given: object | undefined, path: string): readonly GivenCoding[] {
  if (!isObject(given)) return []
  const { code, system, version, display } = given
  return isString(code) ? [{ code, system: textOf(system), version: textOf(version), display: textOf(display), path }] : []
}

function textOf(value: unknown): string | undefined {
  return isString(value) ? value : undefined
}
