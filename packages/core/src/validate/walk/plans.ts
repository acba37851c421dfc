import { PENDING, type ElementSlot, type TypeDefinition } from '../../fhirpath/index.js'
import type { ElementRule } from '../run/element-rule.js'
import { isNested, type NodeCheck, type Plan, type PlannedMember, type Plans, type RequiredMember, type RuleBook } from '../run/run.js'

/** Maximum number of lists of rules kept. There are more only if resources keep claiming profiles in new combinations. */
const MAX_LISTS = 50_000

/**
 * A list of rules with its plans. Lists with the same beginning share it, so that equal lists are found again. There are as many lists as places, so
 * each has only the maps that it needs.
 */
interface RuleList {
  readonly rules: readonly ElementRule[]
  next?: WeakMap<ElementRule, RuleList>
  plans?: Map<TypeDefinition, Plan>
  /** Plans from the rules of a node's place alone: `typed` with those of its type, `untyped` without. */
  typed?: Map<TypeDefinition, Plan>
  untyped?: Map<TypeDefinition, Plan>
  /** True when a type in the rules has profiles; which of them apply depends on the node. */
  readonly hasProfiles: boolean
}

/** Creates the plans of a rule book. They are valid as long as the definitions of FHIR's own types, and are kept together with these. */
export function createPlans(book: RuleBook): Plans {
  let empty = listOf([])
  let count = 0
  const listFor = (rules: readonly ElementRule[]): RuleList => {
    let list = empty
    for (const rule of rules) {
      let next = list.next?.get(rule)
      if (next === undefined) {
        next = listOf([...list.rules, rule])
        ;(list.next ??= new WeakMap()).set(rule, next)
        count++
      }
      list = next
    }
    if (count > MAX_LISTS) {
      empty = listOf([])
      count = 0
    }
    return list
  }
  const planIn = (list: RuleList, type: TypeDefinition): Plan => {
    const known = list.plans?.get(type)
    if (known !== undefined) return known
    const made = planOf(type, list.rules, book)
    ;(list.plans ??= new Map()).set(type, made)
    return made
  }
  return {
    of: (type, rules) => planIn(listFor(rules), type),
    at: (run, type, rules) => {
      const list = listFor(rules)
      const known = (run.checksTypes ? list.typed : list.untyped)?.get(type)
      if (known !== undefined) return known
      if (list.hasProfiles || (run.checksTypes && (type.kind === 'resource' || type.name === 'Extension'))) return undefined
      const base = run.checksTypes && !isNested(type) ? run.definitions.baseType(type.name) : undefined
      if (base === PENDING) return undefined
      const plan = planIn(base === undefined ? list : listFor([...rules, base.root]), type)
      if (run.checksTypes) (list.typed ??= new Map()).set(type, plan)
      else (list.untyped ??= new Map()).set(type, plan)
      return plan
    },
    slices: new WeakMap(),
  }
}

function listOf(rules: readonly ElementRule[]): RuleList {
  const hasProfiles = rules.some(({ types }) => types.some(({ profiles }) => profiles.length > 0))
  return { rules, hasProfiles }
}

function planOf(type: TypeDefinition, rules: readonly ElementRule[], book: RuleBook): Plan {
  const members = new Map<string, PlannedMember>()
  const member = (name: string): PlannedMember | undefined => {
    const slot = type.members.get(name)
    if (slot === undefined) return undefined
    const made = {
      slot,
      rules: rulesFor(slot, rules),
      isRequired: rules.some(({ required }) => required.some((needed) => needed.name === slot.name)),
      isNeeded: book.onType(type.name).some(({ needs }) => needs === name),
    }
    members.set(name, made)
    return made
  }
  return {
    type,
    rules,
    demands: demandsOf(type, rules, book),
    required: rules.flatMap((rule) => rule.required.flatMap((needed) => requiredMember(type, needed))),
    requiredElements: new Set(rules.flatMap(({ required }) => required.map(({ name }) => name)).filter((name) => type.elements.has(name)))
      .size,
    members,
    member: (name) => members.get(name) ?? member(name),
  }
}

function rulesFor({ name }: ElementSlot, rules: readonly ElementRule[]): readonly ElementRule[] {
  return rules.flatMap(({ children }) => children.get(name) ?? [])
}

function demandsOf(type: TypeDefinition, rules: readonly ElementRule[], { demands }: RuleBook): readonly NodeCheck[] {
  return demands.flatMap(({ name, checkBy }) => {
    const own = rules.filter((rule) => rule.demands.includes(name))
    return own.length > 0 ? [checkBy(own, type)] : []
  })
}

/** A rule for an element that the type does not have, such as the value of a primitive, requires no member. */
function requiredMember({ elements }: TypeDefinition, rule: ElementRule): readonly RequiredMember[] {
  const slots = elements.get(rule.name)
  return slots === undefined ? [] : [{ rule, names: slots.flatMap(({ jsonName, siblingName }) => [jsonName, siblingName]) }]
}
