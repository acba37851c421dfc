import { createContext, forRequest, type OperationContext } from 'fhir-ops/context'
import type { Storage } from 'fhir-ops/storage'
import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { validateOperation } from 'fhir-ops/internal/operations'
import { parametersFromQuery } from 'fhir-ops/internal/parameters'
import { memoryStorage } from 'fhir-ops/memory'
import { validate, type Finding } from 'fhir-ops/validate'
import { r4, r4Definitions, r4TypeModel } from '@fhir-ops/r4'
import { languageTags, mediaTypes, registryDefinitions } from '@fhir-ops/registries'
import type { Case } from './case.js'
import type { Probe } from './probes.js'

/** An issue that a validator reports: severity, place, and rule, which is a message id of the oracle or a kind of ours. */
export interface Issue {
  readonly severity: 'error' | 'warning' | 'information'
  /** Without the types of choices. */
  readonly place: string
  readonly rule: string
}

/** The time is after all dates in the examples, and the same for both validators. */
const ctx = contextWith(memoryStorage())

function contextWith(storage: Storage): OperationContext {
  return createContext({
    storage,
    definitions: [r4Definitions(), registryDefinitions()],
    codeSystems: [languageTags(), mediaTypes()],
    types: r4TypeModel(),
  })
}

/** Our issues for a case. */
export async function ourIssues({ text, profile }: Case): Promise<readonly Issue[]> {
  const definitions = profile === undefined ? [] : [profile]
  return (await ourFindings({ text, definitions, profiles: definitions.map(({ url }) => String(url)) })).map(issueOf)
}

/** Returns a function for our issues for cases, with the definitions of packages. */
export function ourIssuesWith(definitions: readonly JsonObject[]): (asked: Case) => Promise<readonly Issue[]> {
  const known = contextWith(memoryStorage(definitions, { indexer: r4().indexer }))
  return async ({ text }) => (await validate(known, { resource: text })).findings.map(issueOf)
}

/** Our findings for a text, with definitions. */
export async function ourFindings({ text, profiles, definitions }: Omit<Probe, 'name' | 'isValid'>): Promise<readonly Finding[]> {
  const input = { resource: text, ...(profiles.length > 0 && { profiles }) }
  return (await validate(forRequest(ctx, { resources: definitions }), input)).findings
}

/** Whether we find no error in a probe. Its options, in the form of HL7's validator, are sent in a header. */
export async function isValidHere({ options, ...probe }: Omit<Probe, 'name' | 'isValid'>): Promise<boolean> {
  const issues = options === undefined ? await ourFindings(probe) : await issuesWith(options, probe)
  return !issues.some(({ severity }) => severity === 'error' || severity === 'fatal')
}

async function issuesWith(
  options: JsonObject,
  { text, profiles, definitions }: Omit<Probe, 'name' | 'isValid'>,
): Promise<readonly JsonObject[]> {
  const asked = [...(validateOperation.header?.parameters(JSON.stringify(options)) ?? [])]
  const parameters = [...asked, ...parametersFromQuery(profiles.map((profile) => ['profile', profile] as const))]
  const resource: unknown = JSON.parse(text)
  const type = (isObject(resource) ? stringAt(resource, 'resourceType') : undefined) ?? ''
  const request = { type, method: 'POST', parameters, bodyText: text, strict: false } as const
  const { resource: outcome } = await validateOperation.run(forRequest(ctx, { resources: definitions }), request)
  return objectsAt(outcome, 'issue')
}

/** Kinds for which the oracle reports the element that contains the faulty one. */
const AT_HOLDER = /^(unknown-property|json-duplicate|several-choices)$/

function issueOf({ severity, kind, expression = '' }: Finding): Issue {
  const place = placeOf(expression)
  return { severity: severityOf(severity), place: AT_HOLDER.test(kind) ? holderOf(place) : place, rule: kind }
}

function holderOf(place: string): string {
  return place.slice(0, Math.max(0, place.lastIndexOf('.')))
}

/** The severity of an issue; fatal counts as error. */
export function severityOf(severity: string): Issue['severity'] {
  return severity === 'warning' || severity === 'information' ? severity : 'error'
}

/** Normalizes an expression for both validators: no comments, no types of choices, no urls of extensions. */
export function placeOf(expression: string): string {
  return expression
    .replaceAll(/\/\*[^*]*\*\//g, '')
    .replaceAll(/\.ofType\([A-Za-z]*\)/g, '')
    .replaceAll(/\[url='[^']*'\]/g, '')
    .replaceAll('[x]', '')
    .replace(/^\$$/, '')
}
