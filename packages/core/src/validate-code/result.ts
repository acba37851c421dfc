import type { CodeableConcept, OperationOutcome, Parameters, ParametersParameter } from 'fhir/r4.js'
import type { Explained } from '../context/index.js'
import { checkResult, writeIssue } from '../errors/index.js'
import { explanationParameter } from '../explain/index.js'
import { ownCopy } from '../json/index.js'
import { parameterOf } from '../parameters/index.js'
import type { ConceptStatus } from '../terminology/index.js'
import type { CodingResult } from './check-coding.js'
import type { GivenValue } from './input.js'
import type { ValidationIssue } from './issue.js'

/** Result of a validation. */
export interface ValidateCodeResult extends Explained {
  /** True if the code is valid: there is no error among the issues. */
  readonly result: boolean
  /** Everything found, whether it makes the code invalid or not. */
  readonly issues: readonly ValidationIssue[]
  /** The given code; for a CodeableConcept, that of the first valid coding. */
  readonly code?: string | undefined
  /** Code system of `code`. */
  readonly system?: string | undefined
  /** Version of the code system that was used. */
  readonly version?: string | undefined
  /** The display of the code in the requested language. */
  readonly display?: string | undefined
  /** True for a code that the code system no longer uses. */
  readonly inactive?: boolean | undefined
  /** `retired`, `deprecated` ...; present for a code that should no longer be used. */
  readonly status?: string | undefined
  /** The code in the code system's spelling, when it was given differently. */
  readonly normalizedCode?: string | undefined
  /** The CodeableConcept that was validated. */
  readonly concept?: CodeableConcept | undefined
  /** Unknown code systems, with or without version. */
  readonly unknownSystems: readonly string[]
  /** True if the code may be invalid only because of the unknown systems. */
  readonly causedByUnknown: boolean
}

/** Creates the result from the findings about each coding; it describes the first coding or, of a CodeableConcept, the first valid one. */
export function resultOf(
  { kind, concept }: GivenValue,
  codings: readonly CodingResult[],
  verdict: Pick<ValidateCodeResult, 'result' | 'issues' | 'causedByUnknown'>,
): ValidateCodeResult {
  const shown = kind === 'codeableConcept' ? codings.find(({ state }) => state === 'in') : codings[0]
  return {
    ...verdict,
    ...(shown === undefined ? shownWithoutGood(codings) : shownCoding(shown)),
    concept,
    unknownSystems: verdict.result ? [] : [...new Set(codings.flatMap(({ unknown }) => unknown))],
  }
}

/** Creates the Parameters that `$validate-code` returns. */
export function toParameters(result: ValidateCodeResult): Parameters {
  checkResult('validateCode', result, 'unknownSystems')
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'result', valueBoolean: result.result },
      ...parameterOf('code', 'valueCode', result.code),
      ...parameterOf('system', 'valueUri', result.system),
      ...parameterOf('version', 'valueString', result.version),
      ...parameterOf('display', 'valueString', result.display),
      ...parameterOf('codeableConcept', 'valueCodeableConcept', ownCopy(result.concept)),
      ...parameterOf('inactive', 'valueBoolean', result.inactive),
      ...parameterOf('status', 'valueCode', result.status),
      ...parameterOf('normalized-code', 'valueCode', result.normalizedCode),
      ...result.unknownSystems.flatMap((canonical) => parameterOf(unknownName(result), 'valueCanonical', canonical)),
      ...parameterOf('message', 'valueString', messageOf(result)),
      ...issuesOf(result),
      ...explanationParameter(result.explanation),
    ],
  }
}

/** Joins the texts of the issues that belong in `message`; `undefined` when there are none. */
export function messageOf({ issues }: ValidateCodeResult): string | undefined {
  const texts = new Set(issues.filter(({ inMessage }) => inMessage).map(({ text }) => text))
  return texts.size === 0 ? undefined : [...texts].join('; ')
}

function unknownName({ causedByUnknown }: ValidateCodeResult): string {
  return causedByUnknown ? 'x-caused-by-unknown-system' : 'x-unknown-system'
}

function issuesOf({ issues }: ValidateCodeResult): readonly ParametersParameter[] {
  if (issues.length === 0) return []
  const outcome: OperationOutcome = { resourceType: 'OperationOutcome', issue: issues.map(writeIssue) }
  return [{ name: 'issues', resource: outcome }]
}

/** Returns the members of the answer that describe a coding. */
function shownCoding({ coding, provider, findings }: CodingResult): Partial<ValidateCodeResult> {
  return {
    code: coding.code,
    system: coding.system,
    version: provider?.header.version,
    display: findings?.display,
    normalizedCode: findings?.normalizedCode,
    ...(findings !== undefined && shownStatus(findings.status)),
  }
}

/** Returns the members of the answer when no coding is valid: the status of the first one that should no longer be used. */
function shownWithoutGood(results: readonly CodingResult[]): Partial<ValidateCodeResult> {
  const all = results.flatMap(({ findings }) => (findings === undefined ? [] : [shownStatus(findings.status)]))
  return all.find(({ inactive, status }) => inactive === true || status !== undefined) ?? {}
}

/** The status `inactive` is not repeated beside the flag. */
function shownStatus({ inactive, status }: ConceptStatus): Partial<ValidateCodeResult> {
  if (inactive) return { inactive: true, status: status === 'inactive' ? undefined : status }
  return status === 'deprecated' ? { status } : {}
}
