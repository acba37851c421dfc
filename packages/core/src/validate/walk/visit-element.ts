import type { ElementSlot } from '../../fhirpath/index.js'
import type { FhirNode } from '../../fhirpath/index.js'
import type { ElementRule } from '../profile/element-rule.js'
import { checkCount } from '../rules/cardinality/count.js'
import { assignSlices } from '../rules/slicing/assign-slices.js'
import { reportNullItem } from '../rules/structure/check-shape.js'
import type { Run } from './run.js'

/** All nodes of one element in one parent. */
export interface ElementNodes {
  readonly parent: FhirNode
  readonly slot: ElementSlot
  readonly nodes: readonly FhirNode[]
  /** Places in the list, ascending, where there is no node but a null that must not be. */
  readonly nulls: readonly number[]
}

/**
 * Checks an element as a whole, then each of its nodes with the rules of the slices that it is in.
 *
 * @param rules What the rules of the parent say about the element.
 */
export function visitElement(run: Run, element: ElementNodes, rules: readonly ElementRule[]): void {
  const { parent, slot, nodes, nulls } = element
  for (const rule of rules) checkCount(run, parent, { rule, count: nodes.length })
  const fitting = slot.isChoice ? rules.filter((rule) => checkType(run, element, rule)) : rules
  const slices = assignSlices(run, element, fitting)
  let told = 0
  for (const node of nodes) {
    const own = slices?.get(node)
    if (told < nulls.length) told = tellNulls(run, element, { from: told, before: node.index })
    run.visit(run, node, own === undefined ? fitting : withSlices(fitting, own))
  }
  if (told < nulls.length) tellNulls(run, element, { from: told, before: Infinity })
}

/** Keeps findings in the order of the list, because fixes are applied from the last to the first. Gives how many were told so far. */
function tellNulls(run: Run, { parent, slot, nulls }: ElementNodes, { from, before }: { from: number; before: number }): number {
  let told = from
  for (let index = nulls[told]; index !== undefined && index < before; index = nulls[++told]) reportNullItem(run, parent, { slot, index })
  return told
}

/** The rules for a node in slices: a slice of a snapshot stands in the place of the element that is sliced. */
function withSlices(rules: readonly ElementRule[], slices: readonly ElementRule[]): readonly ElementRule[] {
  return [...rules.filter((rule) => !rule.isComplete || !rule.slices.some((slice) => slices.includes(slice))), ...slices]
}

/** Whether a rule allows the type of a choice; when it does not, it has nothing else to say about the value. */
function checkType(run: Run, { slot, nodes: [first] }: ElementNodes, rule: ElementRule): boolean {
  if (rule.isBase || first === undefined || rule.types.length === 0 || rule.types.some(({ code }) => code === slot.type)) return true
  run.sink.report('type-not-allowed', placeOf(first), {
    text: `The type ${slot.type} is not allowed here; allowed: ${rule.types.map(({ code }) => code).join(', ')}.`,
    profile: rule.profile,
  })
  return false
}

/** The type of an extension's value is what the extension as a whole is about. */
function placeOf(node: FhirNode): FhirNode {
  return node.parent?.type.name === 'Extension' ? node.parent : node
}
