import type { ElementSlot } from '../../fhirpath/index.js'
import type { FhirNode } from '../../fhirpath/index.js'
import type { ElementRule } from '../profile/element-rule.js'
import { checkCount } from '../rules/cardinality/count.js'
import { assignSlices } from '../rules/slicing/assign-slices.js'
import type { Run } from './run.js'

/** All nodes of one element in one parent. */
export interface ElementNodes {
  readonly parent: FhirNode
  readonly slot: ElementSlot
  readonly nodes: readonly FhirNode[]
}

/** Checks an element as a whole, then each of its nodes with the rules of the slices that it is in. */
export function visitElement(run: Run, element: ElementNodes, parentRules: readonly ElementRule[]): void {
  const { parent, slot, nodes } = element
  const rules: ElementRule[] = []
  for (const parentRule of parentRules) {
    const rule = parentRule.children.get(slot.name)
    if (rule !== undefined) rules.push(rule)
  }
  for (const rule of rules) {
    checkCount(run, parent, { rule, count: nodes.length })
    if (slot.isChoice) checkType(run, element, rule)
  }
  const slices = assignSlices(run, element, rules)
  for (const node of nodes) {
    const own = slices?.get(node)
    run.visit(run, node, own === undefined ? rules : [...rules, ...own])
  }
}

function checkType(run: Run, { slot, nodes: [first] }: ElementNodes, rule: ElementRule): void {
  if (rule.isBase || first === undefined || rule.types.length === 0 || rule.types.some(({ code }) => code === slot.type)) return
  run.sink.report('type-not-allowed', first, {
    text: `The type ${slot.type} is not allowed here; allowed: ${rule.types.map(({ code }) => code).join(', ')}.`,
    profile: rule.profile,
  })
}
