import { PENDING, type ElementSlot, type TypeModel } from '../../fhirpath/index.js'
import type { Facts } from '../facts/facts.js'
import type { ElementRule } from '../profile/element-rule.js'

/** What FHIR's own types say about the members of a JSON object. */
export interface Shape {
  readonly isResource: boolean
  /** By name in JSON. */
  readonly members: ReadonlyMap<string, ShapeMember>
  /** Of each list of names one must be there: several for a choice. */
  readonly required: readonly (readonly string[])[]
}

/** One member of a shape. */
export interface ShapeMember {
  readonly slot: ElementSlot
  readonly kind: 'primitive' | 'complex' | 'resource'
  readonly least: number
  readonly most: number
  /** The rule of the element, in which those of a nested type are. */
  readonly rule: ElementRule | undefined
}

/** Makes shapes, each once. */
export interface Shapes {
  /** `undefined` for a type that is not known, and while its definition has yet to be fetched. */
  readonly of: (type: string, rule?: ElementRule) => Shape | undefined
}

/** Shapes of the types of a release, kept by name in `known`. */
export function shapesOf(model: TypeModel, { baseType }: Pick<Facts, 'baseType'>, known: Map<string, Shape>): Shapes {
  return {
    of: (name, rule) => {
      const found = known.get(name)
      if (found !== undefined) return found
      const type = model.type(name)
      const root = type === undefined || type.name.includes('.') ? rule : rootOf(baseType(name))
      if (type === undefined || root === undefined) return undefined
      const member = (slot: ElementSlot): ShapeMember => memberOf(model, slot, root.children.get(slot.name))
      const shape: Shape = {
        isResource: type.kind === 'resource',
        members: new Map(type.members.values().map((slot) => [slot.jsonName, member(slot)])),
        required: root.required.flatMap(({ name: needed }) => {
          const slots = type.elements.get(needed)
          return slots === undefined ? [] : [slots.flatMap(({ jsonName, siblingName }) => [jsonName, siblingName])]
        }),
      }
      known.set(name, shape)
      return shape
    },
  }
}

function rootOf(profile: ReturnType<Facts['baseType']>): ElementRule | undefined {
  return profile === undefined || profile === PENDING ? undefined : profile.root
}

function memberOf(model: TypeModel, slot: ElementSlot, rule: ElementRule | undefined): ShapeMember {
  return { slot, kind: model.type(slot.type)?.kind ?? 'complex', least: rule?.min ?? 0, most: rule?.max ?? Number.POSITIVE_INFINITY, rule }
}
