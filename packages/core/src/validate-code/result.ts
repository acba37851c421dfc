import type { CodeableConcept, OperationOutcome, Parameters, ParametersParameter } from 'fhir/r4.js'
import type { Explained } from '../context/index.js'
import { checkResult, writeIssue } from '../errors/index.js'
import { explanationParameter } from '../explain/index.js'
import { parameterOf } from '../parameters/index.js'
import type { ConceptStatus } from '../terminology/index.js'
import type { CodingResult } from './check-coding.js'
import type { ValidationIssue } from './issue.js'

/** The answer to a validation. */
export interface ValidateCodeResult extends Explained {
  /** True when the code is good: there is no error among the issues. */
  readonly result: boolean
  readonly issues: readonly ValidationIssue[]
  /** The code, as it was given; of a CodeableConcept the first coding that is good. */
  readonly code?: string | undefined
  readonly system?: string | undefined
  /** Version of the code system that was used. */
  readonly version?: string | undefined
  /** The display of the code in the requested language. */
  readonly display?: string | undefined
  readonly inactive?: boolean | undefined
  /** `retired`, `deprecated` ... for a code that should no longer be used. */
  readonly status?: string | undefined
  /** The code as the code system writes it, when it was given otherwise. */
  readonly normalizedCode?: string | undefined
  /** The CodeableConcept that was validated. */
  readonly concept?: CodeableConcept | undefined
  /** Code systems, with or without version, that are not known. */
  readonly unknownSystems: readonly string[]
  /** True when the code might be good without them. */
  readonly causedByUnknown: boolean
}

/** Makes the Parameters that `$validate-code` returns. */
export function toParameters(result: ValidateCodeResult): Parameters {
  checkResult('validateCode', result, 'issues')
  return {
    resourceType: 'Parameters',
    parameter: [
      { name: 'result', valueBoolean: result.result },
      ...parameterOf('code', 'valueCode', result.code),
      ...parameterOf('system', 'valueUri', result.system),
      ...parameterOf('version', 'valueString', result.version),
      ...parameterOf('display', 'valueString', result.display),
      ...parameterOf('codeableConcept', 'valueCodeableConcept', result.concept),
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

/** The texts of the issues that decided, joined; `undefined` when there are none. */
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

/** What an answer says about the coding that it is about. */
export function shownCoding({ coding, provider, findings }: CodingResult): Partial<ValidateCodeResult> {
  return {
    code: coding.code,
    system: coding.system,
    version: provider?.header.version,
    display: findings?.display,
    normalizedCode: findings?.normalizedCode,
    ...(findings !== undefined && shownStatus(findings.status)),
  }
}

/** What an answer says when no coding is good: the status of the first one that should no longer be used. */
export function shownWithoutGood(results: readonly CodingResult[]): Partial<ValidateCodeResult> {
  const all = results.flatMap(({ findings }) => (findings === undefined ? [] : [shownStatus(findings.status)]))
  return all.find(({ inactive, status }) => inactive === true || status !== undefined) ?? {}
}

/** A status that says no more than `inactive` is not repeated. */
function shownStatus({ inactive, status }: ConceptStatus): Partial<ValidateCodeResult> {
  if (inactive) return { inactive: true, status: status === 'inactive' ? undefined : status }
  return status === 'deprecated' ? { status } : {}
}
