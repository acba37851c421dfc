import type { FhirNode } from '../../../fhirpath/index.js'
import type { Run } from '../../walk/run.js'
import { containedOf, referenceOf } from '../reference/resolve-locally.js'

/** Constraints that every resource meets many times, or whose published expression is wrong: the same in code, by the published expression. */
export const NATIVE_CONSTRAINTS: ReadonlyMap<string, (run: Run, node: FhirNode) => boolean> = new Map([
  ["reference.startsWith('#').not() or (reference.substring(1).trace('url') in %rootResource.contained.id.trace('ids'))", leadsToContained],
])

/** ref-1. A reference without `reference` is no local one, and `#` alone is the container. */
function leadsToContained(run: Run, node: FhirNode): boolean {
  const reference = referenceOf(node)
  return reference === undefined || !reference.startsWith('#') || containedOf(run, node, reference.slice(1)) !== undefined
}
