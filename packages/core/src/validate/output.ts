import type { Extension } from 'fhir/r4.js'
import { outcomeOk, writeIssue } from '../errors/index.js'
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

function issueOf(finding: Finding): JsonObject {
  const { kind, severity, code, text, expression, hint } = finding
  const { extension = [], ...issue } = writeIssue({
    severity,
    code,
    text,
    messageId: kind,
    ...(hint !== undefined && { diagnostics: hint }),
    ...(expression !== undefined && { expression: [expression] }),
  })
  return { extension: [...extension, ...extensionsOf(finding)], ...issue }
}

function extensionsOf({ line, column, fix }: Finding): readonly Extension[] {
  return [
    ...(line === undefined ? [] : [{ url: LINE, valueInteger: line }]),
    ...(column === undefined ? [] : [{ url: COLUMN, valueInteger: column }]),
    ...(fix === undefined ? [] : [{ url: FIX, valueString: JSON.stringify(fix) }]),
  ]
}
