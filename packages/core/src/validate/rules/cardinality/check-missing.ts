import type { FhirNode } from '../../../fhirpath/index.js'
import type { JsonObject } from '../../../json/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'
import { reportTooFew } from './count.js'

/** Reports the required elements and slices of which there is nothing at all. */
export function checkMissing(run: Run, { node, holder }: { node: FhirNode; holder: JsonObject }, rules: readonly ElementRule[]): void {
  for (const rule of rules) {
    for (const needed of rule.required) {
      if (!isPresent(node, holder, needed.name)) reportTooFew(run, node, { rule: needed, count: 0 })
    }
  }
}

function isPresent(node: FhirNode, holder: JsonObject, name: string): boolean {
  const slots = node.type.elements.get(name)
  // A rule about what the type does not have, such as the value of a primitive, says nothing about members.
  if (slots === undefined) return true
  return slots.some((slot) => Object.hasOwn(holder, slot.jsonName) || Object.hasOwn(holder, slot.siblingName))
}
