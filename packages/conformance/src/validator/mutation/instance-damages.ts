import { TYPE_URL } from 'fhir-ops/internal/text'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { type Damage, type Edit, added, here, isRoot, list } from './edit.js'
import type { Site } from './site.js'

const NOWHERE = 'http://nowhere.test/x'
const ABSENT = { extension: [{ url: `${TYPE_URL}data-absent-reason`, valueCode: 'unknown' }] }

/**
 * Changes that FHIR itself mostly allows but profiles may not, by name. Their effect depends on the profile, so they have no expected place.
 */
export const INSTANCE_DAMAGES: ReadonlyMap<string, Damage> = new Map<string, Damage>([
  // Cardinality and slices
  ['member missing', (site) => namesIn(site).map((name) => member(site, name, undefined))],
  ['item missing', (site) => (isItem(site) ? [items(site, (all) => all.toSpliced(site.node.index, 1))] : [])],
  ['item twice', (site) => (isItem(site) ? [items(site, (all) => [...all, site.node.value])] : [])],
  ['item six times', (site) => (isItem(site) ? [items(site, (all) => [...all, ...Array.from({ length: 5 }, () => site.node.value)])] : [])],
  ['items reversed', (site) => (isItem(site) && site.node.index === 1 ? [items(site, (all) => all.toReversed())] : [])],
  // Codes
  ['code that the system does not have', (site) => (isCoding(site) ? [member(site, 'code', 'no-such-code')] : [])],
  ['code in capitals', (site) => (isCoding(site) ? changed(site, 'code', (code) => code.toUpperCase()) : [])],
  ['code of another system', (site) => (isCoding(site) ? [member(site, 'system', NOWHERE)] : [])],
  [
    'system that is a value set',
    (site) => (isCoding(site) ? [member(site, 'system', 'http://hl7.org/fhir/ValueSet/administrative-gender')] : []),
  ],
  ['system with a space', (site) => (isCoding(site) ? changed(site, 'system', (system) => ` ${system}`) : [])],
  ['version of a system', (site) => (isCoding(site) ? [member(site, 'version', '0.0.1-none')] : [])],
  ['other display', (site) => (isCoding(site) ? [member(site, 'display', 'no such display')] : [])],
  ['only text', (site) => (site.node.type.name === 'CodeableConcept' ? [here(site, { text: 'x' })] : [])],
  [
    'other code of a concept',
    (site) => (site.node.type.name === 'CodeableConcept' ? [here(site, { coding: [{ system: NOWHERE, code: 'x' }] })] : []),
  ],
  ['code outside', (site) => ofType(site, 'code').map(() => here(site, 'no-such-code'))],
  [
    'other status',
    (site) =>
      site.node.slot?.name === 'status' ? ['entered-in-error', 'unknown', 'active', 'completed'].map((code) => here(site, code)) : [],
  ],
  // Values
  ['other text', (site) => (/^(string|markdown|uri|url|canonical|id|oid)$/.test(site.node.type.name) ? [here(site, 'zzz')] : [])],
  ['boolean turned', (site) => ofType(site, 'boolean').map(() => here(site, site.node.value !== true))],
  ['other number', (site) => (typeof site.node.value === 'number' ? [here(site, -7), here(site, 0), here(site, 0.5)] : [])],
  ['other precision', (site) => (isTime(site) ? [here(site, '2021'), here(site, '2021-03-01'), here(site, '2021-03-01T10:00:00Z')] : [])],
  ['time without zone', (site) => (isTime(site) ? [here(site, '2021-03-01T10:00:00')] : [])],
  ['years later', (site) => (isTime(site) ? [here(site, '2299-01-01')] : [])],
  ['absent value', (site) => (site.node.type.kind === 'primitive' && !isItem(site) ? [absent(site)] : [])],
  ['only a reason for its absence', (site) => (site.node.type.kind === 'complex' && !isRoot(site) ? [here(site, ABSENT)] : [])],
  ['other type of a choice', choices],
  ['unit that there is not', (site) => (isQuantity(site) ? [member(site, 'code', 'no-such-unit')] : [])],
  [
    'other unit',
    (site) => (isQuantity(site) ? [here(site, { ...objectOf(site), unit: 'mol', code: 'mol', system: 'http://unitsofmeasure.org' })] : []),
  ],
  // References
  ['reference to a resource of another type', (site) => references(site, 'Basic/x')],
  ['reference to nothing contained', (site) => references(site, '#no-such')],
  ['reference to no entry', (site) => references(site, 'urn:uuid:00000000-0000-4000-8000-000000000000')],
  ['reference to the resource itself', (site) => references(site, '#')],
  ['reference elsewhere', (site) => references(site, 'https://nowhere.test/fhir/Basic/x')],
  ['reference with display only', (site) => (isReference(site) ? [here(site, { display: 'x' })] : [])],
  ['reference by identifier', (site) => (isReference(site) ? [here(site, { type: 'Basic', identifier: { value: 'x' } })] : [])],
  [
    'contained resource of another type',
    (site) => (isContained(site) ? [here(site, { resourceType: 'Basic', id: objectOf(site)['id'], code: { text: 'x' } })] : []),
  ],
  ['contained resource with another id', (site) => (isContained(site) ? [member(site, 'id', 'another')] : [])],
  // Profiles
  ['unknown profile', (site) => profile(site, [NOWHERE])],
  [
    'profile in a version that there is not',
    (site) =>
      profile(
        site,
        profilesOf(site).map((url) => `${url.split('|', 1)[0]}|0.0.1-none`),
      ),
  ],
  ['profile of a base type', (site) => profile(site, [`${TYPE_URL}${site.node.type.name}`])],
  ['profile of a wrong type', (site) => profile(site, [...profilesOf(site), `${TYPE_URL}bodyweight`])],
  // Extensions
  ['unknown url of an extension', (site) => (isExtension(site) ? [member(site, 'url', NOWHERE)] : [])],
  ['unknown url of HL7', (site) => (isExtension(site) ? [member(site, 'url', `${TYPE_URL}no-such-extension`)] : [])],
  ['extension with another value', (site) => (isExtension(site) ? [here(site, { url: objectOf(site)['url'], valueInteger: 7 })] : [])],
  ['extension without value', (site) => (isExtension(site) ? [here(site, { url: objectOf(site)['url'] })] : [])],
  ['extension as modifier', (site) => misplaced(site, 'modifierExtension')],
  ['extension in another place', (site) => misplaced(site, 'extension')],
  // Bundles
  ['no fullUrl', (site) => (isEntry(site) ? [member(site, 'fullUrl', undefined)] : [])],
  ['fullUrl of another entry', (site) => (isEntry(site) && site.node.index > 0 ? [member(site, 'fullUrl', firstUrl(site))] : [])],
  ['relative fullUrl', (site) => (isEntry(site) ? [member(site, 'fullUrl', 'Basic/x')] : [])],
  ['another fullUrl', (site) => (isEntry(site) ? [member(site, 'fullUrl', 'urn:uuid:00000000-0000-4000-8000-000000000001')] : [])],
  ['entry without resource', (site) => (isEntry(site) ? [member(site, 'resource', undefined)] : [])],
  ['entry with a request', (site) => (isEntry(site) ? [member(site, 'request', { method: 'PUT', url: 'Basic/x' })] : [])],
  // Narratives
  [
    'narrative of another status',
    (site) => (site.node.type.name === 'Narrative' ? ['empty', 'additional'].map((status) => member(site, 'status', status)) : []),
  ],
])

function objectOf({ node }: Site): JsonObject {
  return isObject(node.value) ? node.value : {}
}

function namesIn(site: Site): readonly string[] {
  return Object.keys(objectOf(site)).filter((name) => name !== 'resourceType')
}

function member(site: Site, name: string, value: unknown): Edit {
  return { path: [...site.path, name], value, expected: [] }
}

function changed(site: Site, name: string, change: (before: string) => string): readonly Edit[] {
  const before = stringAt(objectOf(site), name)
  return before === undefined || change(before) === before ? [] : [member(site, name, change(before))]
}

function isItem({ node }: Site): boolean {
  return node.slot?.isCollection === true && node.index >= 0 && node.value !== undefined
}

function items(site: Site, change: (all: readonly unknown[]) => readonly unknown[]): Edit {
  const all: unknown = isObject(site.node.parent?.value) ? site.node.parent.value[site.node.slot?.jsonName ?? ''] : undefined
  const left = change(Array.isArray(all) ? all : [])
  return list(site, left.length === 0 ? undefined : left)
}

function ofType(site: Site, type: string): readonly Site[] {
  return site.node.type.name === type && site.node.value !== undefined ? [site] : []
}

function isCoding(site: Site): boolean {
  return site.node.type.name === 'Coding'
}

function isQuantity(site: Site): boolean {
  return /^(Quantity|SimpleQuantity|Age|Duration|Distance|Count)$/.test(site.node.type.name) && isObject(site.node.value)
}

function isTime({ node }: Site): boolean {
  return /^(date|dateTime|instant)$/.test(node.type.name) && node.value !== undefined
}

/** Removes the value and adds a data absent reason next to it. */
function absent(site: Site): Edit {
  const name = site.node.slot?.jsonName ?? ''
  const sibling = site.node.slot?.siblingName ?? ''
  const before = isObject(site.node.parent?.value) ? site.node.parent.value : {}
  return { path: site.path.slice(0, -1), value: { ...before, [name]: undefined, [sibling]: ABSENT }, expected: [] }
}

const CHOICES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['String', 'x'],
  ['Boolean', true],
  ['DateTime', '2020'],
  ['CodeableConcept', { text: 'x' }],
  ['Quantity', { value: 1, system: 'http://unitsofmeasure.org', code: '1' }],
  ['Reference', { reference: 'Basic/x' }],
  ['Period', { start: '2020' }],
])

function choices(site: Site): readonly Edit[] {
  const { slot, parent } = site.node
  if (slot?.isChoice !== true || !isObject(parent?.value)) return []
  const before = parent.value
  return [...CHOICES]
    .filter(([type]) => slot.jsonName !== slot.name + type)
    .map(([type, value]) => ({
      path: site.path.slice(0, -1),
      value: { ...before, [slot.jsonName]: undefined, [slot.name + type]: value },
      expected: [],
    }))
}

function isReference(site: Site): boolean {
  return site.node.type.name === 'Reference' && isObject(site.node.value)
}

function references(site: Site, reference: string): readonly Edit[] {
  return isReference(site) ? [member(site, 'reference', reference)] : []
}

function isContained({ node, path }: Site): boolean {
  return path.at(-2) === 'contained' && isObject(node.value)
}

function profilesOf(site: Site): readonly string[] {
  const claimed: unknown = objectAt(objectOf(site), 'meta')?.['profile']
  return Array.isArray(claimed) ? claimed.map(String) : []
}

function profile(site: Site, claimed: readonly string[]): readonly Edit[] {
  if (site.node.type.kind !== 'resource' || claimed.length === 0) return []
  return [member(site, 'meta', { ...objectAt(objectOf(site), 'meta'), profile: claimed })]
}

function isExtension(site: Site): boolean {
  return site.node.type.name === 'Extension' && stringAt(objectOf(site), 'url') !== undefined
}

/** Adds an extension of names to any element except extensions. */
function misplaced(site: Site, name: string): readonly Edit[] {
  if (site.node.type.name === 'Extension') return []
  const qualifier = { url: `${TYPE_URL}iso21090-EN-qualifier`, valueCode: 'LS' }
  return added(site, name, qualifier).map((edit) => ({ ...edit, expected: [] }))
}

function isEntry(site: Site): boolean {
  return site.node.type.name === 'Bundle.entry'
}

function firstUrl(site: Site): unknown {
  return objectsAt(isObject(site.node.parent?.value) ? site.node.parent.value : {}, 'entry')[0]?.['fullUrl']
}
