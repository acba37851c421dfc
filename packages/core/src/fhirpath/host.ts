import type { Item, Items } from './item.js'
import type { FhirNode } from './node.js'
import type { UnitConversion } from './quantity.js'

/** Returned where an answer of the host is not available yet. The host has recorded the question; evaluate again when it is answered. */
export const PENDING: unique symbol = Symbol('pending')

/** An answer of the host that is not available yet. */
export type Pending = typeof PENDING

/** Functions that the host provides to expressions. Each is optional; an expression that calls a missing one fails. */
export interface FhirPathHost {
  /** Resolves a reference or canonical, or a Reference without address (`from`), to a resource; `undefined` when it cannot be resolved. */
  readonly resolve?: (reference: string | undefined, from: FhirNode | undefined) => FhirNode | undefined | Pending
  /** Returns whether a code, Coding, CodeableConcept or text is in the value set; `undefined` when unknown. */
  readonly memberOf?: (coded: Item, valueSet: string) => boolean | undefined | Pending
  /** Returns whether the code `general` subsumes the code `specific`. */
  readonly subsumes?: (general: Item, specific: Item) => boolean | undefined | Pending
  /** Returns whether the node conforms to the profile. */
  readonly conformsTo?: (node: FhirNode, profile: string) => boolean | undefined | Pending
  /** Returns whether a narrative's XHTML conforms to the rules of FHIR. */
  readonly htmlChecks?: (xhtml: string) => boolean
  /** Returns the ElementDefinition that constrains the node. */
  readonly elementDefinition?: (node: FhirNode) => FhirNode | undefined | Pending
  /** Returns whether the node is in the named slice of a profile. */
  readonly slice?: (node: FhirNode, slice: { readonly profile: string; readonly name: string }) => boolean | undefined | Pending
  /** Converts units of measure other than those of time. */
  readonly convertUnit?: UnitConversion
}

/** Limits on the work of one evaluation. */
export interface FhirPathBudget {
  /** Maximum number of items created or read. Default 1,000,000. */
  readonly steps: number
  /** Maximum number of items in the result. Default 100,000. */
  readonly items: number
}

/** Context of evaluations, besides the node where they start. May be shared by many evaluations. */
export interface FhirPathContext {
  /** `%resource`; the focus when absent. */
  readonly resource?: FhirNode
  /** `%rootResource`; `resource` when absent. */
  readonly rootResource?: FhirNode
  /** Further variables, by name without `%`. */
  readonly variables?: ReadonlyMap<string, Items>
  readonly host?: FhirPathHost
  /** The clock of `now()`, `today()` and `timeOfDay()`, read once per evaluation. When absent, these functions fail. */
  readonly now?: () => Date
  /** Limits on one evaluation. Default: limits for untrusted expressions. */
  readonly budget?: FhirPathBudget
  /** Receives the number of steps of an evaluation when it ends, also with an error. */
  readonly spent?: (steps: number) => void
  /** Receives the items of `trace()`; when absent, they are ignored. */
  readonly trace?: (name: string, items: Items) => void
}
