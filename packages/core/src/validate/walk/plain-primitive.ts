import { PENDING } from '../../fhirpath/index.js'
import type { ElementRule } from '../profile/element-rule.js'
import { boundList } from '../rules/binding/bound-list.js'
import { primitiveCheck } from '../rules/primitive/check-primitive.js'
import { isCheckedByType } from '../rules/registry.js'
import type { Member } from '../rules/structure/check-shape.js'
import type { Run } from './run.js'

/**
 * Whether a member is a primitive value about which a visit would have nothing to say, told without making a node for it, which most members do not
 * need (bench `validate`). False also where only the visit can tell.
 *
 * @param rules What the rules of the parent say about the member.
 */
export function isPlainPrimitive(run: Run, member: Member, rules: readonly ElementRule[]): boolean {
  const { slot, holder } = member
  const value = holder[slot.jsonName]
  if (slot.isCollection || typeof value === 'object' || Object.hasOwn(holder, slot.siblingName)) return false
  return isOfPlainType(run, slot.type, value) && areFine(run, member, rules) && (!run.isStructural || hasForm(run, member))
}

function isOfPlainType(run: Run, type: string, value: unknown): boolean {
  if (run.model.type(type)?.kind !== 'primitive' || isCheckedByType(run, type, value)) return false
  const base = run.facts.baseType(type)
  return base !== undefined && base !== PENDING && base.root.isPlain
}

function areFine(run: Run, { slot, holder }: Member, rules: readonly ElementRule[]): boolean {
  for (const rule of rules) {
    if (!rule.isPlain || rule.min > 1 || rule.max < 1 || (slot.isChoice && !rule.isBase)) return false
    if (rule.bindings.length > 0 && !isIn(run, rule, holder[slot.jsonName])) return false
  }
  return true
}

function isIn(run: Run, rule: ElementRule, code: unknown): boolean {
  if (typeof code !== 'string') return false
  return rule.bindings.every(({ valueSet }) => {
    const list = boundList(run, rule, valueSet)
    return list !== undefined && list !== PENDING && list.has({ code }) === 'in'
  })
}

function hasForm(run: Run, { slot, holder }: Member): boolean {
  const value = holder[slot.jsonName]
  const source = typeof value === 'number' ? (run.numberText(holder, slot.jsonName) ?? String(value)) : ''
  return primitiveCheck(slot.type)(value, source, run.now) === undefined
}
