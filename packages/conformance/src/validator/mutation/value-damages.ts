import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { type Damage, type Edit, here, inside, isComplex, list } from './edit.js'
import type { Site } from './site.js'

const NOWHERE = 'http://nowhere.test/x'

/** Damages to properties, values and codes, by name. */
export const VALUE_DAMAGES: ReadonlyMap<string, Damage> = new Map<string, Damage>([
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
])

function isSingle({ node }: Site): boolean {
  return node.slot?.isCollection === false && node.value !== undefined
}

function isFirst({ node }: Site): boolean {
  return node.slot?.isCollection === true && node.index === 0 && node.value !== undefined
}

/** Required elements that are present. */
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
  ['markdown', ''],
  ['oid', '1.2.3'],
  ['positiveInt', 0],
  ['string', ''],
  ['time', '24:00'],
  ['unsignedInt', -1],
  ['uri', 'a b'],
  ['url', 'a b'],
  ['uuid', 'urn:uuid:1'],
])

function wrongForm(site: Site): readonly Edit[] {
  const wrong = WRONG_FORMS.get(site.node.type.name)
  if (wrong === undefined) return []
  const edit = here(site, wrong)
  const isContent = site.node.type.name === 'base64Binary' && site.node.parent?.type.name === 'Attachment'
  // Data that cannot be decoded is a fault of the Attachment.
  return [isContent ? { ...edit, expected: [...edit.expected, site.expression.replace(/\.\w+$/, '')] } : edit]
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
