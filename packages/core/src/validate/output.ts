import type { Extension, OperationOutcome, OperationOutcomeIssue } from 'fhir/r4.js'
import { checkResult, outcomeOk, writeIssue, type OutcomeIssue } from '../errors/index.js'
import { explanationExtension } from '../explain/index.js'
import type { Finding } from './run/finding.js'
import type { ValidateResult } from './validate.js'
import { checkOptions, inputShape, TEXT, type InputShape } from '../input/index.js'

const LINE = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-line'
const COLUMN = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-col'
const FIX = 'https://fhir-ops.dev/StructureDefinition/issue-fix'

/** What the result of a validation does not say about its OperationOutcome. */
export interface OutcomeOptions {
  /** Id of an outcome with errors; it has none when absent. */
  readonly id?: string | undefined
}

const OUTCOME_OPTIONS: InputShape = inputShape<OutcomeOptions>({ id: TEXT })

/**
 * Makes the OperationOutcome that `$validate` returns: with the id `ok` when no finding is an error, and with one issue `All OK` when there are no
 * findings. An explanation is an extension.
 *
 * @throws {TypeError} for an option that is unknown.
 */
export function toOperationOutcome(result: ValidateResult, options: OutcomeOptions = {}): OperationOutcome {
  checkResult('validate', result, 'findings')
  const { valid, findings, explanation } = result
  checkOptions('toOperationOutcome', OUTCOME_OPTIONS, options)
  const reasons = explanationExtension(explanation)
  const extension = reasons.length > 0 && { extension: reasons }
  if (findings.length === 0) return { ...outcomeOk(), ...extension }
  const ownId = valid ? 'ok' : options.id
  return { resourceType: 'OperationOutcome', ...(ownId !== undefined && { id: ownId }), ...extension, issue: findings.map(issueOf) }
}

/** A finding as an issue, without its line, column and fix. */
export function issueOfFinding({ kind, severity, code, text, expression, hint }: Finding): OutcomeIssue {
  return {
    severity,
    code,
    text,
    messageId: kind,
    ...(hint !== undefined && { diagnostics: hint }),
    ...(expression !== undefined && { expression: [expression] }),
  }
}

function issueOf(finding: Finding): OperationOutcomeIssue {
  const { extension = [], ...issue } = writeIssue(issueOfFinding(finding))
  return { extension: [...extension, ...extensionsOf(finding)], ...issue }
}

function extensionsOf({ line, column, fix }: Finding): readonly Extension[] {
  return [
    ...(line === undefined ? [] : [{ url: LINE, valueInteger: line }]),
    ...(column === undefined ? [] : [{ url: COLUMN, valueInteger: column }]),
    ...(fix === undefined ? [] : [{ url: FIX, valueString: JSON.stringify(fix) }]),
  ]
}
