import { pathOf, type FhirNode } from '../../../fhirpath/index.js'
import type { Run } from '../../walk/run.js'

const MAX_NAME = 100

/** Reports a property that the type of the node does not have. */
export function reportUnknownProperty(run: Run, node: FhirNode, name: string): void {
  const at = JSON.stringify(name.slice(0, MAX_NAME).toWellFormed()).slice(1, -1)
  run.sink.report('unknown-property', node, { text: `Invalid additional property "${pathOf(node)}.${at}"`, at })
}
