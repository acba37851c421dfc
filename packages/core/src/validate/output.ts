import { outcomeOk, writeIssue } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import type { Finding } from './finding.js'
import type { ValidateResult } from './validate.js'

/** The OperationOutcome of a validation: id `ok` when no finding is an error, and `All OK` when there is none at all. */
export function outcomeOfResult({ valid, findings }: ValidateResult, newId: () => string): JsonObject {
  if (findings.length === 0) return { ...outcomeOk() }
  return { resourceType: 'OperationOutcome', id: valid ? 'ok' : newId(), issue: findings.map(issueOf) }
}

function issueOf({ kind, severity, code, text, expression }: Finding): JsonObject {
  return { ...writeIssue({ severity, code, text, messageId: kind, ...(expression !== undefined && { expression: [expression] }) }) }
}
