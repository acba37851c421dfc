import type { ElementSlot, FhirNode, TypeModel } from '../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../json/index.js'
import type { Specification } from '../definitions/kept-answers.js'
import { primitiveCheck } from '../rules/primitive/check-primitive.js'
import { countProblem } from '../rules/structure/cardinality.js'
import { hasContent, memberProblem } from '../rules/structure/check-shape.js'
import { isConcrete } from '../rules/structure/resource-type.js'
import type { ElementRule } from '../run/element-rule.js'
import type { FlawlessCheck, Shape, ShapeMember, Shapes } from '../run/shape.js'

/** Values of one look, of which it takes a few milliseconds. What has more is left to the walk, which lets other requests run. */
const VALUES_OF_A_LOOK = 10_000

/** Makes the check for one resource. */
export function flawlessCheck(parts: Omit<FlawlessCheck, 'flawed' | 'left'>): FlawlessCheck {
  return { ...parts, flawed: new Set(), left: 0 }
}

/**
 * Whether a walk with `checks: 'structure'` would find nothing in a node, decided without making a node for anything in it, which takes a third
 * of the time (bench `validate`). What is decided here is decided by the same functions as in the walk: `memberProblem`, `countProblem`, `hasContent`,
 * `primitiveCheck`. False also where only the walk can decide: extensions of primitives, types that have yet to be fetched, and
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
  if (by.flawed.size > 0 && by.flawed.has(object)) return false
  const isFine = hasContent(object, 'complex') && membersFit(by, object, shape)
  if (!isFine && by.left > 0) by.flawed.add(object)
  return isFine
}

/** Whether all members are fine, all that are required are there, and no choice was made twice. */
function membersFit(by: FlawlessCheck, object: JsonObject, { members, isResource, requiredElements }: Shape): boolean {
  let required = 0
  let choices: string[] | undefined
  for (const name of Object.keys(object)) {
    const member = members.get(name)
    if (member === undefined) {
      if (name === 'resourceType' && isResource) continue
      return false
    }
    if (!memberFits(by, object, member)) return false
    if (member.isRequired) required++
    if (member.slot.isChoice) (choices ??= []).push(member.slot.name)
  }
  return required === requiredElements && (choices === undefined || areDistinct(choices))
}

function areDistinct(names: readonly string[]): boolean {
  return names.length < 2 || new Set(names).size === names.length
}

function memberFits(by: FlawlessCheck, object: JsonObject, member: ShapeMember): boolean {
  const { slot, rule } = member
  const { jsonName } = slot
  const value = object[jsonName]
  if (memberProblem(slot, value) !== undefined) return false
  if (rule !== undefined && countProblem(rule, Array.isArray(value) ? value.length : 1) !== undefined) return false
  if (!Array.isArray(value)) return itemFits(by, member, value, sourceOf(by, value, object, jsonName))
  for (let index = 0; index < value.length; index++) {
    const item: unknown = value[index]
    if (!itemFits(by, member, item, sourceOf(by, item, value, index))) return false
  }
  return true
}

/** Numbers are checked as they were written. */
function sourceOf(by: FlawlessCheck, value: unknown, holder: object, key: string | number): string {
  return typeof value === 'number' ? (by.numberText(holder, key) ?? String(value)) : ''
}

function itemFits(by: FlawlessCheck, { kind, primitive, inner }: ShapeMember, value: unknown, source: string): boolean {
  if (--by.left <= 0) return false
  if (primitive !== undefined) return primitive(value, source, by.now) === undefined
  if (!isObject(value)) return false
  if (kind === 'resource') return resourceFits(by, value)
  const shape = inner()
  return shape !== undefined && fits(by, value, shape)
}

/** Shapes of the types of a release, as far as the definitions of the types are known. */
export function shapesOf(model: TypeModel, { types, shapes }: Pick<Specification, 'types' | 'shapes'>): Shapes {
  const of: Shapes['of'] = (name, rule) => {
    const found = shapes.get(name)
    if (found !== undefined) return found
    const type = model.type(name)
    const root = type === undefined || type.name.includes('.') ? rule : types.get(name)?.root
    if (type === undefined || root === undefined) return undefined
    const member = (slot: ElementSlot): ShapeMember => {
      const own = root.children.get(slot.name)
      const kind = model.type(slot.type)?.kind ?? 'complex'
      return memberOf(slot, { kind, rule: own, isRequired: required.has(slot.name), shape: () => of(slot.type, own) })
    }
    const required = new Set(root.required.map((needed) => needed.name).filter((needed) => type.elements.has(needed)))
    const shape: Shape = {
      isResource: type.kind === 'resource',
      members: new Map(type.members.values().map((slot) => [slot.jsonName, member(slot)])),
      requiredElements: required.size,
    }
    shapes.set(name, shape)
    return shape
  }
  return { of }
}

interface MemberParts {
  readonly kind: ShapeMember['kind']
  readonly rule: ElementRule | undefined
  readonly isRequired: boolean
  readonly shape: () => Shape | undefined
}

function memberOf(slot: ElementSlot, { kind, rule, isRequired, shape }: MemberParts): ShapeMember {
  const primitive = kind === 'primitive' ? primitiveCheck(slot.type) : undefined
  let known: Shape | undefined
  return { slot, kind, primitive, rule, isRequired, inner: () => (known ??= shape()) }
}
