import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode, type Pending } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import type { CodeList, GivenCode } from '../../run/definitions.js'
import { INHERITED, rulesWithin, type BindingRule, type ElementRule } from '../../run/element-rule.js'
import type { Run } from '../../run/run.js'
import { baseElement } from '../structure-definition/base-element.js'

/** A binding, and the rule that has it. */
export interface BoundRule {
  readonly binding: BindingRule
  readonly rule: ElementRule
}

/** The codes of an element, and a value set that it is bound to. */
export interface ListedCodes {
  readonly rule: ElementRule
  readonly list: CodeList
  readonly codes: readonly GivenCode[]
}

/** The value set of a rule's binding; `undefined` when it is not known. A profile names a value set that it contains by `#` and its id. */
export function boundList(run: Run, rule: ElementRule, valueSet: string): CodeList | undefined | Pending {
  const { isBase, profile } = rule
  if (isBase) return run.definitions.baseValueSet(valueSet)
  if (valueSet === INHERITED) return inheritedList(run, rule)
  if (!valueSet.startsWith('#')) return run.definitions.valueSet(valueSet)
  const definition = run.definitions.definition('StructureDefinition', profile)
  if (definition === undefined || definition === PENDING) return definition
  const contained = objectsAt(definition, 'contained').find((one) => one['resourceType'] === 'ValueSet' && one['id'] === valueSet.slice(1))
  return contained === undefined ? undefined : run.definitions.givenValueSet(contained)
}

/** The value set of the nearest base that names one. */
function inheritedList(run: Run, { profile, id, path }: ElementRule): CodeList | undefined | Pending {
  const seen = new Set<string>()
  for (let next: string | undefined = profile; next !== undefined && !seen.has(next);) {
    seen.add(next)
    const definition = run.definitions.definition('StructureDefinition', next)
    const element = definition === PENDING ? PENDING : baseElement(run, next, { id, path })
    if (definition === PENDING || element === PENDING) return PENDING
    const valueSet = stringAt(objectAt(element, 'binding'), 'valueSet')
    if (valueSet !== undefined) return run.definitions.valueSet(valueSet)
    next = stringAt(definition, 'baseDefinition')
  }
  return undefined
}

/** The value sets to which rules bind, as far as they are known. */
export function boundLists(run: Run, rules: readonly ElementRule[]): readonly CodeList[] {
  return rules.flatMap((rule) =>
    rule.bindings.flatMap(({ valueSet }) => {
      const list = boundList(run, rule, valueSet)
      return list === undefined || list === PENDING ? [] : [list]
    }),
  )
}

/** The codes of a node whose type can be bound; a primitive code has no system. */
export function codesOf({ value, type }: Pick<FhirNode, 'value' | 'type'>): readonly GivenCode[] {
  if (typeof value === 'string') return [{ code: value }]
  if (!isObject(value)) return []
  if (type.name === 'CodeableConcept') return objectsAt(value, 'coding').flatMap(codeIn)
  return codeIn(value)
}

/** A Coding or Quantity without system has the system `''`, because the origin of its code is unknown. */
function codeIn(coding: JsonObject): readonly GivenCode[] {
  const code = stringAt(coding, 'code')
  const system = stringAt(coding, 'system')
  return code === undefined ? [] : [{ code, system: system ?? '', version: stringAt(coding, 'version') }]
}

/** Whether the codes of a node satisfy the required bindings of a rule; false when that is not known. */
export function codedFits(run: Run, node: FhirNode, rule: ElementRule): boolean {
  return rule.bindings.every(({ strength, valueSet }) => {
    if (strength !== 'required') return true
    const list = boundList(run, rule, valueSet)
    return list !== undefined && list !== PENDING && codesOf(node).some((code) => list.has(code) === 'in')
  })
}

/** True when a rule, or a rule for its members, requires codes of a value set that cannot be used. */
export function needsUnknownCodes(run: Run, rule: ElementRule): boolean {
  return rulesWithin(rule).some(({ bindings }) =>
    bindings.some(({ strength, valueSet }) => strength === 'required' && isUnusable(boundList(run, rule, valueSet))),
  )
}

function isUnusable(list: CodeList | undefined | Pending): boolean {
  return list === undefined || (list !== PENDING && list.problem !== undefined)
}

/** Formats a code for messages. */
export function shownCode({ system, code }: GivenCode): string {
  return quoted(system === undefined ? code : `${system}#${code}`)
}

/** The profile of a rule, for a finding; none for rules of FHIR's own types. */
export function fromProfile(rule: ElementRule): { profile?: string } {
  return rule.isBase ? {} : { profile: rule.profile }
}
