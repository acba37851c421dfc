import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { createContext, forRequest, type ValidationPolicy } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate, type Finding, type ValidateResult } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

/** Adds a test of what is said of a resource, with definitions; its name has the messages of HL7's validator that it is about. */
type MessageTest = (name: string, expected: readonly string[], resource: JsonObject, definitions?: readonly JsonObject[]) => void

/** Makes tests about a kind of resource that look at the kinds of findings given. */
export function messageTests(subject: string, kinds: RegExp): MessageTest {
  return (name, expected, resource, definitions = []) =>
    test(`${subject}: ${name}`, async () => {
      expect(await issuesOf(resource, definitions, kinds)).toEqual(expected)
    })
}

const ctx = createContext({
  storage: memoryStorage(),
  ...r4(),
  now: () => new Date('2026-01-01T00:00:00Z'),
  // The default would be too short for a busy machine.
  limits: { operationTimeoutMs: 300_000 },
})

/** Validates a resource with some definitions. Returns the findings as `severity kind expression`, without texts. */
export async function findingsOf(
  resource: JsonObject | string,
  definitions: readonly JsonObject[],
  kinds: RegExp,
  policy?: ValidationPolicy,
): Promise<readonly string[]> {
  const { findings } = await validate(forRequest(ctx, { resources: definitions }), {
    ...policy,
    resource: typeof resource === 'string' ? resource : JSON.stringify(resource),
  })
  return findings.filter(({ kind }) => kinds.test(kind)).map(shown)
}

/** As `findingsOf`, with the issue type: `severity|code kind expression`. */
export async function issuesOf(resource: JsonObject, definitions: readonly JsonObject[], kinds: RegExp): Promise<readonly string[]> {
  const { findings } = await validated(resource, definitions)
  return findings
    .filter(({ kind }) => kinds.test(kind))
    .map(({ severity, code, kind, expression = '' }) => `${severity}|${code} ${kind} ${expression}`)
}

/** Validates a resource with some definitions. */
export async function validated(resource: JsonObject, definitions: readonly JsonObject[]): Promise<ValidateResult> {
  return validate(forRequest(ctx, { resources: definitions }), { resource: JSON.stringify(resource) })
}

function shown({ severity, kind, expression }: Finding): string {
  return `${severity} ${kind} ${expression ?? ''}`
}
