import type { Pace } from '../context/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import type { ElementNode } from './element-tree.js'

/** Something in a differential that cannot be applied to the base. */
export interface SnapshotProblem {
  readonly kind: SnapshotProblemKind
  readonly severity: 'error' | 'warning' | 'information'
  readonly text: string
  /** FHIRPath of the element: `StructureDefinition.differential.element[3]`. */
  readonly expression: string
}

/** What is wrong, whatever the text says. Adding a kind is a minor release, removing one a major. */
export type SnapshotProblemKind =
  /** The base has no such element. */
  | 'element-unknown'
  /** The base has the elements in another order. */
  | 'element-order'
  /** Elements below an element of several types, which are not those of each. */
  | 'choice'
  /** A contentReference that leads nowhere. */
  | 'content-reference'
  /** Elements below one without a type. */
  | 'type-missing'
  /** Elements below one whose type is not known. */
  | 'type-unknown'
  /** A slice of what is not sliced. */
  | 'slicing-missing'
  /** A slice that a closed slicing of the base does not have. */
  | 'slicing-closed'
  /** The base has the slices in another order. */
  | 'slice-order'
  /** The same in the differential of another definition that this one is made of. */
  | 'other-definition'

/** What a snapshot is made with. */
export interface SnapshotSource {
  readonly pace: Pick<Pace, 'step'>
  /** A StructureDefinition by canonical; `undefined` where there is none. */
  readonly find: (canonical: string) => Promise<JsonObject | undefined>
}

/** The work on one definition. */
export interface Building {
  readonly pace: SnapshotSource['pace']
  readonly url: string
  /** `resource`, `complex-type`, `primitive-type` or `logical`. */
  readonly kind: string
  /** What the base has, for references to the content of its elements. */
  readonly root: ElementNode
  /** The snapshot of a definition; `undefined` where it cannot be found. */
  readonly treeAt: (canonical: string) => Promise<ElementNode | undefined>
  /** @param own What the differential says, which the problem is about. */
  readonly report: (own: ElementNode, kind: SnapshotProblemKind, text: string) => void
}

/** Names an element in a message. */
export function labelOf({ element, name, sliceName }: ElementNode): string {
  return stringAt(element, 'id') ?? stringAt(element, 'path') ?? (sliceName === undefined ? name : `${name}:${sliceName}`)
}
