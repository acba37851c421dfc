import { isObject, objectsAt, objectAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'

/** An operation of JSON Patch (RFC 6902). */
export interface PatchStep {
  readonly op: 'add' | 'remove' | 'replace' | 'move'
  readonly path: string
  readonly from?: string
  readonly value?: unknown
}

/** An issue of an OperationOutcome as the page shows it. */
export interface Issue {
  readonly severity: string
  readonly text: string
  /** Kind of the finding, or the issue type. */
  readonly kind: string
  readonly expression: string | undefined
  readonly hint: string | undefined
  /** From 1. */
  readonly line: number | undefined
  readonly column: number | undefined
  readonly fix: readonly PatchStep[] | undefined
}

const LINE = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-line'
const COLUMN = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-col'
const KIND = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-message-id'
const FIX = 'https://fhir-ops.dev/StructureDefinition/issue-fix'

/** The issues of an OperationOutcome; `undefined` for anything else. */
export function issuesIn(resource: unknown): readonly Issue[] | undefined {
  if (!isObject(resource) || resource['resourceType'] !== 'OperationOutcome') return undefined
  return objectsAt(resource, 'issue').map(issueOf)
}

function issueOf(issue: JsonObject): Issue {
  const extension = (url: string): JsonObject | undefined => objectsAt(issue, 'extension').find((one) => one['url'] === url)
  const { expression } = issue
  return {
    severity: stringAt(issue, 'severity') ?? 'error',
    text: stringAt(objectAt(issue, 'details'), 'text') ?? stringAt(issue, 'diagnostics') ?? '',
    kind: stringAt(extension(KIND), 'valueString') ?? stringAt(issue, 'code') ?? '',
    expression: Array.isArray(expression) ? expression.join(', ') : undefined,
    hint: objectAt(issue, 'details') === undefined ? undefined : stringAt(issue, 'diagnostics'),
    line: numberAt(extension(LINE)),
    column: numberAt(extension(COLUMN)),
    fix: patchIn(stringAt(extension(FIX), 'valueString')),
  }
}

function numberAt(extension: JsonObject | undefined): number | undefined {
  const value = extension?.['valueInteger']
  return typeof value === 'number' ? value : undefined
}

function patchIn(text: string | undefined): readonly PatchStep[] | undefined {
  const patch: unknown = text === undefined ? undefined : JSON.parse(text)
  return Array.isArray(patch) && patch.every(isPatchStep) ? patch : undefined
}

function isPatchStep(value: unknown): value is PatchStep {
  return isObject(value) && typeof value['path'] === 'string' && ['add', 'remove', 'replace', 'move'].includes(stringAt(value, 'op') ?? '')
}

/** Whether an issue makes its resource invalid. */
export function isError({ severity }: Issue): boolean {
  return severity === 'error' || severity === 'fatal'
}
