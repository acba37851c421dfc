import { isObject } from '../../../json/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { Run } from '../../walk/run.js'
import { containedOf, referenceOf } from '../reference/resolve-locally.js'

const DOM_3 =
  "contained.where((('#'+id in (%resource.descendants().reference | %resource.descendants().as(canonical) | %resource.descendants().as(uri) | %resource.descendants().as(url))) or descendants().where(reference = '#').exists() or descendants().where(as(canonical) = '#').exists() or descendants().where(as(canonical) = '#').exists()).not()).trace('unmatched', id).empty()"

/** Constraints that every resource meets many times, or whose published expression is wrong: the same in code, by the published expression. */
export const NATIVE_CONSTRAINTS: ReadonlyMap<string, (run: Run, node: FhirNode) => boolean> = new Map([
  ["reference.startsWith('#').not() or (reference.substring(1).trace('url') in %rootResource.contained.id.trace('ids'))", leadsToContained],
  ['hasValue() or (children().count() > id.count())', hasContent],
  // dom-3 is `checkResource`, which says what is not referred to; txt-1 and txt-2 are `checkNarrative`, which says what is wrong.
  [DOM_3, () => true],
  ['htmlChecks()', () => true],
])

/** ele-1. Members that no type has count as content: they are reported themselves. */
function hasContent(_run: Run, { value, extra }: FhirNode): boolean {
  return (value !== undefined && value !== null && !isObject(value)) || hasMember(value) || hasMember(extra)
}

function hasMember(json: unknown): boolean {
  return isObject(json) && Object.keys(json).some((name) => name !== 'id')
}

/** ref-1. A reference without `reference` is no local one, and `#` alone is the container. */
function leadsToContained(run: Run, node: FhirNode): boolean {
  const reference = referenceOf(node)
  return reference === undefined || !reference.startsWith('#') || containedOf(run, node, reference.slice(1)) !== undefined
}
