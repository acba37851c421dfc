import type { ElementSlot, TypeModel } from '../../fhirpath/index.js'
import type { ElementRule } from './element-rule.js'
import type { PrimitiveCheck } from './primitive-problem.js'

/** What FHIR's own types say about the members of a JSON object. */
export interface Shape {
  readonly isResource: boolean
  /** By name in JSON. */
  readonly members: ReadonlyMap<string, ShapeMember>
  /** Number of elements that must be there. */
  readonly requiredElements: number
}

/** One member of a shape. */
export interface ShapeMember {
  readonly slot: ElementSlot
  readonly kind: 'primitive' | 'complex' | 'resource'
  /** What a primitive must be like. */
  readonly primitive: PrimitiveCheck | undefined
  /** How often the element may occur; `undefined` where its type says nothing. */
  readonly rule: Pick<ElementRule, 'min' | 'max'> | undefined
  readonly isRequired: boolean
  /** The shape of a complex value; `undefined` while it is not known. */
  readonly inner: () => Shape | undefined
}

/** Makes shapes, each once. */
export interface Shapes {
  /** `undefined` for a type that is not known, and while its definition has yet to be fetched. */
  readonly of: (type: string, rule?: ElementRule) => Shape | undefined
}

/** What the look at JSON values works with that shows that a walk with `checks: 'structure'` would find nothing. */
export interface FlawlessCheck {
  readonly model: TypeModel
  readonly numberText: (parent: object, key: string | number) => string | undefined
  readonly now: Date
  readonly shapes: Shapes
  /** Objects with a flaw, so that what is in them is not looked through again from each level down to it. */
  readonly flawed: Set<object>
  /** Values that the present look may still look at. */
  left: number
}
