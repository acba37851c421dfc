import { choiceName } from '../text/index.js'
import type { JsonObject } from '../json/index.js'
import type { Discriminator, DiscriminatorStep, ElementRule } from '../validate/run/element-rule.js'
import { bindingSchema, note, oneSchema, patternSchema, type Making } from './making.js'

/** A sliced list. */
interface SlicedList {
  /** Type of its items. */
  readonly type: string
  /** The schema of a slice's rule for an item. */
  readonly valueOf: (slice: ElementRule) => Promise<JsonObject | undefined>
}

/** The schemas of a list for those of its slices whose discriminators a schema can express. */
export async function sliceSchemas(making: Making, rule: ElementRule, list: SlicedList): Promise<readonly JsonObject[]> {
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
