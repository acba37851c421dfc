import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/json'
import type { Edit } from './edit.js'
import type { Site } from './site.js'

/** A kind of damage: how it is done at a place, when it can be done there. */
export type Damage = (site: Site) => readonly Edit[]

const NOWHERE = 'http://nowhere.test/x'
const ABSENT_REASON = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason'

/** Every kind of damage by its name. */
export const DAMAGES: ReadonlyMap<string, Damage> = new Map<string, Damage>([
  // Properties
  ['required element missing', (site) => requiredNames(site).map((name) => inside(site, [name, undefined], [site.expression]))],
  ['unknown property', (site) => (isComplex(site) ? [inside(site, ['notInFhir', 1], [`${site.expression}.notInFhir`])] : [])],
  ['property twice', propertyTwice],
  ['choice given twice', choiceTwice],
  ['choice of a type that is not allowed', choiceOfOtherType],
  // Lists, objects and nothing
  ['list where one value is allowed', (site) => (isSingle(site) ? [here(site, [site.node.value])] : [])],
  ['one value where a list is needed', (site) => (isFirst(site) ? [list(site, site.node.value)] : [])],
  ['empty list', (site) => (isFirst(site) ? [list(site, [])] : [])],
  ['empty object', (site) => (isComplex(site) && site.path.length > 0 ? [here(site, {})] : [])],
  ['null', (site) => (site.path.length > 0 ? [here(site, null)] : [])],
  ['only an id', (site) => (isComplex(site) && site.path.length > 0 && site.node.type.kind === 'complex' ? [here(site, { id: 'x' })] : [])],
  // Primitive values
  ['empty string', (site) => (typeof site.node.value === 'string' ? [here(site, '')] : [])],
  ['number as string', (site) => (typeof site.node.value === 'number' ? [here(site, String(site.node.value))] : [])],
  ['boolean as string', (site) => (typeof site.node.value === 'boolean' ? [here(site, String(site.node.value))] : [])],
  ['string as number', (site) => (typeof site.node.value === 'string' ? [here(site, 5)] : [])],
  ['object for a primitive value', (site) => (site.node.type.kind === 'primitive' ? [here(site, { value: site.node.value })] : [])],
  ['wrong form', wrongForm],
  ['date that there is not', (site) => (/^(date|dateTime|instant)$/.test(site.node.type.name) ? [here(site, '2023-02-30')] : [])],
  ['decimal point in an integer', decimalPoint],
  // Codes
  ['code outside of a required value set', codeOutside],
  ['concept outside of a required value set', conceptOutside],
  [
    'unknown code of a known system',
    (site) => (site.system === undefined ? [] : [inside(site, ['code', 'no-such-code'], [`${site.expression}.code`])]),
  ],
  ['wrong display', (site) => (hasDisplay(site) ? [inside(site, ['display', 'no such display'], [`${site.expression}.display`])] : [])],
  // References and contained resources
  ['reference to nothing', (site) => (isReference(site) ? [inside(site, ['reference', '#nowhere'], [site.expression])] : [])],
  ['reference to a wrong type', referenceToWrongType],
  ['contained resource that nothing refers to', (site) => contained(site, { resourceType: 'Basic', id: 'stray', code: { text: 'x' } })],
  ['contained resource without id', (site) => contained(site, { resourceType: 'Basic', code: { text: 'x' } })],
  ['contained resource of an unknown type', (site) => contained(site, { resourceType: 'Nothing', id: 'stray' })],
  ['unknown type of resource', (site) => (isRoot(site) ? [{ path: ['resourceType'], value: 'Nothing', expected: ['Nothing'] }] : [])],
  ['no type of resource', (site) => (isRoot(site) ? [{ path: ['resourceType'], value: undefined, expected: [undefined] }] : [])],
  [
    'id with other characters',
    (site) => (site.node.type.kind === 'resource' ? [inside(site, ['id', 'a_b'], [`${site.expression}.id`])] : []),
  ],
  // Extensions
  ['unknown extension', (site) => added(site, 'extension', { url: NOWHERE, valueString: 'x' })],
  ['unknown modifier extension', (site) => added(site, 'modifierExtension', { url: NOWHERE, valueBoolean: true })],
  ['extension without url', (site) => added(site, 'extension', { valueString: 'x' })],
  ['extension with a value of a wrong type', (site) => added(site, 'extension', { url: ABSENT_REASON, valueString: 'x' })],
  // Narrative and invariants
  ['script in the narrative', (site) => narrative(site, '<script>x()</script>')],
  ['narrative that is not well-formed', (site) => narrative(site, '<p>x</div><p>')],
  ['narrative without content', (site) => narrative(site, '')],
  ['invariant of a data type broken', invariantBroken],
])

function here({ path, expression }: Site, value: unknown): Edit {
  return { path, value, expected: [expression] }
}

function inside({ path }: Site, [name, value]: readonly [name: string, value: unknown], expected: Edit['expected']): Edit {
  return { path: [...path, name], value, expected }
}

function list({ path, expression }: Site, value: unknown): Edit {
  return { path: path.slice(0, -1), value, expected: [expression.slice(0, expression.lastIndexOf('['))] }
}

function isRoot({ path }: Site): boolean {
  return path.length === 0
}

function isComplex({ node }: Site): boolean {
  return isObject(node.value)
}

function isSingle({ node }: Site): boolean {
  return node.slot?.isCollection === false && node.value !== undefined
}

function isFirst({ node }: Site): boolean {
  return node.slot?.isCollection === true && node.index === 0 && node.value !== undefined
}

function isReference({ node }: Site): boolean {
  return node.type.name === 'Reference' && isObject(node.value) && stringAt(node.value, 'reference') !== undefined
}

/** Elements that must be there, and are. */
function requiredNames({ node, inside: elements }: Site): readonly string[] {
  const { value } = node
  if (!isObject(value)) return []
  return Object.keys(value).filter((name) => {
    const slot = node.type.members.get(name)
    const min: unknown = elements.get(slot?.name ?? '')?.['min']
    return typeof min === 'number' && min > 0 && !Object.hasOwn(value, `_${name}`)
  })
}

function propertyTwice(site: Site): readonly Edit[] {
  const name = isObject(site.node.value)
    ? Object.keys(site.node.value).find((key) => key !== 'resourceType' && !key.startsWith('_'))
    : undefined
  if (name === undefined || !isObject(site.node.value)) return []
  return [{ ...inside(site, ['twice', site.node.value[name]], placesOf(site, name)), raw: ['"twice":', `"${name}":`] }]
}

function placesOf({ node, expression }: Site, name: string): readonly string[] {
  const slot = node.type.members.get(name)
  if (slot?.isChoice === true) return [`${expression}.${slot.name}.ofType(${slot.type})`]
  return [`${expression}.${name}`, `${expression}.${name}[0]`]
}

function choiceTwice({ node, path, expression }: Site): readonly Edit[] {
  const other =
    node.slot?.isChoice === true ? node.parent?.type.elements.get(node.slot.name)?.find(({ type }) => type !== node.slot?.type) : undefined
  const value = other === undefined ? undefined : SAMPLES.get(other.type)
  if (other === undefined || value === undefined) return []
  return [
    {
      path: [...path.slice(0, -1), other.jsonName],
      value,
      expected: [`${parentOf(expression)}.${other.name}.ofType(${other.type})`, expression],
    },
  ]
}

function choiceOfOtherType({ node, path, expression }: Site): readonly Edit[] {
  if (node.slot?.isChoice !== true || node.parent === undefined || !isObject(node.parent.value)) return []
  const name = `${node.slot.name}Nothing`
  return [{ path: [...path.slice(0, -1), name], value: node.value, expected: [`${parentOf(expression)}.${name}`] }]
}

function parentOf(expression: string): string {
  return expression.slice(0, expression.lastIndexOf('.', expression.lastIndexOf('.ofType(') - 1))
}

const SAMPLES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['string', 'x'],
  ['boolean', true],
  ['integer', 1],
  ['dateTime', '2020'],
  ['CodeableConcept', { text: 'x' }],
  ['Reference', { display: 'x' }],
  ['Period', { start: '2020' }],
  ['Quantity', { value: 1 }],
])

const WRONG_FORMS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['base64Binary', '@@@@'],
  ['canonical', 'not absolute'],
  ['code', ' x'],
  ['date', '01.02.2020'],
  ['dateTime', '2020-01-01T10:00'],
  ['decimal', 'x'],
  ['id', 'a_b'],
  ['instant', '2020-01-01'],
  ['integer', 2_147_483_648],
  ['markdown', ' '],
  ['oid', '1.2.3'],
  ['positiveInt', 0],
  ['string', ' '],
  ['time', '24:00'],
  ['unsignedInt', -1],
  ['uri', 'a b'],
  ['url', 'a b'],
  ['uuid', 'urn:uuid:1'],
])

function wrongForm(site: Site): readonly Edit[] {
  const wrong = WRONG_FORMS.get(site.node.type.name)
  return wrong === undefined ? [] : [here(site, wrong)]
}

function decimalPoint(site: Site): readonly Edit[] {
  if (!/^(integer|positiveInt|unsignedInt)$/.test(site.node.type.name)) return []
  return [{ ...here(site, '@integer@'), raw: ['"@integer@"', `${String(site.node.value)}.0`] }]
}

function codeOutside(site: Site): readonly Edit[] {
  return site.node.type.name === 'code' && isRequired(site) ? [here(site, 'no-such-code')] : []
}

function conceptOutside(site: Site): readonly Edit[] {
  const outside = { system: NOWHERE, code: 'x' }
  if (!isRequired(site)) return []
  if (site.node.type.name === 'Coding') return [here(site, outside)]
  return site.node.type.name === 'CodeableConcept' ? [here(site, { coding: [outside] })] : []
}

function isRequired({ element }: Site): boolean {
  return stringAt(objectAt(element, 'binding'), 'strength') === 'required'
}

function hasDisplay({ system, node }: Site): boolean {
  const code = isObject(node.value) ? stringAt(node.value, 'code') : undefined
  const found = conceptsIn(system).find((concept) => concept['code'] === code)
  return found !== undefined && stringAt(found, 'display') !== undefined
}

function conceptsIn(holder: JsonObject | undefined): readonly JsonObject[] {
  return objectsAt(holder, 'concept').flatMap((concept) => [concept, ...conceptsIn(concept)])
}

function referenceToWrongType(site: Site): readonly Edit[] {
  const targets = objectsAt(site.element, 'type').flatMap((type) => {
    const profiles: unknown = type['targetProfile']
    return Array.isArray(profiles) ? profiles.map(String) : []
  })
  if (!isReference(site) || targets.length === 0 || targets.some((target) => /\/(Resource|Binary)$/.test(target))) return []
  return [here(site, { reference: 'Binary/x' })]
}

function contained(site: Site, resource: JsonObject): readonly Edit[] {
  return isRoot(site) && site.node.type.members.has('contained') ? added(site, 'contained', { item: resource }) : []
}

/** Adds an item to a list. Where an extension has no extensions in it, the error is told there. */
function added({ node, path, expression }: Site, name: string, item: JsonObject): readonly Edit[] {
  if (!isObject(node.value) || !node.type.members.has(name)) return []
  const before: unknown = node.value[name]
  const items: readonly unknown[] = Array.isArray(before) ? before : []
  const place = `${expression}.${name}[${items.length}]`
  return [{ path: [...path, name], value: [...items, item], expected: node.type.name === 'Extension' ? [place, expression] : [place] }]
}

function narrative(site: Site, content: string): readonly Edit[] {
  if (site.node.type.name !== 'Narrative') return []
  return [inside(site, ['div', `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`], [`${site.expression}.div`])]
}

const BROKEN: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['Attachment', { data: 'AAAA' }],
  ['ContactPoint', { value: 'x' }],
  ['Extension', { url: 'http://example.org/x', valueString: 'x', extension: [{ url: 'http://example.org/y', valueString: 'y' }] }],
  ['Period', { start: '2021', end: '2020' }],
  ['Quantity', { value: 1, code: 'x' }],
  ['Range', { low: { value: 2 }, high: { value: 1 } }],
  ['Ratio', { numerator: { value: 1 } }],
  ['Timing', { repeat: { duration: 1 } }],
])

function invariantBroken(site: Site): readonly Edit[] {
  const broken = BROKEN.get(site.node.type.name)
  if (broken === undefined) return []
  const expected = site.node.type.name === 'Timing' ? `${site.expression}.repeat` : site.expression
  return [{ path: site.path, value: broken, expected: [expected] }]
}
