import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode, type Pending } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import type { CodeList, GivenCode } from '../../run/definitions.js'
import { INHERITED, rulesWithin, type BindingRule, type ElementRule } from '../../run/element-rule.js'
import { rootsOf } from '../profile/conforms.js'
import { resourceOf, type Run } from '../../run/run.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
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

/**
 * The bindings of an element that are not replaced. A binding of a profile replaces those of the profiles that it builds on. It replaces that of the type if
 * profiles were asked for, or if a concept conforms to it; a resource that only claims a profile claims its type, too. None replaces a required one or an
 * additional one.
 *
 * @param bound At least one is of a profile.
 */
export function inForce(
  run: Run,
  node: FhirNode,
  { bound, codes }: { readonly bound: readonly BoundRule[]; readonly codes: readonly GivenCode[] },
): readonly BoundRule[] {
  if (bound.length === 1) return bound
  const own = bound.filter(({ binding, rule }) => !rule.isBase && binding.isAdditional !== true)
  const replacesType =
    (run.isAsked && isInRoot(run, node)) || (node.type.name === 'CodeableConcept' && own.some((one) => isMet(run, one, codes)))
  return bound.filter(({ binding, rule }) => {
    if (binding.strength === 'required' || binding.isAdditional === true) return true
    return rule.isBase ? !replacesType : !own.some((other) => buildsOn(run, other.rule.profile, rule.profile))
  })
}

function isMet(run: Run, { binding, rule }: BoundRule, codes: readonly GivenCode[]): boolean {
  const list = binding.strength === 'extensible' ? boundList(run, rule, binding.valueSet) : undefined
  return list !== undefined && list !== PENDING && codes.some((code) => list.has(code) === 'in')
}

/** Whether a node is in no resource but the validated one. */
function isInRoot({ root }: Run, node: FhirNode): boolean {
  return resourceOf(node).value === root.value
}

/** Whether a profile gets rules from another, which is one of those that it builds on. */
function buildsOn(run: Run, profile: string, other: string): boolean {
  if (profile === other) return false
  const found = run.definitions.profile(profile)
  return found !== undefined && found !== PENDING && rootsOf(run, found).some((root) => root.profile === other)
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

/** A value set that is not loaded, so that the codes of an element are not checked against it. */
export const VALUE_SET_UNKNOWN: FindingDefinition = defineFinding(
  'value-set-unknown',
  'warning',
  'code-invalid',
  'Load the value set or its package; until then the code is not checked.',
)
/** A value set that imports itself, so that codes cannot be checked against it. */
export const VALUE_SET_CIRCULAR: FindingDefinition = defineFinding(
  'value-set-circular',
  'error',
  'processing',
  'Remove the import by which the value set includes itself; until then the code is not checked.',
)
/** A value set that leaves a code undecided, because a part of it cannot be used. */
export const VALUE_SET_UNUSABLE: FindingDefinition = defineFinding(
  'value-set-unusable',
  'warning',
  'processing',
  'Repair the value set; until then the code is not checked.',
)

/** Reports a binding to an unknown value set. */
export function reportUnknownList(run: Run, node: FhirNode, { binding, rule }: BoundRule): void {
  if (binding.valueSet === INHERITED) reportNoSource(run, node, rule)
  else if (!rule.isBase) reportUnknown(run, node, { binding, rule })
}

function reportNoSource(run: Run, node: FhirNode, rule: ElementRule): void {
  if (node.type.name === 'string') return
  run.findings.report(VALUE_SET_UNKNOWN, node, {
    text: `The binding of ${quoted(rule.path)} has no source, in the profile and in its base, so the code is not checked.`,
    severity: 'information',
    ...fromProfile(rule),
  })
}

function reportUnknown(run: Run, node: FhirNode, { binding, rule }: BoundRule): void {
  if (!binding.valueSet.startsWith('#') && isCodeSystem(run, binding.valueSet)) {
    run.findings.report(VALUE_SET_UNKNOWN, node, {
      text: `The profile binds to the code system ${binding.valueSet}, where a value set belongs.`,
      severity: 'error',
      ...fromProfile(rule),
    })
    return
  }
  run.findings.report(VALUE_SET_UNKNOWN, node, {
    text: `The value set ${binding.valueSet} could not be found, so the code is not checked.`,
    ...fromProfile(rule),
  })
}

function isCodeSystem(run: Run, canonical: string): boolean {
  const found = run.definitions.definition('CodeSystem', canonical)
  return found !== undefined && found !== PENDING
}

/** Reports a broken value set that leaves it open whether a code is in it. */
export function noteUnusable(run: Run, node: FhirNode, { rule, list, codes }: ListedCodes): void {
  if (list.problem === undefined) return
  const verdicts = codes.map((code) => list.has(code))
  if (!verdicts.includes('unknown') || verdicts.includes('in')) return
  run.findings.report(VALUE_SET_UNUSABLE, node, {
    text: `The value set ${list.canonical} cannot be used: ${list.problem}`,
    ...fromProfile(rule),
  })
}

/** Reports, once per element that a profile binds, the missing definitions that the value set refers to. */
export function noteLacking(run: Run, node: FhirNode, { rule, list, codes }: ListedCodes): void {
  if (rule.isBase || codes.some((code) => list.has(code) === 'in' && list.lacking(code).length === 0)) return
  const lacking = new Map(codes.flatMap((code) => list.lacking(code)).map((one) => [one.canonical, one]))
  for (const { kind, canonical } of lacking.values()) {
    const relation = kind === 'supplement' ? 'requires' : 'imports'
    run.findings.report(VALUE_SET_UNKNOWN, node, {
      text: `The ${kind} ${quoted(canonical)}, which the value set ${list.canonical} ${relation}, could not be found.`,
      code: 'not-found',
      ...fromProfile(rule),
    })
  }
}
