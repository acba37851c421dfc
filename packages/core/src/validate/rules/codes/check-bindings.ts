import { withoutVersion } from '../../../content/index.js'
import { extensionElement } from '../../../cross-version/index.js'
import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode, type TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { didYouMean, otherCase } from '../../../text/index.js'
import type { CodeFit, CodeList, GivenCode } from '../../run/definitions.js'
import { SYSTEM_TYPES, type BindingRule, type ElementRule } from '../../run/element-rule.js'
import { type Help, defineFinding, type FindingDefinition, type Finding } from '../../run/finding.js'
import { replacement } from '../../run/patch.js'
import type { DemandRule, MetTest, NodeCheck, Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/text.js'
import {
  boundList,
  boundLists,
  codesOf,
  fromProfile,
  inForce,
  shownCode,
  type BoundRule,
  type ListedCodes,
  noteLacking,
  noteUnusable,
  reportUnknownList,
  VALUE_SET_CIRCULAR,
  VALUE_SET_UNKNOWN,
  VALUE_SET_UNUSABLE,
} from './bound-codes.js'
import { CODE_SYSTEM_VERSION, CONCEPT_INACTIVE, reportOutOfUse } from './check-coding.js'

const CODE_NOT_IN_VALUE_SET: FindingDefinition = defineFinding(
  'code-not-in-value-set',
  'error',
  'code-invalid',
  'Use a code from the value set.',
)
const CODE_SYSTEM_NOT_INFERRED: FindingDefinition = defineFinding(
  'code-system-not-inferred',
  'error',
  'not-found',
  'Use a code from the value set.',
)

/** Primitive types that can be bound. */
const CODED_PRIMITIVES: ReadonlySet<string> = new Set(['code', 'string', 'uri', 'url', 'canonical'])

/** Creates the test whether the codes of a value are fine in all value sets that a rule binds them to. */
function inAllTest(rule: ElementRule, type: TypeDefinition): MetTest | undefined {
  if (type.kind === 'primitive' && !CODED_PRIMITIVES.has(type.name)) return undefined
  const bound = rule.bindings.map((binding) => ({
    valueSet: binding.valueSet,
    isExample: binding.strength === 'example',
    takesText: isTextEnough(binding, type),
  }))
  return (value, run) => {
    for (const { valueSet, isExample, takesText } of bound) {
      const list = boundList(run, rule, valueSet)
      const fit = list === undefined || list === PENDING ? list : isExample ? 'fine' : fitOf(list, value, type)
      if (fit !== 'fine' && !(fit === undefined && rule.isBase) && !(fit === 'none' && takesText)) return false
    }
    return true
  }
}

/** How well the codes of a value fit a value set. A code with a version is `questionable`, because the version must be checked too. */
function fitOf(list: CodeList, value: unknown, { name }: TypeDefinition): CodeFit | 'none' {
  if (typeof value === 'string') return list.fit(value, undefined)
  if (!isObject(value)) return 'none'
  if (name !== 'CodeableConcept') return codingFit(list, value)
  const { coding: codings } = value
  let found: CodeFit | 'none' = 'none'
  if (!Array.isArray(codings)) return found
  for (const coding of codings) {
    const fit = isObject(coding) ? codingFit(list, coding) : 'none'
    if (fit === 'questionable') return fit
    if (found !== 'fine' && fit !== 'none') found = fit
  }
  return found
}

function codingFit(list: CodeList, coding: JsonObject): CodeFit | 'none' {
  const code = stringAt(coding, 'code')
  if (code === undefined) return 'none'
  return stringAt(coding, 'version') === undefined ? list.fit(code, stringAt(coding, 'system') ?? '') : 'questionable'
}

/** Whether a value needs no code: a concept may be text only if its binding is preferred, and other complex types may lack a code. */
function isTextEnough({ strength, takesText }: BindingRule, { kind, name }: TypeDefinition): boolean {
  return kind !== 'primitive' && (strength === 'preferred' || takesText === true || name !== 'CodeableConcept')
}

const SEVERITIES: Readonly<Record<BindingRule['strength'], Finding['severity']>> = {
  required: 'error',
  extensible: 'warning',
  preferred: 'information',
  example: 'information',
}

/** A code of a version of its code system that the value set does not have. */
const CODE_VERSION_MISMATCH: FindingDefinition = defineFinding(
  'code-version-mismatch',
  'error',
  'invalid',
  'Use the version of the code system that the value set has, or leave the version out.',
)

/** A code that the value set marks as outdated. */
const CONCEPT_OUTDATED: FindingDefinition = defineFinding(
  'concept-outdated',
  'warning',
  'business-rule',
  'Use another code of the value set; this one may be taken out of it.',
)

/** Bindings. */
export const bindingRule: DemandRule = {
  name: 'binding',
  finds: [
    CODE_NOT_IN_VALUE_SET,
    VALUE_SET_UNKNOWN,
    VALUE_SET_CIRCULAR,
    VALUE_SET_UNUSABLE,
    CODE_SYSTEM_NOT_INFERRED,
    CODE_VERSION_MISMATCH,
    CONCEPT_OUTDATED,
    CONCEPT_INACTIVE,
    CODE_SYSTEM_VERSION,
  ],
  appliesTo: ({ bindings }) => bindings.length > 0,
  metTest: inAllTest,
  checkBy: checkFor,
}

/**
 * Creates the check of codes against the value sets that rules bind them to. If a code of one set is required, weaker bindings are not checked, except
 * additional ones.
 */
function checkFor(rules: readonly ElementRule[]): NodeCheck {
  const bound = rules.flatMap((rule) => rule.bindings.map((binding) => ({ binding, rule })))
  const isRequired = bound.some(({ binding }) => binding.strength === 'required')
  const required = isRequired
    ? eachOnce(bound.filter(({ binding }) => binding.strength === 'required' || binding.isAdditional === true))
    : []
  const strongest = bound.filter(isStrongest)
  const usual = new Set(bound.filter(({ binding, rule }) => rule.isBase && binding.strength === 'preferred').map(listOf))
  const ofTypeOnly = strongest.every(({ rule }) => rule.isBase) ? eachOnce(strongest) : undefined
  return (run, node) => {
    if (node.type.kind === 'primitive' && !CODED_PRIMITIVES.has(node.type.name)) return
    const codes = codesOf(node)
    if (node.type.name === 'CodeableConcept' && isObject(node.value)) run.indexes.boundLists.set(node.value, () => boundLists(run, rules))
    const applied =
      codes.length > 0 && required.length > 0 ? required : (ofTypeOnly ?? eachOnce(inForce(run, node, { bound: strongest, codes })))
    for (const one of applied) checkBinding(run, node, { ...one, codes, isUsual: usual.has(listOf(one)) })
  }
}

/** The value set of a binding, in any version. */
function listOf({ binding: { valueSet } }: BoundRule): string {
  return withoutVersion(valueSet)
}

function eachOnce(bound: readonly BoundRule[]): readonly BoundRule[] {
  if (bound.length < 2) return bound
  const keys = bound.map(({ binding }) => `${binding.strength} ${binding.valueSet}`)
  return bound.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}

/** The maximum of a binding replaces the binding itself. */
function isStrongest({ binding, rule }: BoundRule): boolean {
  return binding.strength === 'required' || rule.bindings.every(({ strength }) => strength !== 'required')
}

interface AppliedBinding extends BoundRule {
  readonly codes: readonly GivenCode[]
  /** True for a binding that FHIR's own types state, in a profile, too. */
  readonly isUsual: boolean
}

function checkBinding(run: Run, node: FhirNode, { binding, rule, codes, isUsual }: AppliedBinding): void {
  if (binding.strength === 'extensible' && !run.policy.extensibleBindingWarnings) return
  const list = boundList(run, rule, binding.valueSet)
  if (list === PENDING) return
  if (list === undefined) return reportUnknownList(run, node, { binding, rule })
  if (binding.strength === 'example') return
  if (codes.length === 0) return reportNoCode(run, node, { binding, rule, list })
  if (list.circle !== undefined) {
    run.findings.report(VALUE_SET_CIRCULAR, node, { text: `${list.circle}.`, ...fromProfile(rule) })
    return
  }
  noteUnusable(run, node, { rule, list, codes })
  for (const [index, code] of codes.entries()) {
    const at = node.type.name === 'CodeableConcept' ? `coding[${index}].` : ''
    checkListedCode(run, node, { rule, list, code, at })
  }
  if (binding.strength === 'required') checkInference(run, node, { rule, list })
  noteLacking(run, node, { rule, list, codes })
  const isOut = codes.every((code) => isOutside(run, node, { list, code }))
  if (isOut && !isBeyond(run, node, { binding, rule, codes, isUsual })) reportOut(run, node, { binding, rule, list, codes })
}

/** The code system of a code without system follows from the value set, if only one of its systems has the code. */
function checkInference(run: Run, node: FhirNode, { rule, list }: { rule: ElementRule; list: CodeList }): void {
  const systems = node.type.name === 'code' && typeof node.value === 'string' ? list.systemsOf(node.value) : []
  if (systems.length < 2) return
  run.findings.report(CODE_SYSTEM_NOT_INFERRED, node, {
    text: `The code system of ${quoted(shownJson(node.value))} cannot be inferred from ${list.canonical}, which has the code by ${systems.join(' and ')}.`,
    ...fromProfile(rule),
  })
}

/**
 * Whether a code is certainly outside a value set. It is if its version exists, but is not the one that the value set states. It is not certain for a code
 * without system that the value set lists; in a CodeableConcept, only if the value set is a single list.
 */
function isOutside(run: Run, { type }: FhirNode, { list, code }: { list: CodeList; code: GivenCode }): boolean {
  const mayMean = list.isOneList || type.name !== 'CodeableConcept'
  if (list.has(code) === 'out') return code.system !== '' || !mayMean || !list.lists(code.code)
  if (code.version === undefined || !isOtherVersion(list, code) || !list.versions(code.system ?? '').areStated) return false
  const family = run.definitions.codeSystem(`${code.system}|${code.version}`)
  return family !== PENDING && family.has(code.version)
}

function reportOut(run: Run, node: FhirNode, { binding, rule, list, codes }: BoundRule & ListedCodes): void {
  run.findings.report(CODE_NOT_IN_VALUE_SET, node, {
    text: `${codes.map(shownCode).join(', ')} ${codes.length === 1 ? 'is' : 'are'} not in the value set ${quoted(list.title)} (${list.canonical}), and a code from this value set ${demand(binding)}.`,
    severity: SEVERITIES[binding.strength],
    ...fromProfile(rule),
    help: () => suggestion(node, codes, list),
  })
  if (typeof node.value === 'string' && binding.strength === 'required') {
    run.findings.report(CODE_SYSTEM_NOT_INFERRED, node, {
      text: `The code system of ${quoted(node.value)} cannot be inferred from ${list.canonical}.`,
      ...fromProfile(rule),
    })
  }
}

/**
 * True for codes outside that are not reported: codes of unknown systems under a preferred binding and all under one that FHIR itself prefers, a code that the profile itself fixes, codes of FHIRPath's
 * types, and an absolute uri under an extensible binding, which may be defined elsewhere, except as the type of a Reference: there it is for logical models only.
 */
function isBeyond(run: Run, node: FhirNode, { binding, rule, codes, isUsual }: AppliedBinding): boolean {
  if (rule.children.get('code')?.value.fixed !== undefined || codes.every(({ code }) => code.startsWith(SYSTEM_TYPES))) return true
  const mayBeElsewhere = node.type.name === 'uri' && binding.strength === 'extensible' && node.parent?.type.name !== 'Reference'
  if (mayBeElsewhere && codes.every(({ code }) => isAbsoluteUri(code))) return true
  if (binding.strength !== 'preferred') return false
  return (isUsual && !run.policy.forPublication) || codes.every(({ system }) => system !== undefined && isUnknown(run, system))
}

function isUnknown(run: Run, system: string): boolean {
  const family = run.definitions.codeSystem(system)
  return family === PENDING || family.unknown
}

/** Suggestions for a single code: similar codes and, if it differs only in upper and lower case, a fix. */
function suggestion(node: FhirNode, codes: readonly GivenCode[], list: CodeList): Help {
  const [code] = codes
  if (code === undefined || codes.length > 1) return {}
  const suggested = list.suggestions(code)
  const right = otherCase(code.code, suggested)
  return { hint: didYouMean(suggested), fix: right === undefined || typeof node.value !== 'string' ? undefined : replacement(node, right) }
}

/** Reports a missing code: a concept of text only does not satisfy a required binding, nor does a code with only extensions. */
function reportNoCode(run: Run, node: FhirNode, { binding, rule, list }: BoundRule & { list: CodeList }): void {
  const isMissing =
    node.value === undefined ? binding.strength === 'required' : node.type.name === 'CodeableConcept' && isObject(node.value)
  if (!isMissing || binding.strength === 'preferred' || binding.takesText === true) return
  const other = node.value === undefined ? alternativeCode(node) : undefined
  if (other !== undefined) {
    run.findings.report(CODE_NOT_IN_VALUE_SET, node, {
      text: `Instead of a code there is ${quoted(other)} in an extension for an element of another release, which many systems do not understand.`,
      severity: 'warning',
      ...fromProfile(rule),
    })
    return
  }
  run.findings.report(CODE_NOT_IN_VALUE_SET, node, {
    text: `No code is provided, and a code from the value set ${quoted(list.title)} (${list.canonical}) ${demand(binding)}.`,
    severity: SEVERITIES[binding.strength],
    ...fromProfile(rule),
  })
}

/** The code in an extension that stands for an element of another release. */
function alternativeCode({ extra }: FhirNode): string | undefined {
  const found = objectsAt(extra, 'extension').find(({ url }) => typeof url === 'string' && extensionElement(url) !== undefined)
  return found && stringAt(found, 'valueCode')
}

function demand({ strength }: BindingRule): string {
  if (strength === 'required') return 'is required'
  return strength === 'extensible' ? 'is required unless no code of it is suitable' : 'is recommended'
}

interface ListedCode {
  readonly rule: ElementRule
  readonly list: CodeList
  readonly code: GivenCode
  /** Prefix of the names of the Coding's members, such as `coding[0].`. */
  readonly at: string
}

/** Checks a code that is bound to a value set: its version, its status there, and its status in the code system. */
function checkListedCode(run: Run, node: FhirNode, listed: ListedCode): void {
  checkVersion(run, node, listed)
  noteOutdated(run, node, listed)
  noteOutOfUse(run, node, listed)
  noteMissingVersion(run, node, listed)
  checkActive(run, node, listed)
}

/** Reports a code that the value set has, or may have, but with another version of its code system. */
function checkVersion(run: Run, node: FhirNode, { rule, list, code, at }: ListedCode): void {
  if (!isOtherVersion(list, code)) return
  run.findings.report(CODE_VERSION_MISMATCH, node, {
    text: `The value set ${quoted(list.title)} takes ${shownCode(code)} from version ${statedVersions(list, code).map(quoted).join(', ')} of its code system, not from ${quoted(code.version ?? '')}.`,
    at: `${at}version`,
    ...(!list.versions(code.system ?? '').areStated && { severity: 'warning' }),
    ...fromProfile(rule),
  })
}

/** Reports a code that the value set marks as outdated. */
function noteOutdated(run: Run, node: FhirNode, { rule, list, code, at }: ListedCode): void {
  const status = list.outdated(code)
  if (status === undefined) return
  run.findings.report(CONCEPT_OUTDATED, node, {
    text: `${shownCode(code)} is ${status} in the value set ${quoted(list.title)} (${list.canonical}); its use should be reviewed.`,
    ...(typeof node.value !== 'string' && { at: `${at}code` }),
    ...fromProfile(rule),
  })
}

/** Reports an outdated code without system by the code system of the value set. `checkCoding` and `checkUnit` do so for Codings and units. */
function noteOutOfUse(run: Run, node: FhirNode, { list, code }: ListedCode): void {
  const reason = code.system === undefined ? list.outOfUse(code.code) : undefined
  if (reason !== undefined) reportOutOfUse(run, node, { code: code.code, reason })
}

/** Reports an inactive code that is outside the value set because that allows active codes only. */
function checkActive(run: Run, node: FhirNode, { rule, list, code, at }: ListedCode): void {
  if (list.has(code) !== 'out' || !list.isBarred(code)) return
  run.findings.report(CONCEPT_INACTIVE, node, {
    text: `${shownCode(code)} is valid, but it is not active, and the value set ${quoted(list.title)} (${list.canonical}) allows active codes only.`,
    severity: 'error',
    ...(typeof node.value !== 'string' && { at: `${at}code` }),
    ...fromProfile(rule),
  })
}

/** Reports that a code is not checked, because a version of its code system is not loaded. */
function noteMissingVersion(run: Run, node: FhirNode, { rule, list, code, at }: ListedCode): void {
  const missing = list.missingVersions(code.system)
  if (missing.length === 0 || list.has(code) !== 'unknown') return
  run.findings.report(CODE_SYSTEM_VERSION, node, {
    text: `Version ${missing.map(quoted).join(', ')} of the code system of ${shownCode(code)}, which the value set ${list.canonical} names, could not be found, so the code is not checked.`,
    ...(typeof node.value !== 'string' && { at: `${at}system` }),
    ...fromProfile(rule),
  })
}

/**
 * Whether a code is in a value set, but with other versions of its code system than the stated one. If the value set states versions and these could not be
 * found, it is not known to have the code, and still not in another version.
 */
function isOtherVersion(list: CodeList, code: GivenCode): boolean {
  if (code.version === undefined || code.system === undefined) return false
  const stated = statedVersions(list, code)
  if (stated.length === 0 || stated.includes(code.version)) return false
  const verdict = list.has({ ...code, version: undefined })
  return verdict === 'in' || (verdict === 'unknown' && isOfStatedVersions(list, code))
}

function statedVersions(list: CodeList, { system = '' }: GivenCode): readonly string[] {
  return [...list.versions(system).known, ...list.missingVersions(system)]
}

/** Whether a code can only be in a value set with one of the versions of its code system that the value set states. */
function isOfStatedVersions(list: CodeList, code: GivenCode): boolean {
  return list.versions(code.system ?? '').areStated && list.lacking(code).length === 0
}
