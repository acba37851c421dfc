import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { choiceName, TYPE_URL } from 'fhir-ops/internal/text'
import type { Random } from '../../fuzz/random.js'

/** An element of a resource that a profile can constrain. */
export interface Place {
  /** Path as in definitions: `Observation.value[x]`. */
  readonly path: string
  /** ElementDefinition of FHIR itself. */
  readonly element: JsonObject
  /** The values in the resource. */
  readonly values: readonly unknown[]
}

/** A kind of constraint on an element: where it is possible, and its elements of a differential. */
interface Demand {
  readonly fits: (place: Place) => boolean
  readonly make: (place: Place, random: Random) => readonly JsonObject[]
}

/** The constraints of random profiles: cardinality, values, types, bindings, invariants, slices. */
export const DEMANDS: readonly Demand[] = [
  { fits: () => true, make: (place) => [on(place, { min: Math.max(1, minOf(place)) })] },
  { fits: (place) => minOf(place) === 0, make: (place) => [on(place, { max: '0' })] },
  { fits: repeats, make: (place) => [on(place, { max: String(Math.max(1, minOf(place))) })] },
  { fits: repeats, make: (place) => [on(place, { min: 2 })] },
  { fits: isFixable, make: fixedValue },
  { fits: (place) => /^(CodeableConcept|Coding|Identifier|HumanName|Period|Quantity)$/.test(typeOf(place)), make: pattern },
  { fits: (place) => place.path.endsWith('[x]'), make: oneType },
  { fits: (place) => /^(code|Coding|CodeableConcept)$/.test(typeOf(place)) && strengthOf(place) !== 'required', make: binding },
  {
    fits: (place) => /^(string|markdown|uri)$/.test(typeOf(place)),
    make: (place, random) => [on(place, { maxLength: random.one([2, 10, 200]) })],
  },
  { fits: (place) => LIMITS.has(typeOf(place)), make: limit },
  { fits: () => true, make: invariant },
  { fits: (place) => repeats(place) && SLICED.has(typeOf(place)), make: slices },
  { fits: () => true, make: (place) => [on(place, { mustSupport: true })] },
  { fits: (place) => targetsOf(place).length > 1, make: oneTarget },
]

function on({ path }: Place, demand: JsonObject): JsonObject {
  return { id: path, path, ...demand }
}

function typesOf({ element }: Place): readonly string[] {
  return objectsAt(element, 'type').map((type) => stringAt(type, 'code') ?? '')
}

/** The only type of an element; empty if there are several. */
function typeOf(place: Place): string {
  const [type = '', ...others] = typesOf(place)
  return others.length > 0 || place.path.endsWith('[x]') ? '' : type
}

function minOf({ element }: Place): number {
  return Number(element['min'] ?? 0)
}

function repeats({ element }: Place): boolean {
  return element['max'] === '*'
}

function strengthOf({ element }: Place): string | undefined {
  const bound: unknown = element['binding']
  return isObject(bound) ? stringAt(bound, 'strength') : undefined
}

function targetsOf({ element }: Place): readonly string[] {
  const targets: unknown = objectsAt(element, 'type')[0]?.['targetProfile']
  return Array.isArray(targets) ? targets.map(String) : []
}

const OTHERS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['string', 'another'],
  ['boolean', true],
  ['integer', 7],
  ['positiveInt', 7],
  ['date', '1999-12-31'],
  ['dateTime', '1999-12-31'],
  ['uri', 'http://oracle.test/another'],
])

function isFixable(place: Place): boolean {
  return !repeats(place) && OTHERS.has(typeOf(place))
}

function fixedValue(place: Place, random: Random): readonly JsonObject[] {
  const type = typeOf(place)
  const [value] = place.values
  const name = choiceName(random.one(['fixed', 'pattern']), type)
  return [on(place, { [name]: value === undefined || isObject(value) || random.seldom(2) ? OTHERS.get(type) : value })]
}

const PATTERNS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['CodeableConcept', { coding: [{ system: 'http://oracle.test/codes', code: 'x' }] }],
  ['Coding', { system: 'http://oracle.test/codes', code: 'x' }],
  ['Identifier', { system: 'http://oracle.test/ids' }],
  ['HumanName', { use: 'old' }],
  ['Period', { start: '1999-12-31' }],
  ['Quantity', { system: 'http://unitsofmeasure.org', code: 'mg' }],
])

function pattern(place: Place, random: Random): readonly JsonObject[] {
  const type = typeOf(place)
  const own = place.values.find((value) => isObject(value))
  const members = isObject(own) ? Object.entries(own).filter(([name]) => !/^(_|id$|extension$)/.test(name)) : []
  const part = members.length === 0 || random.seldom(2) ? PATTERNS.get(type) : Object.fromEntries([random.one(members)])
  return [on(place, { [`${random.seldom(6) ? 'fixed' : 'pattern'}${type}`]: part })]
}

function oneType(place: Place, random: Random): readonly JsonObject[] {
  return [on(place, { type: [random.one(objectsAt(place.element, 'type'))] })]
}

const VALUE_SETS = [
  'administrative-gender',
  'observation-codes',
  'identifier-type',
  'condition-clinical',
  'contact-point-system',
  'languages',
]

function binding(place: Place, random: Random): readonly JsonObject[] {
  const strength = random.one(['required', 'extensible', 'preferred'])
  return [on(place, { binding: { strength, valueSet: `http://hl7.org/fhir/ValueSet/${random.one(VALUE_SETS)}` } })]
}

const LIMITS: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['date', ['1990-01-01', '2030']],
  ['dateTime', ['1990', '2030-01-01T00:00:00Z']],
  ['instant', ['1990-01-01T00:00:00Z', '2030-01-01T00:00:00Z']],
  ['integer', [-3, 3, 300]],
  ['positiveInt', [3, 300]],
  ['unsignedInt', [3, 300]],
  ['decimal', [0.5, 300]],
])

function limit(place: Place, random: Random): readonly JsonObject[] {
  const type = typeOf(place)
  const name = choiceName(random.one(['minValue', 'maxValue']), type)
  return [on(place, { [name]: random.one(LIMITS.get(type) ?? []) })]
}

const EXPRESSIONS = [
  '$this.exists()',
  'children().count() > 2',
  'id.exists()',
  'descendants().count() < 12',
  'toString().length() > 3',
  'extension.empty()',
  '%resource.id.exists()',
  'children().where($this is string).exists()',
]

function invariant(place: Place, random: Random): readonly JsonObject[] {
  const severity = random.one(['error', 'warning'])
  return [on(place, { constraint: [{ key: 'oracle-1', severity, human: 'A random rule.', expression: random.one(EXPRESSIONS) }] })]
}

/** The member by which lists of a type are sliced, and possible values of it. */
const SLICED: ReadonlyMap<string, readonly [member: string, value: string, ...values: string[]]> = new Map([
  ['Identifier', ['system', 'Uri', 'http://oracle.test/ids', 'urn:oid:1.2.36.146.595.217.0.1']],
  ['ContactPoint', ['system', 'Code', 'phone', 'email', 'url']],
  ['HumanName', ['use', 'Code', 'official', 'usual', 'old']],
  ['Address', ['use', 'Code', 'home', 'work']],
  ['Annotation', ['text', 'Markdown', 'another', 'a third']],
])

function slices(place: Place, random: Random): readonly JsonObject[] {
  const [member = '', type = '', ...values] = SLICED.get(typeOf(place)) ?? []
  const slicing = {
    discriminator: [{ type: random.one(['value', 'pattern']), path: member }],
    rules: random.one(['open', 'closed', 'openAtEnd']),
    ordered: random.seldom(3),
  }
  const own = place.values.flatMap((value) => (isObject(value) ? [stringAt(value, member)] : [])).filter((value) => value !== undefined)
  const chosen = [...new Set([...own.slice(0, 1), ...values])].slice(0, 1 + random.whole(3))
  const elements = chosen.flatMap((value, index) => {
    const id = `${place.path}:s${index}`
    const cardinality = random.one<JsonObject>([{}, { min: 1 }, { max: '1' }, { max: '0' }])
    return [
      { id, path: place.path, sliceName: `s${index}`, ...cardinality },
      { id: `${id}.${member}`, path: `${place.path}.${member}`, min: 1, [`${random.one(['fixed', 'pattern'])}${type}`]: value },
    ]
  })
  return [on(place, { slicing }), ...elements]
}

function oneTarget(place: Place, random: Random): readonly JsonObject[] {
  return [on(place, { type: [{ code: 'Reference', targetProfile: [random.one([...targetsOf(place), `${TYPE_URL}Basic`])] }] })]
}
