import type { CodeableConcept, Coding } from 'fhir/r4.js'
import { OperationError, quoted } from '../errors/index.js'
import { isObject, isString } from '../json/index.js'
import { listOf, objectWith, TEXT, type MemberKind } from './input-shape.js'

/** A code, by `system` and `code`. */
export interface SystemAndCode {
  /** Url of the code system. */
  readonly system: string
  readonly code: string
  /** Version of the code system. */
  readonly version?: string | undefined
  /** The display given with the code; used only by operations that check displays. */
  readonly display?: string | undefined
  readonly coding?: undefined
}

/** A code as a FHIR Coding. */
export interface CodingInput {
  readonly coding: Coding
  readonly system?: undefined
  readonly code?: undefined
  readonly version?: undefined
  readonly display?: undefined
}

/** Codes for one meaning, as a FHIR CodeableConcept. */
export interface CodeableConceptInput {
  readonly codeableConcept: CodeableConcept
  readonly system?: undefined
  readonly code?: undefined
  readonly version?: undefined
  readonly display?: undefined
  readonly coding?: undefined
}

/** A code as input of an operation: `system` and `code`, or a `coding`. */
export type CodeOrCoding = SystemAndCode | CodingInput

/** As `CodeOrCoding`, for operations that also take a `codeableConcept`. */
export type CodeInput = (CodeOrCoding & { readonly codeableConcept?: undefined }) | CodeableConceptInput

/** A coding: system, version, code and display as strings, each optional. */
// Written by hand, not composed of kinds, because a whole validation takes only one microsecond (bench `in-process`).
export const CODING: MemberKind = { words: 'a coding', is: isCoding }

function isCoding(value: unknown): boolean {
  if (!isObject(value)) return false
  const { system, version, code, display } = value
  return isAbsentOrText(system) && isAbsentOrText(version) && isAbsentOrText(code) && isAbsentOrText(display)
}

function isAbsentOrText(value: unknown): boolean {
  return value === undefined || isString(value)
}

/** The members of a `CodeOrCoding` for an `inputShape`. */
export const CODE_OR_CODING: Readonly<Record<'system' | 'code' | 'version' | 'display' | 'coding', MemberKind>> = {
  system: TEXT,
  code: TEXT,
  version: TEXT,
  display: TEXT,
  coding: CODING,
}

/** A CodeableConcept: codings and text, each optional. */
export const CODEABLE_CONCEPT: MemberKind = objectWith('a CodeableConcept', { coding: listOf(CODING), text: TEXT })

/** The members of a `CodeInput` for an `inputShape`. */
export const CODE_INPUT: Readonly<Record<keyof typeof CODE_OR_CODING | 'codeableConcept', MemberKind>> = {
  ...CODE_OR_CODING,
  codeableConcept: CODEABLE_CONCEPT,
}

/** What plain JavaScript may pass instead of a `CodeInput`: any of its members, in any combination. */
export interface LooseCodeInput {
  readonly system?: string | undefined
  readonly code?: string | undefined
  readonly version?: string | undefined
  readonly display?: string | undefined
  readonly coding?: object | undefined
  readonly codeableConcept?: object | undefined
}

/** The member in which an input has its code. */
export type CodeSource = 'code' | 'coding' | 'codeableConcept'

/**
 * Returns the member in which an input has its code; `undefined` when it has none.
 *
 * @throws {OperationError} `source-ambiguous` for more than one of `code`, `coding` and `codeableConcept`; `parameter-required` for `system`,
 *   `version` or `display` without `code`.
 */
export function codeSource(input: LooseCodeInput): CodeSource | undefined {
  const { code, coding, codeableConcept } = input
  const given = Number(code !== undefined) + Number(coding !== undefined) + Number(codeableConcept !== undefined)
  if (given > 1) throw ambiguousCode(namesOf({ code, coding, codeableConcept }))
  if (code !== undefined) return 'code'
  if (input.system !== undefined || input.version !== undefined || input.display !== undefined) throw withoutCode(input)
  if (coding !== undefined) return 'coding'
  return codeableConcept === undefined ? undefined : 'codeableConcept'
}

function withoutCode({ system, version, display }: LooseCodeInput): OperationError {
  const [alone = ''] = namesOf({ system, version, display })
  return new OperationError('parameter-required', `${quoted(alone)} is given without 'code'.`, { expression: ['code'] })
}

/** Creates the error for a code that is given in more than one way. @param names The members or parameters concerned. */
export function ambiguousCode(names: readonly string[]): OperationError {
  return new OperationError('source-ambiguous', `The input is ambiguous: multiple source codings were provided (${names.join(', ')}).`, {
    expression: names,
  })
}

function namesOf(members: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [name]))
}
