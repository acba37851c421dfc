import type { Extension, OperationOutcome, OperationOutcomeIssue } from 'fhir/r4.js'
import { checkResult, outcomeOk, writeIssue, type OutcomeIssue } from '../errors/index.js'
import { explanationExtension } from '../explain/index.js'
import type { Finding } from './run/finding.js'
import type { ValidateResult } from './validate.js'
import { checkOptions, inputShape, TEXT, type InputShape } from '../input/index.js'

const LINE = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-line'
const COLUMN = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-col'
const FIX = 'https://fhir-ops.dev/StructureDefinition/issue-fix'

/** Properties of the OperationOutcome that the result of a validation does not contain. */
export interface OutcomeOptions {
  /** Id of the outcome if there are errors; it has no id when absent. */
  readonly id?: string | undefined
}

const OUTCOME_OPTIONS: InputShape = inputShape<OutcomeOptions>({ id: TEXT })

/**
 * Creates the OperationOutcome that `$validate` returns. Its id is `ok` when no finding is an error, and it has one issue `All OK` when there are no
 * findings. An explanation becomes an extension.
 *
 * @throws {TypeError} for an unknown option.
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

/** Converts a finding to an issue, without line, column and fix. */
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
