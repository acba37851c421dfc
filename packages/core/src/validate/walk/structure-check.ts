import type { ElementSlot, FhirNode, TypeModel } from '../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../json/index.js'
import type { Specification } from '../definitions/specification.js'
import { primitiveCheck } from '../rules/primitive/check-primitive.js'
import { countProblem } from '../rules/structure/check-shape.js'
import { isConcrete } from '../rules/structure/resource-type.js'
import type { ElementRule } from '../run/element-rule.js'
import type { StructureCheck, Shape, ShapeMember, Shapes } from '../run/run.js'

/** Maximum number of values in one check, which takes a few milliseconds for them. Larger resources are left to the walk, which lets other requests run. */
const MAX_VALUES = 10_000

/** Creates the structure check of one resource. */
export function createStructureCheck(parts: Omit<StructureCheck, 'failed' | 'left' | 'isComplete' | 'recalls'>): StructureCheck {
  return { ...parts, failed: new Set(), left: 0, isComplete: false, recalls: false }
}

/**
 * Whether a walk with `checks: 'structure'` would find nothing in a node. This is decided without creating nodes below it, which takes a fifth of the
 * time (bench `validate`), and by the same functions as in the walk: `primitiveCheck` for primitive values, `countProblem` for cardinality. Also false when
 * only the walk can decide: extensions of primitives, types that are not fetched yet, and values that are too large for one check.
 *
 * The first check is of the whole resource. It continues after a failure, so that the walk to the failed objects need not check the others again.
 *
 * @param rule The rule of the element, which a nested type needs.
 */
export function passesStructure(
  check: StructureCheck,
  { value, type, parent }: Pick<FhirNode, 'value' | 'type' | 'parent'>,
  rule?: ElementRule,
): boolean {
  if (!isObject(value) || type.kind === 'primitive') return false
  begin(check, check.isComplete)
  const passes = type.kind === 'resource' ? resourcePasses(check, value) : objectPasses(check, value, check.shapes.of(type.name, rule))
  if (parent === undefined && check.left > 0) check.isComplete = true
  return passes
}

/**
 * Like `passesStructure`, for all content of one member of a node.
 *
 * @param options.isBeside True when the holder is the object next to a primitive value, which the check of the resource skipped.
 */
export function memberPassesStructure(
  check: StructureCheck,
  { holder, isBeside }: { readonly holder: JsonObject; readonly isBeside: boolean },
  member: ShapeMember,
): boolean {
  begin(check, check.isComplete && !isBeside)
  return memberPasses(check, member, holder[member.jsonName], holder)
}

function begin(check: StructureCheck, recalls: boolean): void {
  check.left = MAX_VALUES
  check.recalls = recalls
}

function resourcePasses(check: StructureCheck, resource: JsonObject): boolean {
  const type = stringAt(resource, 'resourceType') ?? ''
  return isConcrete(check.model, type) && objectPasses(check, resource, check.shapes.of(type))
}

function objectPasses(check: StructureCheck, object: JsonObject, shape: Shape | undefined): boolean {
  if (check.recalls) return !check.failed.has(object)
  if (shape === undefined) check.left = 0
  if (shape === undefined || (check.failed.size > 0 && check.failed.has(object))) return false
  const passes = membersPass(check, object, shape)
  if (!passes && check.left > 0) check.failed.add(object)
  return passes
}

/**
 * Whether all members pass, all required ones are present, there is one besides the id, and no choice has two values. A property that all objects inherit
 * counts as an unknown name here; the walk considers own properties only.
 */
function membersPass(check: StructureCheck, object: JsonObject, { members, isResource, requiredElements }: Shape): boolean {
  let required = 0
  let passes = true
  let hasContent = false
  let choices: string[] | undefined
  for (const name in object) {
    if (check.left <= 0) continue
    const member = members.get(name)
    if (member === undefined) {
      hasContent = true
      if (name !== 'resourceType' || !isResource) passes = false
      continue
    }
    if (!memberPasses(check, member, object[name], object)) passes = false
    if (member.isRequired) required++
    if (!member.isId) hasContent = true
    if (member.choice !== undefined) (choices ??= []).push(member.choice)
  }
  return passes && hasContent && required === requiredElements && (choices === undefined || areDistinct(choices))
}

function areDistinct(names: readonly string[]): boolean {
  return names.length < 2 || new Set(names).size === names.length
}

function memberPasses(check: StructureCheck, member: ShapeMember, value: unknown, holder: JsonObject): boolean {
  if (!member.isCollection) return member.takesOne && itemPasses(check, member, value, sourceOf(check, value, holder, member.jsonName))
  if (Array.isArray(value)) return value.length > 0 && member.takes(value.length) && itemsPass(check, member, value)
  // The walk takes an object for the item of a list, and asks whether it has failed.
  if (isObject(value)) itemPasses(check, member, value, '')
  return false
}

function itemsPass(check: StructureCheck, member: ShapeMember, items: readonly unknown[]): boolean {
  let passes = true
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    if (itemPasses(check, member, item, sourceOf(check, item, items, index))) continue
    if (check.left <= 0) return false
    passes = false
  }
  return passes
}

/** Numbers are checked as they were written. */
function sourceOf(check: StructureCheck, value: unknown, holder: object, key: string | number): string {
  return typeof value === 'number' ? (check.numberText(holder, key) ?? String(value)) : ''
}

/** Nulls and misplaced lists fail, because they are neither primitives nor objects. */
function itemPasses(check: StructureCheck, { primitive, isInnerResource, inner }: ShapeMember, value: unknown, source: string): boolean {
  if (--check.left <= 0) return false
  if (primitive !== undefined) return primitive(value, source, check.now) === undefined
  if (!isObject(value)) return false
  return isInnerResource ? resourcePasses(check, value) : objectPasses(check, value, inner())
}

/** Provides the shapes of a release's types, as far as the definitions of the types are known. */
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
