import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { issuesOf } from './findings-of.js'

/** Adds a test of what is said of a resource, with definitions; its name has the messages of HL7's validator that it is about. */
export type MessageTest = (name: string, expected: readonly string[], resource: JsonObject, definitions?: readonly JsonObject[]) => void

/** Makes tests about a kind of resource that look at the kinds of findings given. */
export function messageTests(subject: string, kinds: RegExp): MessageTest {
  return (name, expected, resource, definitions = []) =>
    test(`${subject}: ${name}`, async () => {
      expect(await issuesOf(resource, definitions, kinds)).toEqual(expected)
    })
}
