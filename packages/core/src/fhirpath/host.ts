import type { Item, Items } from './item.js'
import type { FhirNode } from './node.js'
import type { UnitConversion } from './quantity.js'

/** Returned where an answer is not available yet. The host has recorded the question; evaluate again when it is answered. */
export const PENDING: unique symbol = Symbol('pending')

/** An answer of the host that is not there yet. */
export type Pending = typeof PENDING

/** What expressions ask of their surroundings. Each is optional; an expression that calls an absent one ends with an error. */
export interface FhirPathHost {
  /** The resource that a reference or canonical points to, or a Reference without address; `undefined` when it is not to be had. */
  readonly resolve?: (reference: string | undefined, from: FhirNode | undefined) => FhirNode | undefined | Pending
  /** Whether a code, Coding, CodeableConcept or text is in the value set; `undefined` when that cannot be known. */
  readonly memberOf?: (coded: Item, valueSet: string) => boolean | undefined | Pending
  /** Whether the coded `general` subsumes the coded `specific`. */
  readonly subsumes?: (general: Item, specific: Item) => boolean | undefined | Pending
  /** Whether the node conforms to the profile. */
  readonly conformsTo?: (node: FhirNode, profile: string) => boolean | undefined | Pending
  /** Whether a narrative's XHTML obeys the rules of FHIR. */
  readonly htmlChecks?: (xhtml: string) => boolean
  /** The ElementDefinition that constrains the node. */
  readonly elementDefinition?: (node: FhirNode) => FhirNode | undefined | Pending
  /** Whether the node is in the named slice of a profile. */
  readonly slice?: (node: FhirNode, slice: { readonly profile: string; readonly name: string }) => boolean | undefined | Pending
  /** Converts units of measure beyond the fixed ones of time. */
  readonly convertUnit?: UnitConversion
}

/** Bounds on the work of one evaluation. */
export interface FhirPathBudget {
  /** Items made or looked at. Default 1,000,000. */
  readonly steps: number
  /** Items of the result. Default 100,000. */
  readonly items: number
}

/** What an evaluation works with, besides the node it starts from. May be shared by many evaluations. */
export interface FhirPathContext {
  /** `%resource`; the focus when absent. */
  readonly resource?: FhirNode
  /** `%rootResource`; `resource` when absent. */
  readonly rootResource?: FhirNode
  /** Further variables, by name without `%`. */
  readonly variables?: ReadonlyMap<string, Items>
  readonly host?: FhirPathHost
  /** The clock of `now()`, `today()` and `timeOfDay()`, read once per evaluation. Without it those end with an error. */
  readonly now?: () => Date
  /** Bounds on one evaluation; those of expressions from strangers when absent. */
  readonly budget?: FhirPathBudget
  /** Receives what `trace()` passes by; nothing is written when absent. */
  readonly trace?: (name: string, items: Items) => void
}
