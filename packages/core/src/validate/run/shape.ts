import type { TypeModel } from '../../fhirpath/index.js'
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

/** One member of a shape. Flat, because a look at a resource reads thousands of them: bench `validate`. */
export interface ShapeMember {
  /** Its name in JSON. */
  readonly jsonName: string
  /** True for the id of the object, which alone is not content. */
  readonly isId: boolean
  /** The name of the choice that it is one of, such as `value`; `undefined` where there is none. */
  readonly choice: string | undefined
  readonly isCollection: boolean
  readonly isRequired: boolean
  /** Whether one value may be there, which is all that is asked of what is not a collection. */
  readonly takesOne: boolean
  /** Whether a number of items may be there. */
  readonly takes: (count: number) => boolean
  /** What a primitive must be like. */
  readonly primitive: PrimitiveCheck | undefined
  /** True where any resource may be inside. */
  readonly isInnerResource: boolean
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
  /** Objects with a flaw. */
  readonly flawed: Set<object>
  /** Values that the present look may still look at; none where it cannot decide. */
  left: number
  /** True when the whole resource was looked through: what is not among the flawed is fine. */
  isComplete: boolean
  /** True where the present look is into what was looked through, and need only recall what it was like. */
  recalls: boolean
}
