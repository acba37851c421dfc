import { isObject, stringAt, type JsonObject } from '../../json/index.js'
import { isConcrete } from '../rules/structure/check-resource-type.js'
import type { FhirNode } from '../../fhirpath/index.js'
import type { ElementRule } from '../profile/element-rule.js'
import type { Run } from '../walk/run.js'
import type { Shape, ShapeMember, Shapes } from './shape.js'

/** What the check works with. */
export interface FlawlessCheck extends Pick<Run, 'model' | 'numberText' | 'now'> {
  readonly shapes: Shapes
  /** Objects with a flaw, so that what is in them is not looked through again from each level down to it. */
  readonly flawed: Set<object>
  /** Values that the present look may still look at. */
  left: number
}

/** Values of one look, of which it takes a few milliseconds. What has more is left to the walk, which lets others have turns. */
const VALUES_OF_A_LOOK = 10_000

/** Makes the check for one resource. */
export function flawlessCheck(parts: Omit<FlawlessCheck, 'flawed' | 'left'>): FlawlessCheck {
  return { ...parts, flawed: new Set(), left: 0 }
}

/**
 * Whether a walk with `checks: 'structure'` would find nothing in a node, told without making a node for anything in it; that takes a third
 * of the time (bench `validate`). False also where only the walk can tell: extensions of primitives, types that have yet to be fetched, and
 * what is too large for one look.
 *
 * @param rule The rule of the element, which a nested type needs.
 */
export function isFlawless(by: FlawlessCheck, { value, type }: Pick<FhirNode, 'value' | 'type'>, rule?: ElementRule): boolean {
  if (!isObject(value)) return false
  by.left = VALUES_OF_A_LOOK
  if (type.kind === 'resource') return resourceFits(by, value)
  const shape = by.shapes.of(type.name, rule)
  return shape !== undefined && fits(by, value, shape)
}

/** The same for all that is in one member of a node. */
export function isFlawlessMember(by: FlawlessCheck, holder: JsonObject, member: ShapeMember): boolean {
  by.left = VALUES_OF_A_LOOK
  return memberFits(by, holder, member)
}

function resourceFits(by: FlawlessCheck, resource: JsonObject): boolean {
  const type = stringAt(resource, 'resourceType') ?? ''
  const shape = isConcrete(by.model, type) ? by.shapes.of(type) : undefined
  return shape !== undefined && fits(by, resource, shape)
}

function fits(by: FlawlessCheck, object: JsonObject, shape: Shape): boolean {
  if (by.flawed.has(object)) return false
  const isFine = membersFit(by, object, shape) && hasRequired(object, shape)
  if (!isFine && by.left > 0) by.flawed.add(object)
  return isFine
}

function membersFit(by: FlawlessCheck, object: JsonObject, shape: Shape): boolean {
  const choices: string[] = []
  let isEmpty = true
  for (const name of Object.keys(object)) {
    const member = shape.members.get(name)
    if (name !== 'id') isEmpty = false
    if (member === undefined) {
      if (name === 'resourceType' && shape.isResource) continue
      return false
    }
    if (!memberFits(by, object, member)) return false
    if (member.slot.isChoice) choices.push(member.slot.name)
  }
  return !isEmpty && areDistinct(choices)
}

function areDistinct(names: readonly string[]): boolean {
  return names.length < 2 || new Set(names).size === names.length
}

function hasRequired(object: JsonObject, { required }: Shape): boolean {
  for (const names of required) if (!names.some((name) => Object.hasOwn(object, name))) return false
  return true
}

function memberFits(by: FlawlessCheck, object: JsonObject, member: ShapeMember): boolean {
  const { jsonName, isCollection } = member.slot
  const value = object[jsonName]
  if (!isCollection) return itemFits(by, member, value) ?? numberFits(by, member, { value, holder: object, key: jsonName })
  if (!Array.isArray(value) || value.length === 0 || value.length < member.least || value.length > member.most) return false
  for (let index = 0; index < value.length; index++) {
    const item: unknown = value[index]
    if (!(itemFits(by, member, item) ?? numberFits(by, member, { value: item, holder: value, key: index }))) return false
  }
  return true
}

/** `undefined` for numbers, which are checked as they were written. */
function itemFits(by: FlawlessCheck, { kind, primitive, inner }: ShapeMember, value: unknown): boolean | undefined {
  if (typeof value === 'number') return undefined
  if (--by.left <= 0) return false
  if (primitive !== undefined) return primitive(value, '', by.now) === undefined
  if (!isObject(value)) return false
  if (kind === 'resource') return resourceFits(by, value)
  const shape = inner()
  return shape !== undefined && fits(by, value, shape)
}

interface Place {
  readonly value: unknown
  readonly holder: object
  readonly key: string | number
}

function numberFits(by: FlawlessCheck, { primitive }: ShapeMember, { value, holder, key }: Place): boolean {
  if (--by.left <= 0 || primitive === undefined) return false
  return primitive(value, by.numberText(holder, key) ?? String(value), by.now) === undefined
}
