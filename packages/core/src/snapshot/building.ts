import type { Pace } from '../context/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import type { ElementNode } from './element-tree.js'

/** Where StructureDefinitions of FHIR itself are. */
export const TYPE_URL = 'http://hl7.org/fhir/StructureDefinition/'

/** Something in a differential that cannot be applied to the base. */
export interface SnapshotProblem {
  readonly severity: 'error' | 'warning' | 'information'
  readonly text: string
  /** FHIRPath of the element: `StructureDefinition.differential.element[3]`. */
  readonly expression: string
}

/** What a snapshot is made with. */
export interface SnapshotSource {
  readonly pace: Pick<Pace, 'step' | 'run'>
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
  readonly report: (own: ElementNode, text: string, severity?: SnapshotProblem['severity']) => void
}

/** Names an element in a message. */
export function labelOf({ element, name, sliceName }: ElementNode): string {
  return stringAt(element, 'id') ?? stringAt(element, 'path') ?? (sliceName === undefined ? name : `${name}:${sliceName}`)
}
