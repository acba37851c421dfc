import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import { rulesWithin } from '../../profile/rules-within.js'
import type { Run } from '../../walk/run.js'
import { boundList } from './bound-list.js'
import { codesOf } from './coded-value.js'

/** Whether the codes of a node satisfy the required bindings of a rule; what cannot be known does not. */
export function codedFits(run: Run, node: FhirNode, rule: ElementRule): boolean {
  return rule.bindings.every(({ strength, valueSet }) => {
    if (strength !== 'required') return true
    const list = boundList(run, rule, valueSet)
    return list !== undefined && list !== PENDING && codesOf(node).some((code) => list.has(code) === 'in')
  })
}

/** True when a rule, or what it says about its members, requires codes of a value set that is not known. */
export function needsUnknownCodes(run: Run, rule: ElementRule): boolean {
  return rulesWithin(rule).some(({ bindings }) =>
    bindings.some(({ strength, valueSet }) => strength === 'required' && boundList(run, rule, valueSet) === undefined),
  )
}
