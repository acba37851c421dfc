import type { FhirNode } from '../../fhirpath/index.js'
import { isObject } from '../../json/index.js'
import type { ElementRule } from '../profile/element-rule.js'
import { checkBindings } from '../rules/binding/check-bindings.js'
import { checkConstraints } from '../rules/constraint/check-constraints.js'
import { checkPrimitive } from '../rules/primitive/check-primitive.js'
import { checkTarget } from '../rules/reference/check-target.js'
import { checkByType } from '../rules/registry.js'
import { checkAllowedType, checkResourceType } from '../rules/structure/check-resource-type.js'
import { checkElementId } from '../rules/structure/check-element-id.js'
import { checkNotEmpty } from '../rules/structure/check-not-empty.js'
import { checkValue } from '../rules/value/check-value.js'
import { isFlawless } from '../structure/flawless.js'
import { rulesOf } from './rules-of.js'
import type { Run } from './run.js'
import { visitMembers } from './visit-members.js'

/**
 * Checks a node and all below it: first the node itself, then its members in document order.
 *
 * @param rules What the parent's rules say about this element; the rules of its type and of profiles on the type are added here.
 */
export function visitNode(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (run.sink.isFull || (node.value === undefined && node.extra === undefined)) return
  run.step()
  if (run.checks === 'structure' && isFlawless(run.flawless, node, rules[0])) return
  const all = rulesOf(run, node, rules)
  if (run.isStructural && !checkOwn(run, node, all)) return
  if (run.checks === 'all') checkRules(run, node, all)
  visitMembers(run, node, all)
}

function checkRules(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (node.type.kind === 'resource') checkAllowedType(run, node, rules)
  for (const rule of rules) checkValue(run, node, rule)
  checkBindings(run, node, rules)
  checkConstraints(run, node, rules)
  checkTarget(run, node, rules)
}

/** What holds for every node of the type. False when the node does not have the form that further rules need. */
function checkOwn(run: Run, node: FhirNode, rules: readonly ElementRule[]): boolean {
  if (node.type.kind !== 'primitive' && !isObject(node.value)) {
    run.sink.report('object-expected', node, { text: `An object is expected here, not a ${typeof node.value}.` })
    return false
  }
  if (node.type.kind === 'resource' && !checkResourceType(run, node)) return false
  if (!checkNotEmpty(run, node)) return false
  if (node.type.kind === 'primitive' && node.value !== undefined && !checkPrimitive(run, node)) return false
  if (run.checks === 'all') {
    checkElementId(run, node)
    checkByType(run, node, rules)
  }
  return true
}
