import type { TypeModel } from '../../fhirpath/index.js'
import type { ElementRule } from './element-rule.js'
import type { PrimitiveCheck } from './primitive-problem.js'

/** The members of a JSON object, as FHIR's own types define them. */
export interface Shape {
  readonly isResource: boolean
  /** By name in JSON. */
  readonly members: ReadonlyMap<string, ShapeMember>
  /** Number of required elements. */
  readonly requiredElements: number
}

/** One member of a shape. Flat, because the check of a resource reads thousands of them: bench `validate`. */
export interface ShapeMember {
  /** Its name in JSON. */
  readonly jsonName: string
  /** True for the object's id, which does not count as content. */
  readonly isId: boolean
  /** The name of the choice that it belongs to, such as `value`; `undefined` when it belongs to none. */
  readonly choice: string | undefined
  readonly isCollection: boolean
  readonly isRequired: boolean
  /** Whether one value is allowed; all that matters for members that are not collections. */
  readonly takesOne: boolean
  /** Whether this number of items is allowed. */
  readonly takes: (count: number) => boolean
  /** Checks a primitive value; `undefined` for other types. */
  readonly primitive: PrimitiveCheck | undefined
  /** True when the value can be any resource. */
  readonly isInnerResource: boolean
  /** The shape of a complex value; `undefined` while it is not known. */
  readonly inner: () => Shape | undefined
}

/** Provides shapes; each is created once. */
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
  /** Number of values that the current check may still read; 0 when it cannot decide. */
  left: number
  /** True when the whole resource was checked: objects that are not in `failed` have passed. */
  isComplete: boolean
  /** True when the current check is of objects that were checked before, so that `failed` has the answer. */
  recalls: boolean
}
