import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { r4Definitions, r4TypeModel } from '@fhir-ops/r4'
import { CONTENT_DAMAGES } from '../mutation/content-damages.js'
import { edited, type Damage, type Edit } from '../mutation/edit.js'
import { sitesOf } from '../mutation/site.js'
import { VALUE_DAMAGES } from '../mutation/value-damages.js'
import { suitePath } from '../../../../../test/suites.js'
import { profileOn } from '../rules/profile-on.js'
import type { Case, Origin, Run } from './case.js'
import { profileCases } from './profile-cases.js'

const EXAMPLES = suitePath('r4-examples')
/** Maximum length of an example. Longer ones are repetitive. */
const ENOUGH_CHARACTERS = 8_000
const EXAMPLES_PER_TYPE = 2
const SITES_PER_DAMAGE = 2
const SEED = 15

const DAMAGES: ReadonlyMap<string, Damage> = new Map([...VALUE_DAMAGES, ...CONTENT_DAMAGES])
const DEFINITIONS = [
  ...['bodyweight', 'hdlcholesterol', 'cdshooksguidanceresponse', 'elementdefinition-de'].map((id) => `StructureDefinition/${id}`),
  ...['administrative-gender', 'observation-status', 'identifier-use', 'currencies', 'languages', 'medicationrequest-status'].map(
    (id) => `ValueSet/${id}`,
  ),
  ...['administrative-gender', 'observation-status', 'identifier-use', 'narrative-status', 'bundle-type', 'flag-status'].map(
    (id) => `CodeSystem/${id}`,
  ),
  ...['Patient-identifier', 'clinical-code', 'Observation-code-value-quantity', 'Resource-id', 'Encounter-length'].map(
    (id) => `SearchParameter/${id}`,
  ),
  ...['ValueSet-expand', 'Resource-validate', 'Patient-everything', 'ConceptMap-translate'].map((id) => `OperationDefinition/${id}`),
]

const specification = { model: r4TypeModel(), definitions: r4Definitions() }

/** A hash of a case, so that a fact is not used for another case. */
export function mark({ text, profile }: Case): string {
  return createHash('sha256')
    .update(text)
    .update(JSON.stringify(profile ?? null))
    .digest('hex')
    .slice(0, 8)
}

/** An origin that is created when it is needed. */
export interface Planned {
  readonly name: string
  readonly make: () => Promise<Origin>
}

/** All origins in a fixed order: damaged examples, damaged definitions, random profiles. */
export function origins(): readonly Planned[] {
  const examples = readdirSync(EXAMPLES)
    .filter((name) => name.endsWith('.ndjson'))
    .flatMap(examplesIn)
  return [
    ...examples.map(({ name, resource }) => ({ name, make: () => damagedOrigin(name, resource) })),
    ...DEFINITIONS.map((canonical) => ({ name: canonical, make: async () => damagedOrigin(canonical, await definitionOf(canonical)) })),
    ...examples.map(({ name, resource }) => ({ name: `profiles: ${name}`, make: () => profiledOrigin(name, resource) })),
    { name: 'profiles', make: () => profileOrigin(examples) },
  ]
}

interface Example {
  readonly name: string
  readonly resource: JsonObject
}

function examplesIn(file: string): readonly Example[] {
  const lines = readFileSync(join(EXAMPLES, file), 'utf8').split('\n')
  return lines
    .flatMap((line, index) => (line === '' || line.length > ENOUGH_CHARACTERS ? [] : [{ line, name: `${file}:${index + 1}` }]))
    .toSorted((a, b) => b.line.length - a.line.length)
    .slice(0, EXAMPLES_PER_TYPE)
    .map(({ line, name }) => ({ name, resource: resourceIn(line) }))
    .filter(({ resource }) => !isExtension(resource))
}

/** True for definitions of extensions. The oracle needs a quarter of a minute for each, because it loads other releases to check the context. */
function isExtension({ resourceType, type }: JsonObject): boolean {
  return resourceType === 'StructureDefinition' && type === 'Extension'
}

function resourceIn(line: string): JsonObject {
  const resource: unknown = JSON.parse(line)
  if (!isObject(resource)) throw new TypeError('An example is not a resource.')
  return resource
}

async function definitionOf(canonical: string): Promise<JsonObject> {
  const [type = '', name = ''] = canonical.split('/')
  const path = type === 'SearchParameter' || type === 'OperationDefinition' ? canonical : type === 'CodeSystem' ? name : canonical
  const [definition] = await specification.definitions.find(type, 'url', `http://hl7.org/fhir/${path}`)
  if (definition === undefined) throw new Error(`There is no ${canonical} in the release.`)
  return definition.resource
}

async function damagedOrigin(name: string, resource: JsonObject): Promise<Origin> {
  const sites = await sitesOf(specification, resource)
  const runs = [...DAMAGES].flatMap(([change, damage]) =>
    spread(
      sites.flatMap((site) => damage(site)),
      SITES_PER_DAMAGE,
    ).map((edit: Edit, number) => ({ change, number, asked: { text: edited(resource, edit) } })),
  )
  return { name, base: { text: JSON.stringify(resource) }, runs }
}

async function profiledOrigin(name: string, resource: JsonObject): Promise<Origin> {
  return {
    name: `profiles: ${name}`,
    base: { text: JSON.stringify(resource) },
    runs: await profileCases({ specification, seed: SEED, name, resource }),
  }
}

/** The random profiles themselves, compared with a profile without constraints. */
async function profileOrigin(examples: readonly Example[]): Promise<Origin> {
  const runs: Run[] = []
  for (const { name, resource } of examples) {
    for (const { asked } of await profileCases({ specification, seed: SEED, name, resource })) {
      runs.push({ change: 'profile as a resource', number: runs.length, asked: { text: JSON.stringify(asked.profile) } })
    }
  }
  const nothing = profileOn('Patient', 'http://oracle.test/StructureDefinition/nothing', [{ id: 'Patient', path: 'Patient' }])
  return { name: 'profiles', base: { text: JSON.stringify({ ...nothing, id: 'nothing', fhirVersion: '4.0.1' }) }, runs }
}

function spread<T>(items: readonly T[], most: number): readonly T[] {
  const step = Math.max(1, Math.ceil(items.length / most))
  return items.filter((_, index) => index % step === 0)
}
