import { canonicalOf, formatCanonical, withoutVersion } from '../content/index.js'
import { explained, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput } from '../input/index.js'
import { isObject, stringAt } from '../json/index.js'
import {
  explainUnknownCode,
  languagesFor,
  preparedChoice,
  isOfVersion,
  systemNotes,
  systemScope,
  versionFits,
  versionStep,
  type CodeSystemProvider,
  type LanguageList,
  type SystemInUse,
  type TerminologyScope,
} from '../terminology/index.js'
import { barredIssue, conceptFindings, checkIssues, unknownCode, unusableSystem } from './check-concept.js'
import { withoutSystem, type CodingResult } from './check-coding.js'
import { explainDisplay } from './check-display.js'
import {
  CODE_SYSTEM_INPUT,
  givenValue,
  type GivenCoding,
  type GivenValue,
  type LooseCodeSystemInput,
  type ValidateCodeInSystemInput,
} from './input.js'
import { issueOf, noteOf, memberPath, statusIssue, type ValidationIssue } from './issue.js'
import { resultOf, type ValidateCodeResult } from './result.js'

/**
 * Validates a code against its code system: whether it exists, and whether its version and display are right.
 *
 * @param input The code, by `system` and `code`, `coding` or `codeableConcept`; options.
 * @returns Problems with the code, including an unknown code system, are issues of the result, not errors of the operation.
 * @throws {OperationError} `parameter-required` without a code or a code system; `source-ambiguous` for more than one code.
 * @see https://hl7.org/fhir/R4/codesystem-operation-validate-code.html
 */
export function validateCodeInSystem(ctx: OperationContext, input: ValidateCodeInSystemInput): Promise<ValidateCodeResult> {
  return answerInSystem(ctx, input)
}

/**
 * As `validateCodeInSystem`, for loosely typed input.
 *
 * @param version Version of the code system for codings without a version.
 * @throws {OperationError} as `validateCodeInSystem`.
 */
export function answerInSystem(ctx: OperationContext, input: LooseCodeSystemInput, version?: string): Promise<ValidateCodeResult> {
  return explained(ctx, input, (own) => validation(own, input, version))
}

async function validation(ctx: OperationContext, input: LooseCodeSystemInput, version: string | undefined): Promise<ValidateCodeResult> {
  checkInput(ctx, input, CODE_SYSTEM_INPUT)
  const value = givenValue(input)
  const scope = await systemScope(ctx, input)
  const check = { scope, input, languages: languagesFor(input) }
  const stated = statedSystem(input, version)
  const isOther = (coding: GivenCoding): boolean => stated !== undefined && !isOfSystem(coding, stated)
  const severity = value.codings.every(isOther) ? 'error' : 'information'
  const results: CodingResult[] = []
  for (const coding of value.codings) {
    await scope.pace.step()
    results.push(
      stated !== undefined && isOther(coding)
        ? ofOtherSystem(coding, stated, severity)
        : await oneCoding(check, named(coding, { stated, kind: value.kind })),
    )
  }
  scope.demandUse(systemsInUse(results, stated))
  return answer(value, results)
}

/** A code system that no coding is of is in use as well if the request names it. */
function systemsInUse(results: readonly CodingResult[], stated: StatedSystem | undefined): readonly SystemInUse[] {
  const found = results.map(({ provider, coding }) => provider?.header ?? { url: withoutVersion(coding.system ?? ''), unknown: true })
  const named = stated === undefined || found.some(({ url }) => url === stated.url) ? [] : [{ url: stated.url, unknown: true }]
  return [...found, ...named].filter(({ url }) => url !== '')
}

interface SystemCheck {
  readonly scope: TerminologyScope
  readonly input: LooseCodeSystemInput
  readonly languages: LanguageList | undefined
}

/** The code system that a request names explicitly. */
interface StatedSystem {
  /** Empty if the request names only a version. */
  readonly url: string
  readonly version?: string | undefined
}

/** A code system that is passed as a resource implies its own version, even if the request names it by url alone. */
function statedSystem({ url, codeSystem }: LooseCodeSystemInput, version: string | undefined): StatedSystem | undefined {
  const given = isObject(codeSystem) ? codeSystem : undefined
  const own = stringAt(given, 'url')
  if (given !== undefined && (own === undefined || (url !== undefined && withoutVersion(url) !== own))) throw otherCodeSystem(url, own)
  const named = own !== undefined && (url === undefined || url === own) ? formatCanonical(own, stringAt(given, 'version')) : url
  if (named === undefined && version === undefined) return undefined
  return { url: withoutVersion(named ?? ''), version: version ?? canonicalOf(named ?? '').version }
}

function otherCodeSystem(url: string | undefined, own: string | undefined): OperationError {
  const text =
    own === undefined
      ? 'The CodeSystem that is given has no url, by which codings name it.'
      : `The url is ${quoted(url ?? '')}, and that of the CodeSystem that is given is ${quoted(own)}.`
  return new OperationError('parameter-invalid', text, { expression: ['codeSystem'] })
}

/** Compares a coding with the code system of the request; where the coding has no system or version, that of the request applies. */
function isOfSystem(coding: GivenCoding, { url, version }: StatedSystem): boolean {
  if (url !== '' && coding.system !== undefined && withoutVersion(coding.system) !== url) return false
  return (
    version === undefined || coding.version === undefined || isOfVersion(coding.version, version) || versionFits(version, coding.version)
  )
}

function ofOtherSystem(coding: GivenCoding, stated: StatedSystem, severity: 'error' | 'information'): CodingResult {
  const values = {
    given: formatCanonical(coding.system ?? stated.url, coding.version),
    system: formatCanonical(stated.url === '' ? (coding.system ?? '') : stated.url, stated.version),
  }
  const member = isOfSystem({ ...coding, version: undefined }, stated) ? 'version' : 'system'
  const issue = issueOf('CODING_OF_OTHER_SYSTEM', values, { at: memberPath(coding.path, member), severity })
  return { coding, state: 'out', issues: [issue], unknown: [] }
}

/**
 * Completes a coding with system and version of the request. For a Coding without system the answer is an issue; a bare code without system is an
 * invalid request.
 */
function named(
  coding: GivenCoding,
  { stated, kind }: { readonly stated: StatedSystem | undefined; readonly kind: GivenValue['kind'] },
): GivenCoding {
  const system = stated === undefined || stated.url === '' ? coding.system : stated.url
  const [url, { version }] = [withoutVersion(system ?? ''), canonicalOf(system ?? '')]
  if (url === '' && kind !== 'code') return coding
  if (url === '')
    throw new OperationError('parameter-required', 'The code system must be named by url or in the coding.', { expression: ['url'] })
  return { ...coding, system: url, version: coding.version ?? stated?.version ?? version }
}

async function oneCoding({ scope, input, languages }: SystemCheck, coding: GivenCoding): Promise<CodingResult> {
  if (coding.system === undefined) return withoutSystem(coding)
  const family = await scope.family(coding.system)
  const rules = coding.version === undefined ? scope.rules : { check: scope.rules.check }
  const choice = await preparedChoice(family, { include: coding.version, rules })
  scope.ctx.explain?.step(versionStep(choice, 'coding'))
  const { provider } = choice
  if (provider === undefined) {
    const version = coding.version ?? choice.wished
    return { coding, state: 'unknown', ...(await unusableSystem(scope.ctx, { ...coding, version }, family)) }
  }
  const concept = provider.find(coding.code)
  const notes = [...checkIssues(coding, choice), ...systemNotes(provider, { status: 'active', experimental: false }).map(statusIssue)]
  if (concept === undefined) {
    await explainUnknownCode(scope.ctx.explain, scope.pace, { provider, code: coding.code })
    const issues = [...unknownCode(coding, provider), ...notes]
    return { coding, state: provider.header.complete ? 'out' : 'in', issues, unknown: [], provider }
  }
  const findings = conceptFindings(coding, { provider, concept }, { languages, lenient: input.lenientDisplay === true })
  explainDisplay(scope.ctx.explain, coding, { provider, concept, languages })
  const refused = [
    ...(input.abstract === false && findings.status.abstract ? [barredIssue(coding, 'abstract')] : []),
    ...(input.activeOnly === true && findings.status.inactive ? [barredIssue(coding, 'inactive')] : []),
  ]
  return {
    coding,
    state: refused.length > 0 ? 'out' : 'in',
    issues: [...refused, ...findings.issues, ...madeNotes(provider, coding, concept), ...notes],
    unknown: [],
    provider,
    findings,
  }
}

function madeNotes({ grammar }: CodeSystemProvider, { path }: GivenCoding, concept: number): readonly ValidationIssue[] {
  if (grammar?.isMade(concept) !== true) return []
  return [noteOf(grammar.note, memberPath(path, 'code'), { code: 'informational', txIssue: 'process-note' })]
}

function answer(value: GivenValue, results: readonly CodingResult[]): ValidateCodeResult {
  const issues = results.flatMap((one) => one.issues)
  const isGood = results.some(({ state }) => state === 'in') && !issues.some(({ severity }) => severity === 'error')
  return resultOf(value, results, { result: isGood, issues, causedByUnknown: true })
}
