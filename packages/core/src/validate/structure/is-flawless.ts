import { isObject, stringAt, type JsonObject } from '../../json/index.js'
import { primitiveProblem } from '../rules/primitive/check-primitive.js'
import { isConcrete } from '../rules/structure/check-resource-type.js'
import type { FhirNode } from '../../fhirpath/index.js'
import type { ElementRule } from '../profile/element-rule.js'
import type { Run } from '../walk/run.js'
import type { Shape, ShapeMember } from './shape.js'

/** What the check works with. */
type Flawless = Pick<Run, 'model' | 'shapes' | 'numberText' | 'now'>

/**
 * Whether a walk with `checks: 'structure'` would find nothing in a node, told without making a node for anything in it; that takes a third
 * of the time (bench `validate`). False also where only the walk can tell: extensions of primitives, and types that have yet to be fetched.
 *
 * @param rule The rule of the element, which a nested type needs.
 */
export function isFlawless(by: Flawless, { value, type }: FhirNode, rule: ElementRule | undefined): boolean {
  if (!isObject(value)) return false
  if (type.kind === 'resource') return resourceFits(by, value)
  const shape = by.shapes.of(type.name, rule)
  return shape !== undefined && fits(by, value, shape)
}

function resourceFits(by: Flawless, resource: JsonObject): boolean {
  const type = stringAt(resource, 'resourceType') ?? ''
  const shape = isConcrete(by.model, type) ? by.shapes.of(type) : undefined
  return shape !== undefined && fits(by, resource, shape)
}

function fits(by: Flawless, object: JsonObject, shape: Shape): boolean {
  const choices: string[] = []
  let isEmpty = true
  for (const name of Object.keys(object)) {
    const member = shape.members.get(name)
    if (name !== 'id') isEmpty = false
    if (member === undefined) {
      if (name === 'resourceType' && shape.isResource) continue
      return false
    }
    if (member.slot.isChoice) choices.push(member.slot.name)
    if (!memberFits(by, object, { name, member })) return false
  }
  return !isEmpty && areDistinct(choices) && hasRequired(object, shape)
}

function areDistinct(names: readonly string[]): boolean {
  return names.length < 2 || new Set(names).size === names.length
}

function hasRequired(object: JsonObject, { required }: Shape): boolean {
  return required.every((names) => names.some((name) => Object.hasOwn(object, name)))
}

function memberFits(by: Flawless, object: JsonObject, { name, member }: { name: string; member: ShapeMember }): boolean {
  const value = object[name]
  if (!member.slot.isCollection) return valueFits(by, member, { value, holder: object, key: name })
  if (!Array.isArray(value) || value.length === 0 || value.length < member.least || value.length > member.most) return false
  for (let index = 0; index < value.length; index++) {
    if (!valueFits(by, member, { value: value[index], holder: value, key: index })) return false
  }
  return true
}

interface Place {
  readonly value: unknown
  readonly holder: object
  readonly key: string | number
}

function valueFits(by: Flawless, { slot, kind, rule }: ShapeMember, { value, holder, key }: Place): boolean {
  if (kind === 'primitive') {
    const source = typeof value === 'number' ? (by.numberText(holder, key) ?? String(value)) : ''
    return primitiveProblem(slot.type, { value, source, now: by.now }) === undefined
  }
  if (!isObject(value)) return false
  if (kind === 'resource') return resourceFits(by, value)
  const shape = by.shapes.of(slot.type, rule)
  return shape !== undefined && fits(by, value, shape)
}
