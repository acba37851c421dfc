import type { ElementSlot, FhirNode, TypeModel } from '../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../json/index.js'
import type { Specification } from '../definitions/kept-answers.js'
import { primitiveCheck } from '../rules/primitive/check-primitive.js'
import { countProblem } from '../rules/structure/cardinality.js'
import { isConcrete } from '../rules/structure/resource-type.js'
import type { ElementRule } from '../run/element-rule.js'
import type { FlawlessCheck, Shape, ShapeMember, Shapes } from '../run/shape.js'

/** Most values of one look, which takes a few milliseconds for them. What has more is left to the walk, which lets other requests run. */
const MAX_VALUES = 10_000

/** Makes the check for one resource. */
export function flawlessCheck(parts: Omit<FlawlessCheck, 'flawed' | 'left' | 'isComplete' | 'recalls'>): FlawlessCheck {
  return { ...parts, flawed: new Set(), left: 0, isComplete: false, recalls: false }
}

/**
 * Whether a walk with `checks: 'structure'` would find nothing in a node, decided without making a node for anything in it, which takes a fifth of
 * the time (bench `validate`). What a primitive and a number of items must be like is decided by the functions of the walk: `primitiveCheck` and
 * `countProblem`. False also where only the walk can decide: extensions of primitives, types that have yet to be fetched, and what is too large for
 * one look.
 *
 * The first look is at the whole resource. It does not end at a flaw, so that the walk to the flaws need not look again at anything besides them.
 *
 * @param rule The rule of the element, which a nested type needs.
 */
export function isFlawless(
  by: FlawlessCheck,
  { value, type, parent }: Pick<FhirNode, 'value' | 'type' | 'parent'>,
  rule?: ElementRule,
): boolean {
  if (!isObject(value) || type.kind === 'primitive') return false
  begin(by, by.isComplete)
  const isFine = type.kind === 'resource' ? resourceFits(by, value) : fits(by, value, by.shapes.of(type.name, rule))
  if (parent === undefined && by.left > 0) by.isComplete = true
  return isFine
}

/**
 * The same for all that is in one member of a node.
 *
 * @param options.isBeside True where the holder is what is next to a primitive value, which the look at the resource skipped.
 */
export function isFlawlessMember(
  by: FlawlessCheck,
  { holder, isBeside }: { readonly holder: JsonObject; readonly isBeside: boolean },
  member: ShapeMember,
): boolean {
  begin(by, by.isComplete && !isBeside)
  return memberFits(by, member, holder[member.jsonName], holder)
}

function begin(by: FlawlessCheck, recalls: boolean): void {
  by.left = MAX_VALUES
  by.recalls = recalls
}

function resourceFits(by: FlawlessCheck, resource: JsonObject): boolean {
  const type = stringAt(resource, 'resourceType') ?? ''
  return isConcrete(by.model, type) && fits(by, resource, by.shapes.of(type))
}

function fits(by: FlawlessCheck, object: JsonObject, shape: Shape | undefined): boolean {
  if (by.recalls) return !by.flawed.has(object)
  if (shape === undefined) by.left = 0
  if (shape === undefined || (by.flawed.size > 0 && by.flawed.has(object))) return false
  const isFine = membersFit(by, object, shape)
  if (!isFine && by.left > 0) by.flawed.add(object)
  return isFine
}

/**
 * Whether all members are fine, there is one besides an id, all that are required are there, and no choice was made twice. A name that somebody made
 * all objects inherit is one more unknown name here; the walk asks for own ones.
 */
function membersFit(by: FlawlessCheck, object: JsonObject, { members, isResource, requiredElements }: Shape): boolean {
  let required = 0
  let isFine = true
  let hasContent = false
  let choices: string[] | undefined
  for (const name in object) {
    if (by.left <= 0) continue
    const member = members.get(name)
    if (member === undefined) {
      hasContent = true
      if (name !== 'resourceType' || !isResource) isFine = false
      continue
    }
    if (!memberFits(by, member, object[name], object)) isFine = false
    if (member.isRequired) required++
    if (!member.isId) hasContent = true
    if (member.choice !== undefined) (choices ??= []).push(member.choice)
  }
  return isFine && hasContent && required === requiredElements && (choices === undefined || areDistinct(choices))
}

function areDistinct(names: readonly string[]): boolean {
  return names.length < 2 || new Set(names).size === names.length
}

function memberFits(by: FlawlessCheck, member: ShapeMember, value: unknown, holder: JsonObject): boolean {
  if (!member.isCollection) return member.takesOne && itemFits(by, member, value, sourceOf(by, value, holder, member.jsonName))
  return Array.isArray(value) && value.length > 0 && member.takes(value.length) && itemsFit(by, member, value)
}

function itemsFit(by: FlawlessCheck, member: ShapeMember, items: readonly unknown[]): boolean {
  let isFine = true
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    if (itemFits(by, member, item, sourceOf(by, item, items, index))) continue
    if (by.left <= 0) return false
    isFine = false
  }
  return isFine
}

/** Numbers are checked as they were written. */
function sourceOf(by: FlawlessCheck, value: unknown, holder: object, key: string | number): string {
  return typeof value === 'number' ? (by.numberText(holder, key) ?? String(value)) : ''
}

/** Null and lists where there must be none are neither primitives nor objects. */
function itemFits(by: FlawlessCheck, { primitive, isInnerResource, inner }: ShapeMember, value: unknown, source: string): boolean {
  if (--by.left <= 0) return false
  if (primitive !== undefined) return primitive(value, source, by.now) === undefined
  if (!isObject(value)) return false
  return isInnerResource ? resourceFits(by, value) : fits(by, value, inner())
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
  readonly kind: 'primitive' | 'complex' | 'resource'
  readonly rule: ElementRule | undefined
  readonly isRequired: boolean
  readonly shape: () => Shape | undefined
}

function memberOf(
  { name, jsonName, type, isCollection, isChoice }: ElementSlot,
  { kind, rule, isRequired, shape }: MemberParts,
): ShapeMember {
  const takes = (count: number): boolean => rule === undefined || countProblem(rule, count) === undefined
  let known: Shape | undefined
  return {
    jsonName,
    isId: jsonName === 'id',
    choice: isChoice ? name : undefined,
    isCollection,
    isRequired,
    takesOne: takes(1),
    takes: rule === undefined || (rule.min <= 1 && rule.max === Infinity) ? ANY_NUMBER : takes,
    primitive: kind === 'primitive' ? primitiveCheck(type) : undefined,
    isInnerResource: kind === 'resource',
    inner: () => (known ??= shape()),
  }
}

const ANY_NUMBER: ShapeMember['takes'] = () => true
