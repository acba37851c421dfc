import type { Pace } from '../context/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import type { ElementNode } from './element-tree.js'

/** A part of a differential that cannot be applied to the base. */
export interface SnapshotProblem {
  readonly kind: SnapshotProblemKind
  readonly severity: 'error' | 'warning' | 'information'
  readonly text: string
  /** FHIRPath expression of the element: `StructureDefinition.differential.element[3]`. */
  readonly expression: string
}

/** Stable identifier of the problem, independent of its text. Adding a kind is a minor release, removing one a major. */
export type SnapshotProblemKind =
  /** The base has no such element. */
  | 'element-unknown'
  /** The elements are in another order in the base. */
  | 'element-order'
  /** Elements below an element of several types that not all of the types have. */
  | 'choice'
  /** A contentReference to an element that does not exist. */
  | 'content-reference'
  /** Elements below an element without a type. */
  | 'type-missing'
  /** Elements below an element whose type is unknown. */
  | 'type-unknown'
  /** A slice of an element without slicing. */
  | 'slicing-missing'
  /** A new slice in a slicing that the base has closed. */
  | 'slicing-closed'
  /** The slices are in another order in the base. */
  | 'slice-order'
  /** A problem in the differential of another definition on which this one builds. */
  | 'other-definition'

/** Access to other definitions, and to the pace of the call. */
export interface SnapshotSource {
  readonly pace: Pick<Pace, 'step'>
  /** A StructureDefinition by canonical URL; `undefined` if there is none. */
  readonly find: (canonical: string) => Promise<JsonObject | undefined>
}

/** State of the generation of one definition's snapshot. */
export interface Building {
  readonly pace: SnapshotSource['pace']
  readonly url: string
  /** `resource`, `complex-type`, `primitive-type` or `logical`. */
  readonly kind: string
  /** The tree of the base, in which content references are resolved. */
  readonly root: ElementNode
  /** The snapshot of another definition; `undefined` if it cannot be found. */
  readonly treeAt: (canonical: string) => Promise<ElementNode | undefined>
  /** @param own The node of the differential that has the problem. */
  readonly report: (own: ElementNode, kind: SnapshotProblemKind, text: string) => void
}

/** The name of an element for messages. */
export function labelOf({ element, name, sliceName }: ElementNode): string {
  return stringAt(element, 'id') ?? stringAt(element, 'path') ?? (sliceName === undefined ? name : `${name}:${sliceName}`)
}
