import type { ElementSlot, TypeDefinition } from '../fhirpath/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import type { Profile } from '../validate/run/element-rule.js'
import { note, profileRef, ruleOfType, typeRef, type Making } from './making.js'
import { PRIMITIVE_SCHEMAS } from './primitive-schemas.js'
import { demandsOf, keywordsOf } from './rule-schema.js'
import { oneSchema } from './schema-parts.js'

/** The schema of a type: `Patient`, `HumanName`, `code`, `Patient.contact`. */
export async function typeSchema(making: Making, name: string): Promise<JsonObject> {
  const type = making.model.type(name)
  const primitive = PRIMITIVE_SCHEMAS.get(name)
  if (primitive !== undefined) return primitive
  if (name === 'Resource' || name === 'DomainResource') return anyResource(making)
  if (type === undefined) return {}
  return objectSchema(making, type)
}

/** Any resource: by the name of its type, or whole. */
function anyResource(making: Making): JsonObject {
  const names = resourceNames(making)
  const named: JsonObject = { type: 'object', required: ['resourceType'], properties: { resourceType: { enum: names } } }
  if (making.form.resources === 'named') return named
  const allOf = names.map((name) => ({ if: { properties: { resourceType: { const: name } } }, then: typeRef(making, name) }))
  return { ...named, allOf }
}

/** The types that resources can have, in their order. */
function resourceNames({ model }: Making): readonly string[] {
  return [...model.names()].filter((name) => model.type(name)?.kind === 'resource' && !ABSTRACT.has(name)).sort()
}

const ABSTRACT: ReadonlySet<string> = new Set(['Resource', 'DomainResource'])

/** An object of a type: its members and no others, and what its definition demands of them. */
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

/** The type of what is beside a primitive value. It may be empty or have only an id: the value is the content. */
const SIBLING = 'Element'

/** A member, and the sibling that holds id and extensions of a primitive. */
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

/** Of a choice at most one type, by its value or by its sibling. */
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

/** An item of a list of primitives may be null where its sibling has extensions, and only there; a schema can say that there must be siblings. */
function nullConditions(making: Making, slot: ElementSlot): readonly JsonObject[] {
  if (!slot.isCollection || !isPrimitive(making, slot)) return []
  const without = (name: string, other: string): JsonObject => ({
    anyOf: [{ required: [other] }, { properties: { [name]: { items: { not: { type: 'null' } } } } }],
  })
  return [without(slot.jsonName, slot.siblingName), without(slot.siblingName, slot.jsonName)]
}

/** A member's schema with what is demanded beside it. */
function bothOf(shape: JsonObject | boolean | undefined, demand: JsonObject | boolean): JsonObject | boolean {
  if (!isObject(shape) || !isObject(demand)) return demand
  const { items, ...list } = demand
  if (!isObject(items) || !isObject(shape['items'])) return oneSchema([shape, demand]) ?? shape
  return { ...shape, ...list, items: oneSchema([shape['items'], items]) }
}

/** The schema of a profile: what the type demands, then what the profile adds. */
export async function profileSchema(making: Making, profile: Profile): Promise<JsonObject> {
  const { root, base, type, canonical } = profile
  const based = base === undefined ? undefined : await profileRef(making, base)
  if (base !== undefined && based === undefined) note(making, root, 'profile', base)
  for (const { key, human } of root.constraints) note(making, root, 'invariant', `${key}: ${human}`)
  const { allOf = [], ...keywords } = keywordsOf(await demandsOf(making, root, type))
  const added = Array.isArray(allOf) ? allOf : []
  return { $comment: canonical, ...keywords, allOf: [based ?? typeRef(making, type), ...added] }
}
