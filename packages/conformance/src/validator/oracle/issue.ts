import { createContext, forRequest } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate, type Finding } from 'fhir-ops/validate'
import { r4Definitions, r4TypeModel } from '@fhir-ops/r4'
import { languageTags, mediaTypes, registryDefinitions } from '@fhir-ops/registries'
import type { Case } from './case.js'
import type { Probe } from './probes.js'

/** What one of the validators says: how bad, where, and by which rule: a message id of the oracle, or a kind of ours. */
export interface Issue {
  readonly severity: 'error' | 'warning' | 'information'
  /** Without the types of choices. */
  readonly place: string
  readonly rule: string
}

/** A moment after all that the examples speak of, the same for both. */
const ctx = createContext({
  storage: memoryStorage(),
  definitions: [r4Definitions(), registryDefinitions()],
  codeSystems: [languageTags(), mediaTypes()],
  types: r4TypeModel(),
})

/** What we say of a case. */
export async function ourIssues({ text, profile }: Case): Promise<readonly Issue[]> {
  const definitions = profile === undefined ? [] : [profile]
  return (await ourFindings({ text, definitions, profiles: definitions.map(({ url }) => String(url)) })).map(issueOf)
}

/** Our findings for a text, with definitions. */
export async function ourFindings({ text, profiles, definitions }: Omit<Probe, 'name' | 'isValid'>): Promise<readonly Finding[]> {
  const input = { resource: text, ...(profiles.length > 0 && { profiles }) }
  return (await validate(forRequest(ctx, { resources: definitions }), input)).findings
}

/** Where the oracle names the holder of what has the fault. */
const AT_HOLDER = /^(unknown-property|json-duplicate|several-choices)$/

function issueOf({ severity, kind, expression = '' }: Finding): Issue {
  const place = placeOf(expression)
  return { severity: severityOf(severity), place: AT_HOLDER.test(kind) ? holderOf(place) : place, rule: kind }
}

function holderOf(place: string): string {
  return place.slice(0, Math.max(0, place.lastIndexOf('.')))
}

/** Nothing can be worse than an error. */
export function severityOf(severity: string): Issue['severity'] {
  return severity === 'warning' || severity === 'information' ? severity : 'error'
}

/** One spelling for both: no comments, no types of choices, no urls of extensions. */
export function placeOf(expression: string): string {
  return expression
    .replaceAll(/\/\*[^*]*\*\//g, '')
    .replaceAll(/\.ofType\([A-Za-z]*\)/g, '')
    .replaceAll(/\[url='[^']*'\]/g, '')
    .replaceAll('[x]', '')
    .replace(/^\$$/, '')
}
