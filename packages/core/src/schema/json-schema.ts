import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput, COUNT, inputShape, needed, oneOf, TEXT } from '../input/index.js'
import { ownCopy, type JsonObject, isObject } from '../json/index.js'
import { TYPE_URL, type Profile } from '../validate/run/element-rule.js'
import { profileRef, startMaking, type Making, type Unexpressed, note, oneSchema, ruleOfType, typeRef } from './making.js'
import { withNearest } from '../text/nearest.js'
import type { ElementSlot, TypeDefinition } from '../fhirpath/index.js'
import { demandsOf, keywordsOf } from './rule-schema.js'

/** The input of `jsonSchema`. */
export interface JsonSchemaInput {
  /** Canonical URL of a StructureDefinition, with or without version, or the name of a type: `Patient`, `HumanName`. */
  readonly url: string
  /**
   * How resources inside a resource (`contained`, entries of a Bundle) are described: `named` requires an existing `resourceType`; `whole` adds the
   * schemas of all resource types, which makes the schema as large as all of R4. Default `named`.
   */
  readonly resources?: 'named' | 'whole' | undefined
  /** Maximum number of codes of a value set; required bindings to larger value sets are not in the schema. Default 500. */
  readonly maxCodes?: number | undefined
}

/** The result of `jsonSchema`. */
export interface JsonSchemaResult {
  /** A self-contained JSON Schema, draft 2020-12. */
  readonly schema: JsonObject
  /** Requirements of the definitions that the schema does not express, in the order in which they were found. */
  readonly unexpressed: readonly Unexpressed[]
}

const INPUT = inputShape<JsonSchemaInput>({ url: needed(TEXT), resources: oneOf('named', 'whole'), maxCodes: COUNT })

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'
const MAX_CODES = 500

/**
 * Generates the JSON Schema of a type or a profile, for forms, program inputs and answers of language models. Whatever the schema rejects, `validate`
 * rejects too; whatever it accepts may still violate the requirements in `unexpressed`.
 *
 * @throws {OperationError} `profile-not-found` if there is no such StructureDefinition; `definition-required` if the context has no types;
 *   `parameter-required`, `aborted`, `computation-timeout`.
 * @see https://json-schema.org/draft/2020-12
 */
export async function jsonSchema(ctx: OperationContext, input: JsonSchemaInput): Promise<JsonSchemaResult> {
  checkInput(ctx, input, INPUT)
  const { url, resources = 'named', maxCodes = MAX_CODES } = input
  const making = startMaking(ctx, { resources, maxCodes }, { type: typeSchema, profile: profileSchema })
  const canonical = making.model.type(url) === undefined ? url : TYPE_URL + url
  const ref = await profileRef(making, canonical)
  if (ref === undefined) throw notFound(url, making)
  const $defs = await definitions(making)
  return { schema: { $schema: DRAFT, $id: canonical.replace('|', '?version='), ...ref, $defs }, unexpressed: onceEach(making.unexpressed) }
}

function notFound(url: string, { model }: Making): OperationError {
  const types = Array.from(model.names()).filter((name) => !name.includes('.'))
  const problem = withNearest(`There is no StructureDefinition or type ${quoted(url)}.`, url, types)
  return new OperationError('profile-not-found', problem, {
    expression: ['url'],
    missing: { kind: 'StructureDefinition', name: url },
  })
}

/** Generates all referenced definitions. Each may refer to further definitions, which are appended. */
async function definitions({ waiting, pace }: Making): Promise<JsonObject> {
  const made: [string, JsonObject][] = []
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    await pace.step()
    // Schemas share constants, such as those of primitive types; each result gets its own copy.
    made.push([next.name, ownCopy(await next.make())])
  }
  return Object.fromEntries(made)
}

function onceEach(unexpressed: readonly Unexpressed[]): readonly Unexpressed[] {
  return [...new Map(unexpressed.map((one) => [JSON.stringify(one), one])).values()]
}

/** The schema of a type: `Patient`, `HumanName`, `code`, `Patient.contact`. */
async function typeSchema(making: Making, name: string): Promise<JsonObject> {
  const type = making.model.type(name)
  const primitive = PRIMITIVE_SCHEMAS.get(name)
  if (primitive !== undefined) return primitive
  if (name === 'Resource' || name === 'DomainResource') return anyResource(making)
  if (type === undefined) return {}
  return objectSchema(making, type)
}

/** The schema of any resource: by the name of its type, or complete. */
function anyResource(making: Making): JsonObject {
  const names = resourceNames(making)
  const named: JsonObject = { type: 'object', required: ['resourceType'], properties: { resourceType: { enum: names } } }
  if (making.form.resources === 'named') return named
  const allOf = names.map((name) => ({ if: { properties: { resourceType: { const: name } } }, then: typeRef(making, name) }))
  return { ...named, allOf }
}

/** The concrete resource types, sorted. */
function resourceNames({ model }: Making): readonly string[] {
  return [...model.names()].filter((name) => model.type(name)?.kind === 'resource' && !ABSTRACT.has(name)).sort()
}

const ABSTRACT: ReadonlySet<string> = new Set(['Resource', 'DomainResource'])

/** The schema of an object of a type: its members and no others, with the requirements of its definition. */
async function objectSchema(making: Making, type: TypeDefinition): Promise<JsonObject> {
  const rule = await ruleOfType(making, type.name)
  const { properties, required, allOf } =
    rule === undefined ? { properties: {}, required: [], allOf: [] } : await demandsOf(making, rule, type.name)
  for (const { key, human } of rule?.constraints ?? []) if (rule !== undefined) note(making, rule, 'invariant', `${key}: ${human}`)
  const isResource = type.kind === 'resource'
  const slots = [...type.members.values()]
  const shape = membersOf(making, type)
  for (const [name, demand] of Object.entries(properties)) shape[name] = bothOf(shape[name], demand)
  return {
    type: 'object',
    ...(isResource && { title: type.name }),
    properties: { ...(isResource && { resourceType: { const: type.name } }), ...shape },
    ...((isResource || required.length > 0) && { required: [...(isResource ? ['resourceType'] : []), ...required] }),
    additionalProperties: false,
    ...(!isResource && type.name !== SIBLING && { minProperties: 1, not: { required: ['id'], maxProperties: 1 } }),
    ...conditions([...allOf, ...choiceConditions(type), ...slots.flatMap((slot) => nullConditions(making, slot))]),
  }
}

/** A schema for each member. */
function membersOf(making: Making, { kind, members }: TypeDefinition): Record<string, JsonObject | boolean> {
  const shape = Object.fromEntries([...members.values()].flatMap((slot) => memberSchemas(making, slot)))
  return kind !== 'resource' && 'id' in shape ? { ...shape, id: ELEMENT_ID } : shape
}

/** Element.id has no white space. @see https://hl7.org/fhir/R4/element.html#id */
const ELEMENT_ID: JsonObject = { type: 'string', pattern: '^\\S+$' }

function conditions(allOf: readonly JsonObject[]): JsonObject {
  return allOf.length === 0 ? {} : { allOf }
}

/** The type of the sibling of a primitive value. It may be empty or have only an id, because the value is the content. */
const SIBLING = 'Element'

/** The schema of a member and, for a primitive, of the sibling that holds its id and extensions. */
function memberSchemas(making: Making, slot: ElementSlot): readonly (readonly [string, JsonObject | boolean])[] {
  const { jsonName, siblingName, isCollection, type } = slot
  const value = typeRef(making, type)
  if (!isPrimitive(making, slot)) return [[jsonName, isCollection ? { type: 'array', minItems: 1, items: value } : value]]
  const extra = typeRef(making, SIBLING)
  if (!isCollection) return [[jsonName, value], ...(jsonName === 'id' ? [] : [[siblingName, extra] as const])]
  return [
    [jsonName, nullable(value)],
    [siblingName, nullable(extra)],
  ]
}

function nullable(items: JsonObject): JsonObject {
  return { type: 'array', minItems: 1, items: { anyOf: [items, { type: 'null' }] } }
}

function isPrimitive({ model }: Making, { type }: ElementSlot): boolean {
  return model.type(type)?.kind === 'primitive'
}

/** A choice element may have at most one type, as a value or as a sibling. */
function choiceConditions(type: TypeDefinition): readonly JsonObject[] {
  const choices = [...type.elements.values()].filter(([slot]) => slot?.isChoice === true)
  return choices
    .filter((slots) => slots.length > 1)
    .map((slots) => {
      const present = slots.map(({ jsonName, siblingName }) => ({
        anyOf: type.members.has(jsonName) ? [{ required: [jsonName] }, { required: [siblingName] }] : [{ required: [jsonName] }],
      }))
      return { oneOf: [...present, { not: { anyOf: present } }] }
    })
}

/** An item of a list of primitives may be null only if its sibling has extensions. A schema can only require that the list of siblings is present. */
function nullConditions(making: Making, slot: ElementSlot): readonly JsonObject[] {
  if (!slot.isCollection || !isPrimitive(making, slot)) return []
  const without = (name: string, other: string): JsonObject => ({
    anyOf: [{ required: [other] }, { properties: { [name]: { items: { not: { type: 'null' } } } } }],
  })
  return [without(slot.jsonName, slot.siblingName), without(slot.siblingName, slot.jsonName)]
}

/** Combines the schema of a member with further requirements. */
function bothOf(shape: JsonObject | boolean | undefined, demand: JsonObject | boolean): JsonObject | boolean {
  if (!isObject(shape) || !isObject(demand)) return demand
  const { items, ...list } = demand
  if (!isObject(items) || !isObject(shape['items'])) return oneSchema([shape, demand]) ?? shape
  return { ...shape, ...list, items: oneSchema([shape['items'], items]) }
}

/** The schema of a profile: the requirements of its base, then those that the profile adds. */
async function profileSchema(making: Making, profile: Profile): Promise<JsonObject> {
  const { root, base, type, canonical } = profile
  const based = base === undefined ? undefined : await profileRef(making, base)
  if (base !== undefined && based === undefined) note(making, root, 'profile', base)
  for (const { key, human } of root.constraints) note(making, root, 'invariant', `${key}: ${human}`)
  const { allOf = [], ...keywords } = keywordsOf(await demandsOf(making, root, type))
  const added = Array.isArray(allOf) ? allOf : []
  return { $comment: canonical, ...keywords, allOf: [based ?? typeRef(making, type), ...added] }
}

const YEAR = '(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])'
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)'
const MONTH = '(?:0[1-9]|1[0-2])'
const LONG_MONTH_DAY = '(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])'
const SHORT_MONTH_DAY = '(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)'
const DAY = `(?:${YEAR}-(?:${LONG_MONTH_DAY}|${SHORT_MONTH_DAY}|02-(?:0[1-9]|1[0-9]|2[0-8]))|${LEAP_YEAR}-02-29)`
const TIME = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\\.[0-9]+)?'
const ZONE = '(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])'
const OID = '^urn:oid:[0-2](?:\\.(?:0|[1-9][0-9]*))+$'
const HEX = '[0-9a-fA-F]'
const UUID = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`
const BASE64 = '[A-Za-z0-9+/]'

/** FHIR's maximum length of a string, which FHIR counts in bytes and the schema in characters. */
const LONGEST = 1_048_576
const MAX_INTEGER = 2_147_483_647

const TEXT_SCHEMA: JsonObject = { type: 'string', minLength: 1, maxLength: LONGEST }

/** A URI: without white space; a URN of an OID or UUID must be well-formed. */
const URI: JsonObject = {
  type: 'string',
  pattern: '^\\S+$',
  not: { pattern: '^(?:oid|uuid):' },
  allOf: [
    { if: { pattern: '^urn:oid:' }, then: { pattern: OID } },
    { if: { pattern: '^urn:uuid:' }, then: { pattern: `^urn:uuid:${UUID}(?:#.*)?$` } },
  ],
}

/**
 * The schemas of the primitive types. The regular expressions are those of FHIR's data types, extended to check the days of months and leap years;
 * they use neither lookaround nor ambiguous nested repetition, so that every engine matches them in linear time.
 *
 * @see https://hl7.org/fhir/R4/datatypes.html#primitive
 */
const PRIMITIVE_SCHEMAS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['boolean', { type: 'boolean' }],
  ['base64Binary', { type: 'string', minLength: 1, pattern: base64Pattern(), contentEncoding: 'base64' }],
  ['canonical', { allOf: [URI, { pattern: '^(?:#|[A-Za-z][A-Za-z0-9+.-]*:)' }] }],
  ['code', { type: 'string', pattern: '^\\S+(?:[^\\S\\t\\n\\r]\\S+)*$' }],
  ['date', { type: 'string', pattern: `^(?:${YEAR}(?:-${MONTH})?|${DAY})$` }],
  ['dateTime', { type: 'string', pattern: `^(?:${YEAR}(?:-${MONTH})?|${DAY}(?:T${TIME}${ZONE})?)$` }],
  ['decimal', { type: 'number' }],
  ['id', { type: 'string', pattern: '^[A-Za-z0-9.-]{1,64}$' }],
  ['instant', { type: 'string', pattern: `^${DAY}T${TIME}${ZONE}$` }],
  ['integer', { type: 'integer', minimum: -MAX_INTEGER - 1, maximum: MAX_INTEGER }],
  ['markdown', TEXT_SCHEMA],
  ['oid', { type: 'string', pattern: OID }],
  ['positiveInt', { type: 'integer', minimum: 1, maximum: MAX_INTEGER }],
  ['string', TEXT_SCHEMA],
  ['time', { type: 'string', pattern: `^${TIME}$` }],
  ['unsignedInt', { type: 'integer', minimum: 0, maximum: MAX_INTEGER }],
  ['uri', URI],
  ['url', URI],
  ['uuid', { type: 'string', pattern: '^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }],
  ['xhtml', { type: 'string', minLength: 1 }],
])

/** Groups of four characters with white space anywhere; the last group may end with one or two `=`. */
function base64Pattern(): string {
  const space = '[ \\t\\n\\r]*'
  const digit = `${BASE64}${space}`
  const pad = `=${space}`
  return `^${space}(?:(?:${digit}){4})*(?:${digit}${digit}${pad}${pad}|${digit}${digit}${digit}${pad})?$`
}
