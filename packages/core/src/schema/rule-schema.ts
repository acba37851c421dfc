import type { ElementSlot } from '../fhirpath/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import { choiceName } from '../text/index.js'
import {
  TYPE_URL,
  type Discriminator,
  type DiscriminatorStep,
  type ElementRule,
  type LimitRule,
  type TypeRule,
} from '../validate/run/element-rule.js'
import { bindingSchema, note, oneSchema, patternSchema, profileRef, type Making } from './making.js'

/** Requirements of rules on the members of an object. */
interface ObjectDemands {
  readonly properties: Record<string, JsonObject | boolean>
  readonly required: string[]
  readonly allOf: JsonObject[]
}

/** Requirements as keywords of a schema; an empty schema if there are none. */
export function keywordsOf({ properties, required, allOf }: ObjectDemands): JsonObject {
  return {
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(allOf.length > 0 && { allOf }),
  }
}

/** The requirements of a rule's children on an object of the type. */
export async function demandsOf(making: Making, rule: ElementRule, type: string): Promise<ObjectDemands> {
  const demands: ObjectDemands = { properties: {}, required: [], allOf: [] }
  const slots = making.model.type(type)?.elements
  for (const child of rule.children.values()) {
    await making.pace.step()
    const ofChild = slots?.get(child.name) ?? []
    const [slot] = ofChild
    if (slot === undefined) continue
    if (slot.isChoice) await demandChoice(making, child, { slots: ofChild, demands })
    else await demandMember(making, child, { slot, demands })
  }
  return demands
}

interface Member {
  readonly slot: ElementSlot
  readonly demands: ObjectDemands
}

async function demandMember(making: Making, rule: ElementRule, { slot, demands }: Member): Promise<void> {
  const { properties, required, allOf } = demands
  if (rule.max === 0) return forbid(making, slot, properties)
  const isPrimitive = making.model.type(slot.type)?.kind === 'primitive'
  const isNeeded = rule.min > 0 || rule.slices.some(({ min }) => min > 0)
  if (isNeeded && (!isPrimitive || slot.jsonName === 'id')) required.push(slot.jsonName)
  if (isNeeded && isPrimitive && slot.jsonName !== 'id') allOf.push(present([slot]))
  const value = await valueSchema(making, rule, slot.type)
  if (!slot.isCollection) {
    if (value !== undefined) properties[slot.jsonName] = value
    return
  }
  const list = await listSchema(making, rule, { slot, item: value, isPrimitive })
  if (list !== undefined) properties[slot.jsonName] = list
}

/** Requires one of the members or, for primitives, a sibling that has an extension instead of the value. */
function present(slots: readonly ElementSlot[]): JsonObject {
  return { anyOf: slots.flatMap(({ jsonName, siblingName }) => [{ required: [jsonName] }, { required: [siblingName] }]) }
}

function forbid({ model }: Making, { jsonName, siblingName, type }: ElementSlot, properties: ObjectDemands['properties']): void {
  properties[jsonName] = false
  if (model.type(type)?.kind === 'primitive') properties[siblingName] = false
}

interface ListParts {
  readonly slot: ElementSlot
  readonly item: JsonObject | undefined
  readonly isPrimitive: boolean
}

async function listSchema(making: Making, rule: ElementRule, { slot, item, isPrimitive }: ListParts): Promise<JsonObject | undefined> {
  const slices = await sliceSchemas(making, rule, { type: slot.type, valueOf: (slice) => valueSchema(making, slice, slot.type) })
  const list: JsonObject = {
    ...(rule.min > 1 && { minItems: rule.min }),
    ...(Number.isFinite(rule.max) && { maxItems: rule.max }),
    ...(item !== undefined && { items: isPrimitive ? { anyOf: [item, { type: 'null' }] } : item }),
    ...(slices.length > 0 && { allOf: slices }),
  }
  return Object.keys(list).length === 0 ? undefined : list
}

interface Choice {
  readonly slots: readonly ElementSlot[]
  readonly demands: ObjectDemands
}

/** Adds the requirements of a choice element: its types, whether a value is required, and the schema of each type. */
async function demandChoice(making: Making, rule: ElementRule, { slots, demands }: Choice): Promise<void> {
  const { properties, allOf } = demands
  const codes = rule.types.map(({ code }) => code)
  const allowed = rule.max === 0 ? [] : slots.filter(({ type }) => codes.length === 0 || codes.includes(type))
  for (const slot of slots) if (!allowed.includes(slot)) forbid(making, slot, properties)
  if (rule.min > 0) allOf.push(present(allowed))
  for (const slot of allowed) {
    const value = await valueSchema(making, rule, slot.type)
    if (value !== undefined) properties[slot.jsonName] = value
  }
  for (const slice of rule.slices) await demandType(making, slice, { slots: allowed, demands })
}

/** Adds the requirements of a slice of a choice element, which apply to one of its types. */
async function demandType(making: Making, slice: ElementRule, { slots, demands }: Choice): Promise<void> {
  const { properties, allOf } = demands
  const [named] = slice.path.split('.').slice(-1)
  const codes = slice.types.map(({ code }) => code)
  const own = slots.filter(({ type, jsonName }) => (codes.length > 0 ? codes.includes(type) : jsonName === named))
  if (slice.min > 0 && own.length > 0) allOf.push(present(own))
  for (const slot of own) {
    if (slice.max === 0) forbid(making, slot, properties)
    else await demandOfType(making, slice, { slot, properties })
  }
}

interface TypedMember {
  readonly slot: ElementSlot
  readonly properties: ObjectDemands['properties']
}

async function demandOfType(making: Making, slice: ElementRule, { slot, properties }: TypedMember): Promise<void> {
  const value = await valueSchema(making, slice, slot.type)
  if (value === undefined) return
  const before = properties[slot.jsonName]
  properties[slot.jsonName] = isObject(before) ? { allOf: [before, value] } : value
}

/** The requirements of a rule on each value of its element; `undefined` if the type alone expresses them. */
async function valueSchema(making: Making, rule: ElementRule, type: string): Promise<JsonObject | undefined> {
  const parts: JsonObject[] = [...fixedSchemas(rule), ...limitSchemas(making, rule)]
  for (const binding of rule.bindings) {
    if (binding.strength !== 'required') continue
    const schema = await bindingSchema(making, binding, type)
    if (schema === undefined) note(making, rule, 'binding', binding.valueSet)
    else parts.push(schema)
  }
  const profiles = await typeProfiles(making, rule, type)
  if (profiles !== undefined) parts.push(profiles)
  for (const { key, human } of rule.constraints) note(making, rule, 'invariant', `${key}: ${human}`)
  if (rule.children.size > 0 && !rule.isBase) {
    const inside = keywordsOf(await demandsOf(making, rule, type))
    if (Object.keys(inside).length > 0) parts.push(inside)
  }
  return oneSchema(parts)
}

function fixedSchemas({ value: { fixed, pattern } }: ElementRule): readonly JsonObject[] {
  return [...(fixed === undefined ? [] : [{ const: fixed }]), ...(pattern === undefined ? [] : [patternSchema(pattern)])]
}

function limitSchemas(making: Making, rule: ElementRule): readonly JsonObject[] {
  const { min, max, minLength, maxLength, units, regex, alternatives, sections, maxSize, maxDecimalPlaces } = rule.value
  const lengths = { ...(minLength !== undefined && { minLength }), ...(maxLength !== undefined && { maxLength }) }
  const others = Object.entries({ units, regex, alternatives, sections, maxSize, maxDecimalPlaces })
  for (const [name, value] of others) if (value !== undefined) note(making, rule, 'limit', `${name}: ${JSON.stringify(value)}`)
  return [
    ...(Object.keys(lengths).length > 0 ? [lengths] : []),
    ...limit(making, rule, ['minimum', min]),
    ...limit(making, rule, ['maximum', max]),
  ]
}

function limit(making: Making, rule: ElementRule, [keyword, value]: readonly [string, LimitRule | undefined]): readonly JsonObject[] {
  if (value === undefined) return []
  if (typeof value.value === 'number') return [{ [keyword]: value.value }]
  note(making, rule, 'limit', `${keyword}: ${JSON.stringify(value.value)}`)
  return []
}

/** The profiles of a type, one of which a value must conform to; for a nested resource, its type too. */
async function typeProfiles(making: Making, rule: ElementRule, type: string): Promise<JsonObject | undefined> {
  const about = rule.types.filter(({ code }) => code === type || (type === 'Resource' && code !== 'DomainResource'))
  for (const { targetProfiles } of rule.isBase ? [] : about) {
    for (const target of targetProfiles) note(making, rule, 'target', target)
  }
  const alternatives: JsonObject[] = []
  for (const one of about) {
    const schema = await typeSchemaOf(making, rule, { one, isResource: type === 'Resource' })
    if (schema === undefined) return undefined
    alternatives.push(schema)
  }
  return alternatives.length > 1 ? { anyOf: alternatives } : alternatives[0]
}

interface OneType {
  readonly one: TypeRule
  readonly isResource: boolean
}

/** `undefined` if the type does not restrict the value. */
async function typeSchemaOf(making: Making, rule: ElementRule, { one, isResource }: OneType): Promise<JsonObject | undefined> {
  const named = isResource && one.code !== 'Resource' ? [{ properties: { resourceType: { const: one.code } } }] : []
  const own = one.profiles.filter((canonical) => canonical !== TYPE_URL + one.code)
  if (own.length === 0) return named[0]
  const refs: JsonObject[] = []
  for (const canonical of own) {
    const ref = await profileRef(making, canonical)
    if (ref === undefined) {
      note(making, rule, 'profile', canonical)
      return named[0]
    }
    refs.push(ref)
  }
  return oneSchema([...named, ...(refs.length === 1 ? refs : [{ anyOf: refs }])])
}

/** A sliced list. */
interface SlicedList {
  /** Type of its items. */
  readonly type: string
  /** The schema of a slice's rule for an item. */
  readonly valueOf: (slice: ElementRule) => Promise<JsonObject | undefined>
}

/** The schemas of a list for those of its slices whose discriminators a schema can express. */
async function sliceSchemas(making: Making, rule: ElementRule, list: SlicedList): Promise<readonly JsonObject[]> {
  const { slicing, slices } = rule
  if (slices.length === 0) return []
  const matches: JsonObject[] = []
  const demands: JsonObject[] = []
  for (const slice of slices) {
    await making.pace.step()
    const match = await matchOf(making, slice, { discriminators: slicing?.discriminators ?? [], type: list.type })
    if (match === undefined) {
      note(making, slice, 'slice', `min ${slice.min}, max ${slice.max}`)
      continue
    }
    matches.push(match)
    demands.push(...demandsOfSlice(slice, match, await list.valueOf(slice)))
  }
  if (slicing?.ordered === true) note(making, rule, 'slice', 'the slices are in their order')
  if (slicing?.rules !== 'closed') return demands
  if (matches.length === slices.length) return [...demands, { items: { anyOf: matches } }]
  note(making, rule, 'slice', 'the slicing is closed')
  return demands
}

function demandsOfSlice(slice: ElementRule, match: JsonObject, value: JsonObject | undefined): readonly JsonObject[] {
  const counts: JsonObject[] =
    slice.min > 0 || Number.isFinite(slice.max)
      ? [{ contains: match, minContains: slice.min, ...(Number.isFinite(slice.max) && { maxContains: slice.max }) }]
      : []
  return [...counts, ...(value === undefined ? [] : [{ items: { if: match, then: value } }])]
}

interface Discriminated {
  readonly discriminators: readonly Discriminator[]
  readonly type: string
}

/** The schema that matches the items of a slice; `undefined` if a schema cannot express it. */
async function matchOf(making: Making, slice: ElementRule, { discriminators, type }: Discriminated): Promise<JsonObject | undefined> {
  const parts: JsonObject[] = []
  for (const { type: kind, steps } of discriminators) {
    const part = await stepSchema(making, slice, { kind, steps, type })
    if (part === undefined) return undefined
    parts.push(part)
  }
  return oneSchema(parts)
}

interface Path {
  readonly kind: Discriminator['type']
  readonly steps: readonly DiscriminatorStep[]
  readonly type: string
}

/** The schema for the rest of a discriminator's path, from a value that the rule describes. */
async function stepSchema(making: Making, rule: ElementRule, { kind, steps, type }: Path): Promise<JsonObject | undefined> {
  const [step, ...rest] = steps
  if (step === undefined) return endSchema(making, rule, { kind, type })
  if (step.kind !== 'child') return undefined
  const child = rule.children.get(step.name)
  const slots = making.model.type(type)?.elements.get(step.name) ?? []
  const [slot] = slots
  if (slot === undefined) return undefined
  if (child === undefined) return step.name === 'url' && rest.length === 0 ? extensionUrl(rule) : undefined
  if (kind === 'exists' && rest.length === 0)
    return existsSchema(
      child,
      slots.map(({ jsonName }) => jsonName),
    )
  if (slot.isChoice) return choiceSchema(making, child, { kind, steps: rest, type: slot.name })
  const inner = await firstSchema(making, [child, ...child.slices.filter(({ min }) => min > 0)], { kind, steps: rest, type: slot.type })
  if (inner === undefined) return undefined
  return { required: [slot.jsonName], properties: { [slot.jsonName]: slot.isCollection ? { contains: inner } : inner } }
}

/** The first schema that one of the rules yields: a list on the path may define its items by its own required slices. */
async function firstSchema(making: Making, rules: readonly ElementRule[], path: Path): Promise<JsonObject | undefined> {
  for (const rule of rules) {
    const schema = await stepSchema(making, rule, path)
    if (schema !== undefined) return schema
  }
  return undefined
}

/** A slice of extensions is identified by the canonical URL of its profile. */
function extensionUrl({ types }: ElementRule): JsonObject | undefined {
  const [canonical, ...others] = types.flatMap(({ profiles }) => profiles)
  if (canonical === undefined || others.length > 0) return undefined
  return { required: ['url'], properties: { url: { const: canonical.split('|')[0] } } }
}

function existsSchema({ min, max }: ElementRule, names: readonly string[]): JsonObject | undefined {
  const present: JsonObject = { anyOf: names.map((name) => ({ required: [name] })) }
  if (max === 0) return { not: present }
  return min > 0 ? present : undefined
}

/** @param path Its `type` is the name of the choice element, not a type. */
async function choiceSchema(making: Making, child: ElementRule, { kind, steps, type: name }: Path): Promise<JsonObject | undefined> {
  const alternatives: JsonObject[] = []
  for (const { code } of child.types) {
    const jsonName = choiceName(name, code)
    const inner = kind === 'type' ? {} : await stepSchema(making, child, { kind, steps, type: code })
    if (inner === undefined) return undefined
    alternatives.push({ required: [jsonName], ...(kind !== 'type' && { properties: { [jsonName]: inner } }) })
  }
  if (alternatives.length === 0) return undefined
  return alternatives.length === 1 ? alternatives[0] : { anyOf: alternatives }
}

interface End {
  readonly kind: Discriminator['type']
  readonly type: string
}

async function endSchema(making: Making, rule: ElementRule, { kind, type }: End): Promise<JsonObject | undefined> {
  const { fixed, pattern } = rule.value
  if (kind === 'type') {
    if (type !== 'Resource' || rule.types.length === 0) return undefined
    return { properties: { resourceType: { enum: rule.types.map(({ code }) => code) } } }
  }
  if (kind !== 'value' && kind !== 'pattern') return undefined
  if (fixed !== undefined) return { const: fixed }
  if (pattern !== undefined) return patternSchema(pattern)
  const binding = rule.bindings.find(({ strength }) => strength === 'required')
  if (binding !== undefined) return bindingSchema(making, binding, type)
  return impliedMatch(making, rule, type)
}

/** The schema of a slice by `$this` or `code` whose fixed values are those of its child elements. */
async function impliedMatch(making: Making, rule: ElementRule, type: string): Promise<JsonObject | undefined> {
  const parts: JsonObject[] = []
  for (const child of rule.children.values()) {
    const slot = making.model.type(type)?.elements.get(child.name)?.[0]
    if (slot === undefined || slot.isChoice || child.min === 0) continue
    const inner = await endSchema(making, child, { kind: 'value', type: slot.type })
    if (inner === undefined) continue
    parts.push({ required: [slot.jsonName], properties: { [slot.jsonName]: slot.isCollection ? { contains: inner } : inner } })
  }
  return parts.length === 0 ? undefined : oneSchema([{ allOf: parts }])
}
