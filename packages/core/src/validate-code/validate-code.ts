import { explained, type OperationContext } from '../context/index.js'
import { checkInput } from '../input/index.js'
import {
  escaped,
  escapedWhole,
  languagesFor,
  missingImports,
  nameOf,
  plannedValueSet,
  statusNotes,
  mainText,
  type PlannedValueSet,
  decidingInclude,
  type DecidingInclude,
} from '../terminology/index.js'
import { checkCoding, type CodingCheck, type CodingResult } from './check-coding.js'
import {
  givenValue,
  nothingToValidate,
  VALUE_SET_INPUT,
  type GivenCoding,
  type GivenValue,
  type LooseValueSetInput,
  type ValidateCodeInput,
} from './input.js'
import { issueOf, memberPath, statusIssue, type ValidationIssue } from './issue.js'
import { resultOf, type ValidateCodeResult } from './result.js'
import { sameText } from './check-display.js'

/**
 * Validates a code against a value set: whether the value set contains it, and whether its system, version and display are right.
 *
 * @param ctx Provides definitions. Use `forRequest` to add definitions that came with a request.
 * @param input The code, by `system` and `code`, `coding` or `codeableConcept`; the value set, by `url` or `valueSet`; options.
 * @returns Problems with the code are issues of the result, not errors of the operation.
 * @throws {OperationError} `parameter-required` without a code or a value set; `source-ambiguous` for more than one code; `parameter-invalid` for
 *   `url` together with `valueSet`; `not-found` for an unknown value set; `content-not-found` for a supplement that must be used and does not exist;
 *   `unprocessable` for circular imports; `definition-invalid` and `not-supported` for a value set that cannot be used.
 * @see https://hl7.org/fhir/R4/valueset-operation-validate-code.html
 */
export function validateCode(ctx: OperationContext, input: ValidateCodeInput): Promise<ValidateCodeResult> {
  return answerInValueSet(ctx, input)
}

/** As `validateCode`, for loosely typed input. @throws {OperationError} as `validateCode`. */
export function answerInValueSet(ctx: OperationContext, input: LooseValueSetInput): Promise<ValidateCodeResult> {
  return explained(ctx, input, (own) => validation(own, input))
}

async function validation(ctx: OperationContext, input: LooseValueSetInput): Promise<ValidateCodeResult> {
  checkInput(ctx, input, VALUE_SET_INPUT)
  const value = givenValue(input)
  // For a Coding without system the answer is an issue; a bare code without system is an invalid request.
  if (value.kind === 'code' && input.system === undefined && input.inferSystem !== true) throw nothingToValidate()
  const planned = await plannedValueSet(ctx, input, value.codings)
  const quick = quickValidation(planned, value, input)
  if (quick !== undefined) return quick
  const { scope, plan } = planned
  const check = { scope, plan, value, input, languages: languagesFor(input, plan.valueSet.resource) }
  const [missing] = missingImports(plan)
  if (missing !== undefined) return withoutImport(value, missing)
  const results: CodingResult[] = []
  for (const coding of value.codings) {
    await scope.pace.step()
    const found = await checkCoding(check, coding)
    results.push({ ...found, issues: [...found.issues, ...notInSet(check, found)] })
  }
  return answer(check, results)
}

function answer(check: CodingCheck, results: readonly CodingResult[]): ValidateCodeResult {
  const { kind } = check.value
  const ok = (['in', 'unknown'] as const).find((state) => results.some((one) => one.state === state)) ?? 'out'
  const issues = distinct([
    ...results.flatMap((one) => one.issues),
    ...(kind === 'codeableConcept' && ok === 'out' ? [noneInSet(check)] : []),
    ...statusIssues(check, results),
  ])
  const result = ok === 'in' && !issues.some(({ severity }) => severity === 'error')
  const causedByUnknown = results.some(({ state, unknown }) => state !== 'out' && unknown.length > 0)
  return resultOf(check.value, results, { result, issues, causedByUnknown })
}

function notInSet({ input, value, plan }: CodingCheck, result: CodingResult): readonly ValidationIssue[] {
  const { coding, state } = result
  if (state !== 'out') return []
  const values = {
    coding: codingText(input.inferSystem === true ? { ...coding, system: undefined } : coding, result),
    valueSet: nameOf(plan.valueSet),
  }
  const severity = value.kind === 'codeableConcept' ? ({ severity: 'information', type: 'this-code-not-in-vs' } as const) : {}
  return [issueOf('None_of_the_provided_codes_are_in_the_value_set_one', values, { at: memberPath(coding.path, 'code'), ...severity })]
}

function noneInSet({ plan }: CodingCheck): ValidationIssue {
  return issueOf('TX_GENERAL_CC_ERROR_MESSAGE', { valueSet: nameOf(plan.valueSet) })
}

/** An existing code is written in full, because a truncated expression would have another meaning. */
function codingText({ system = '', version, code, display }: GivenCoding, { findings }: CodingResult): string {
  const where = version === undefined ? escaped(system) : `${escaped(system)}|${escaped(version)}`
  const what = findings === undefined ? escaped(code) : escapedWhole(code)
  return `${where}#${what}${display === undefined ? '' : ` ('${escaped(display)}')`}`
}

function statusIssues({ plan, input }: CodingCheck, results: readonly CodingResult[]): readonly ValidationIssue[] {
  if (input.membershipOnly === true) return []
  const providers = new Set(results.flatMap(({ provider }) => provider ?? []))
  return statusNotes(plan, [...providers]).map(statusIssue)
}

function withoutImport(value: GivenValue, valueSet: string): ValidateCodeResult {
  const [coding] = value.codings
  const shown = value.kind === 'codeableConcept' || coding === undefined ? {} : { code: coding.code, system: coding.system }
  const issues = [issueOf('Unable_to_resolve_value_Set_', { valueSet })]
  return { result: false, issues, ...shown, concept: value.concept, unknownSystems: [], causedByUnknown: false }
}

function distinct(issues: readonly ValidationIssue[]): readonly ValidationIssue[] {
  return [...new Map(issues.map((issue) => [`${issue.text} ${issue.expression?.[0]}`, issue])).values()]
}

/**
 * Answers for a single valid coding without issues, the most common case, as `checkCoding` would, in a fifth of the time (bench `in-process`).
 * `undefined` for any other input.
 */
export function quickValidation(
  { plan, deciding }: PlannedValueSet,
  value: GivenValue,
  input: LooseValueSetInput,
): ValidateCodeResult | undefined {
  const coding = input.membershipOnly === true ? undefined : plainCoding(value)
  if (coding === undefined || languagesFor(input, plan.valueSet.resource) !== undefined) return undefined
  const include = deciding?.(decidingInclude, coding.system)
  return include === undefined ? undefined : answerFrom(include, coding, value)
}

function answerFrom(include: DecidingInclude, coding: PlainCoding, value: GivenValue): ValidateCodeResult | undefined {
  const { provider, listed } = include
  const concept = provider.find(coding.code)
  if (concept === undefined || provider.header.versionNeeded || !isPlain(include, concept, coding.code)) return undefined
  const display = mainText(provider, concept, listed(concept))?.value
  if (coding.display !== undefined && !sameText(display ?? '', coding.display)) return undefined
  return {
    result: true,
    issues: [],
    code: coding.code,
    system: coding.system,
    version: provider.header.version,
    display,
    normalizedCode: undefined,
    concept: value.concept,
    unknownSystems: [],
    causedByUnknown: false,
  }
}

interface PlainCoding extends GivenCoding {
  readonly system: string
}

/** Returns the coding if it is the only one and states no version. */
function plainCoding(value: GivenValue): PlainCoding | undefined {
  const [coding] = value.codings
  if (coding === undefined || value.codings.length > 1) return undefined
  return isPlainCoding(coding) ? coding : undefined
}

function isPlainCoding(coding: GivenCoding): coding is PlainCoding {
  return coding.system !== undefined && coding.version === undefined
}

/** True for an active concept that the include accepts without further details, and whose code has exactly this spelling. */
function isPlain({ provider, listed, takes }: DecidingInclude, concept: number, code: string): boolean {
  const { inactive, abstract, status } = provider.status(concept)
  const isInUse = !inactive && !abstract && status !== 'deprecated'
  return isInUse && takes(concept) && provider.code(concept) === code && listed(concept)?.concept['extension'] === undefined
}
