import type { ElementSlot, TypeModel } from '../../fhirpath/index.js'
import type { Specification } from '../facts/specification.js'
import type { ElementRule } from '../profile/element-rule.js'
import { primitiveCheck, type PrimitiveCheck } from '../rules/primitive/check-primitive.js'

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
  /** What a primitive must be like. */
  readonly primitive: PrimitiveCheck | undefined
  readonly least: number
  readonly most: number
  /** The shape of a complex value; `undefined` while it is not known. */
  readonly inner: () => Shape | undefined
}

/** Makes shapes, each once. */
export interface Shapes {
  /** `undefined` for a type that is not known, and while its definition has yet to be fetched. */
  readonly of: (type: string, rule?: ElementRule) => Shape | undefined
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
      return memberOf(slot, { kind: model.type(slot.type)?.kind ?? 'complex', rule: own, shape: () => of(slot.type, own) })
    }
    const shape: Shape = {
      isResource: type.kind === 'resource',
      members: new Map(type.members.values().map((slot) => [slot.jsonName, member(slot)])),
      required: root.required.flatMap(({ name: needed }) => {
        const slots = type.elements.get(needed)
        return slots === undefined ? [] : [slots.flatMap(({ jsonName, siblingName }) => [jsonName, siblingName])]
      }),
    }
    shapes.set(name, shape)
    return shape
  }
  return { of }
}

interface MemberParts {
  readonly kind: ShapeMember['kind']
  readonly rule: ElementRule | undefined
  readonly shape: () => Shape | undefined
}

function memberOf(slot: ElementSlot, { kind, rule, shape }: MemberParts): ShapeMember {
  const primitive = kind === 'primitive' ? primitiveCheck(slot.type) : undefined
  let known: Shape | undefined
  return { slot, kind, primitive, least: rule?.min ?? 0, most: rule?.max ?? Infinity, inner: () => (known ??= shape()) }
}
