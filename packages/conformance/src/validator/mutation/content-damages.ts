import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { TYPE_URL } from 'fhir-ops/internal/text'
import { type Damage, type Edit, added, here, inside, isRoot } from './edit.js'
import type { Site } from './site.js'

const NOWHERE = 'http://nowhere.test/x'
const ABSENT_REASON = `${TYPE_URL}data-absent-reason`
const STRAY = { resourceType: 'Basic', id: 'stray', code: { text: 'x' } }

/** Damages to references, contained resources, extensions, narratives and the subjects of invariants, by name. */
export const CONTENT_DAMAGES: ReadonlyMap<string, Damage> = new Map<string, Damage>([
  // References and contained resources
  ['reference to nothing', (site) => (isReference(site) ? [inside(site, ['reference', '#nowhere'], [site.expression])] : [])],
  ['reference to a wrong type', referenceToWrongType],
  ['reference with white space', (site) => (isReference(site) ? [inside(site, ['reference', 'Basic/ x'], [site.expression])] : [])],
  ['stated type that is not that of the reference', statedType],
  ['contained resource that nothing refers to', (site) => contained(site, STRAY)],
  ['contained resource without id', (site) => contained(site, { ...STRAY, id: undefined })],
  ['contained resource in a contained one', (site) => contained(site, { ...STRAY, contained: [STRAY] }, site.expression)],
  ['version of a contained resource', (site) => contained(site, { ...STRAY, meta: { versionId: '1' } }, site.expression)],
  ['two contained resources of one id', (site) => contained(contains(site, STRAY), STRAY)],
  ['contained resource of an unknown type', (site) => contained(site, { resourceType: 'Nothing', id: 'stray' })],
  ['unknown type of resource', (site) => (isRoot(site) ? [{ path: ['resourceType'], value: 'Nothing', expected: ['Nothing'] }] : [])],
  ['no type of resource', (site) => (isRoot(site) ? [{ path: ['resourceType'], value: undefined, expected: [undefined] }] : [])],
  [
    'id with other characters',
    (site) => (site.node.type.kind === 'resource' ? [inside(site, ['id', 'a_b'], [`${site.expression}.id`])] : []),
  ],
  ['id of an element with white space', (site) => (isInner(site) ? [inside(site, ['id', 'a b'], [`${site.expression}.id`])] : [])],
  ['id of an element twice', idTwice],
  ['profile of another type', (site) => (isRoot(site) ? [claiming(site, site.node.type.name === 'Basic' ? 'Patient' : 'Basic')] : [])],
  ['fullUrl that is not absolute', (site) => fullUrl(site, 'Basic/x')],
  ['fullUrl of another resource', (site) => fullUrl(site, `${NOWHERE}/Basic/x`)],
  // Extensions
  ['unknown extension', (site) => added(site, 'extension', { url: NOWHERE, valueString: 'x' })],
  ['unknown modifier extension', (site) => added(site, 'modifierExtension', { url: NOWHERE, valueBoolean: true })],
  ['extension without url', (site) => added(site, 'extension', { valueString: 'x' })],
  ['extension with a value of a wrong type', (site) => added(site, 'extension', { url: ABSENT_REASON, valueString: 'x' })],
  ['extension with a version in its url', (site) => added(site, 'extension', { url: `${ABSENT_REASON}|4.0.1`, valueCode: 'unknown' })],
  [
    'extension in a wrong context',
    (site) => added(site, 'extension', BIRTH_TIME).map((edit) => ({ ...edit, expected: [site.expression] })),
  ],
  ['extension as a modifier', (site) => added(site, 'modifierExtension', { url: ABSENT_REASON, valueCode: 'unknown' })],
  // Narrative and invariants
  ['script in the narrative', (site) => narrative(site, '<script>x()</script>')],
  ['narrative that is not well-formed', (site) => narrative(site, '<p>x</div><p>')],
  ['narrative without content', (site) => narrative(site, '')],
  ['link to nothing in the narrative', (site) => narrative(site, '<a href="#nowhere">x</a>')],
  ['attribute twice in the narrative', (site) => narrative(site, '<p class="a" class="b">x</p>')],
  ['invariant of a data type broken', (site) => broken(site, BROKEN_TYPES)],
  ['invariant of an element broken', (site) => broken(site, BROKEN_ELEMENTS)],
])

function isReference({ node }: Site): boolean {
  return node.type.name === 'Reference' && isObject(node.value) && stringAt(node.value, 'reference') !== undefined
}

function referenceToWrongType(site: Site): readonly Edit[] {
  const targets = objectsAt(site.element, 'type').flatMap((type) => {
    const profiles: unknown = type['targetProfile']
    return Array.isArray(profiles) ? profiles.map(String) : []
  })
  if (!isReference(site) || targets.length === 0 || targets.some((target) => /\/(Resource|Binary)$/.test(target))) return []
  return [here(site, { reference: 'Binary/x' })]
}

function statedType(site: Site): readonly Edit[] {
  const reference = isObject(site.node.value) ? stringAt(site.node.value, 'reference') : undefined
  return /^(?!Binary)[A-Z][A-Za-z]+\/[^/]+$/.test(reference ?? '') ? [inside(site, ['type', 'Binary'], [site.expression])] : []
}

/** @param place Expected place of the error. Default: the resource itself. */
function contained(site: Site, resource: JsonObject, place?: string): readonly Edit[] {
  if (!isRoot(site) || !site.node.type.members.has('contained')) return []
  return added(site, 'contained', resource).map((edit) => (place === undefined ? edit : { ...edit, expected: [place] }))
}

/** The site with an additional contained resource. */
function contains(site: Site, resource: JsonObject): Site {
  const { value } = site.node
  if (!isObject(value)) return site
  return { ...site, node: { ...site.node, value: { ...value, contained: [...objectsAt(value, 'contained'), resource] } } }
}

function isInner({ node, path }: Site): boolean {
  return path.length > 0 && node.type.kind === 'complex' && isObject(node.value)
}

/** The same id on an element and on one inside it. */
function idTwice(site: Site): readonly Edit[] {
  const { value, type } = site.node
  if (!isInner(site) || !isObject(value)) return []
  const slot = Object.keys(value).flatMap((name) => (isObject(value[name]) ? (type.members.get(name) ?? []) : []))[0]
  if (slot === undefined || slot.isChoice || slot.type === 'Resource') return []
  const member = { ...objectAt(value, slot.jsonName), id: 'twice' }
  return [{ ...here(site, { ...value, id: 'twice', [slot.jsonName]: member }), expected: [`${site.expression}.${slot.name}`] }]
}

function claiming(site: Site, type: string): Edit {
  return inside(site, ['meta', { profile: [TYPE_URL + type] }], [site.expression])
}

function fullUrl(site: Site, url: string): readonly Edit[] {
  const hasResource =
    site.node.type.name === 'Bundle.entry' && isObject(site.node.value) && objectAt(site.node.value, 'resource') !== undefined
  return hasResource ? [inside(site, ['fullUrl', url], [site.expression])] : []
}

/** An extension that is allowed only on `Patient.birthDate`. */
const BIRTH_TIME = { url: `${TYPE_URL}patient-birthTime`, valueDateTime: '2020-01-01T10:00:00Z' }

function narrative(site: Site, content: string): readonly Edit[] {
  if (site.node.type.name !== 'Narrative') return []
  return [inside(site, ['div', `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`], [`${site.expression}.div`])]
}

type Broken = ReadonlyMap<string, JsonObject>

const BROKEN_TYPES: Broken = new Map<string, JsonObject>([
  ['Attachment', { data: 'AAAA' }],
  ['ContactPoint', { value: 'x' }],
  ['Extension', { url: 'http://example.org/x', valueString: 'x', extension: [{ url: 'http://example.org/y', valueString: 'y' }] }],
  ['Period', { start: '2021', end: '2020' }],
  ['Quantity', { value: 1, code: 'x' }],
  ['Range', { low: { value: 2 }, high: { value: 1 } }],
  ['Ratio', { numerator: { value: 1 } }],
  ['Timing.repeat', { duration: 1 }],
])

const BROKEN_ELEMENTS: Broken = new Map<string, JsonObject>([
  ['AuditEvent.entity', { name: 'x', query: 'AAAA' }],
  ['Composition.section', { title: 'x' }],
  ['OperationDefinition.parameter', { name: 'x', use: 'in', min: 0, max: '1' }],
  ['Patient.contact', { gender: 'male' }],
  ['Questionnaire.item', { linkId: 'x', type: 'display', required: true }],
  ['ValueSet.compose.include', { concept: [{ code: 'x' }] }],
])

function broken(site: Site, kinds: Broken): readonly Edit[] {
  const value = kinds.get(site.node.type.name)
  return value === undefined ? [] : [here(site, value)]
}
