import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'
import { codesOf } from './coded-value.js'

/** Whether the codes of a node satisfy the required bindings of a rule; what cannot be known does not. */
export function codedFits(run: Run, node: FhirNode, { bindings }: ElementRule): boolean {
  return bindings.every(({ strength, valueSet }) => {
    if (strength !== 'required') return true
    const list = run.facts.valueSet(valueSet)
    return list !== undefined && list !== PENDING && codesOf(node).some((code) => list.has(code) === 'in')
  })
}

/** True when a rule, or what it says about its members, requires codes of a value set that is not known. */
export function needsUnknownCodes(run: Run, { bindings, children }: ElementRule): boolean {
  const isUnknown = bindings.some(({ strength, valueSet }) => strength === 'required' && run.facts.valueSet(valueSet) === undefined)
  return isUnknown || [...children.values()].some((child) => needsUnknownCodes(run, child))
}
