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

/** One member of a shape. Flat, because the check of a resource reads thousands of them: bench `validate`. */
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

/** The state of the check that shows, from JSON values alone, that a walk with `checks: 'structure'` would find nothing. */
export interface StructureCheck {
  readonly model: TypeModel
  readonly numberText: (parent: object, key: string | number) => string | undefined
  readonly now: Date
  readonly shapes: Shapes
  /** Objects in which the walk would find something. */
  readonly failed: Set<object>
  /** Values that the present check may still read; none where it cannot decide. */
  left: number
  /** True when the whole resource was checked: objects that are not among the failed have passed. */
  isComplete: boolean
  /** True where the present check is of objects that were checked before, so that `failed` answers it. */
  recalls: boolean
}
