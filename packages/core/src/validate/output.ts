import type { Extension } from 'fhir/r4.js'
import { outcomeOk, writeIssue, type OutcomeIssue } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import type { Finding } from './finding.js'
import type { ValidateResult } from './validate.js'

const LINE = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-line'
const COLUMN = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-col'
const FIX = 'https://fhir-ops.dev/StructureDefinition/issue-fix'

/** The OperationOutcome of a validation: id `ok` when no finding is an error, and `All OK` when there is none at all. */
export function outcomeOfResult({ valid, findings }: ValidateResult, newId: () => string): JsonObject {
  if (findings.length === 0) return { ...outcomeOk() }
  return { resourceType: 'OperationOutcome', id: valid ? 'ok' : newId(), issue: findings.map(issueOf) }
}

/** A finding as an issue, without its place in the text and its mend. */
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

function issueOf(finding: Finding): JsonObject {
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
