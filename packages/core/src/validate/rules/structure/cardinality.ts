import type { FhirNode } from '../../../fhirpath/index.js'
import type { JsonObject } from '../../../json/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import type { Run } from '../../run/run.js'

/** How often an element or slice is there. */
interface Count {
  readonly rule: ElementRule
  readonly count: number
}

/** Reports at the parent when there are fewer or more than the rule allows. */
export function checkCount(run: Run, parent: FhirNode, { rule, count }: Count): void {
  if (count < rule.min) reportTooFew(run, parent, { rule, count })
  if (count > rule.max) {
    run.findings.report('too-many', parent, {
      text: rule.max === 0 ? `${named(rule)} is not allowed here.` : `${named(rule)} is allowed ${rule.max} times, but there are ${count}.`,
      ...from(rule),
    })
  }
}

/** Reports that there are fewer than the rule demands. */
function reportTooFew(run: Run, parent: FhirNode, { rule, count }: Count): void {
  run.findings.report('too-few', parent, {
    text: rule.min === 1 ? `${named(rule)} is required.` : `${named(rule)} is required ${rule.min} times, but there are ${count}.`,
    ...from(rule),
  })
}

function named(rule: ElementRule): string {
  return rule.sliceName === undefined ? `'${rule.name}'` : `Slice '${rule.sliceName}' of '${rule.name}'`
}

function from(rule: ElementRule): { profile?: string } {
  return rule.isBase ? {} : { profile: rule.profile }
}

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
