import { OperationError } from '../../../errors/index.js'
import { isSyntaxProblem, PENDING, type FhirNode, type TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, type JsonObject, objectsAt, stringAt } from '../../../json/index.js'
import type { ConstraintRule, ElementRule, JsonTest } from '../../run/element-rule.js'
import type { DemandRule, MetTest, NodeCheck, Run } from '../../run/run.js'
import { isDateTime } from '../primitive/date-time.js'
import { containedOf, referenceOf } from '../reference/resolve-locally.js'
import { expressionContext } from './expression-context.js'
import { INVARIANT } from '../../run/finding.js'

/** Constraints. */
export const constraintRule: DemandRule = {
  name: 'constraint',
  finds: [INVARIANT],
  appliesTo: ({ constraints }) => constraints.length > 0,
  metTest: ({ constraints }, type) => allMet(constraints, type),
  checkBy: checkFor,
}

/** Up to this number, it is faster to test all constraints than to find out which of them have to be tested. */
const FEW = 2

/** Creates the test whether each constraint is certainly met, or is a best practice that is not checked. */
function allMet(constraints: readonly ConstraintRule[], type: TypeDefinition): MetTest {
  const all = constraints.map((constraint, index) => ({ constraint, index, test: testOf(constraint, type) }))
  let dependence: Dependence | undefined
  return (value, run) => {
    const asked = all.length > FEW && isObject(value) ? testsAsked(value, (dependence ??= dependenceIn(all, run))) : undefined
    for (const { constraint, index, test } of all)
      if (isAsked(asked, index) && !isLeftOut(run, constraint) && test(value, run) !== true) return false
    return true
  }
}

/** Whether a JSON value meets a constraint; `undefined` when only evaluating the expression can decide. */
type ConstraintTest = (value: unknown, run: Run) => boolean | undefined

function testOf({ expression, onJson }: ConstraintRule, type: TypeDefinition): ConstraintTest {
  const native = SURELY_MET.get(expression)
  if (native !== undefined) return (value) => native(value) || undefined
  let test: ReturnType<JsonTest> | undefined
  return (value, { definitions }) => (isObject(value) ? (test ??= onJson(type, definitions.expression))(value) : undefined)
}

function dependenceIn(all: readonly { readonly test: ConstraintTest }[], run: Run): Dependence {
  const tests = all.map(
    ({ test }) =>
      (value: JsonObject) =>
        test(value, run),
  )
  return dependenceOf(tests)
}

/** True for a best practice that is not checked. */
function isLeftOut(run: Run, { isBestPractice }: ConstraintRule): boolean {
  return isBestPractice && run.policy.bestPractice === 'off'
}

/**
 * Creates the check of the rules' invariants on nodes of a type. A constraint is checked once, however many profiles repeat it; it is as severe as the
 * strictest of them, because a profile cannot relax what it builds on, and at least as severe as the policy wants if one of them is a best practice.
 */
function checkFor(rules: readonly ElementRule[], type: TypeDefinition): NodeCheck {
  const strictest = new Map<string, Invariant>()
  for (const rule of rules) {
    for (const constraint of rule.constraints) {
      const key = `${constraint.key} ${constraint.expression}`
      const known = strictest.get(key)
      const isPractice = constraint.isBestPractice || known?.isPractice === true
      const isStrictest = known === undefined || strictness(known.constraint) < strictness(constraint)
      strictest.set(key, { ...(isStrictest ? { constraint, rule } : known), isPractice })
    }
  }
  const once = [...strictest.values()]
  const all = once.map((one, index): PlannedConstraint => ({
    ...one,
    index,
    test: testOf(one.constraint, type),
    native: NATIVE_CONSTRAINTS.get(one.constraint.expression),
  }))
  let dependence: Dependence | undefined
  return (run, node) => {
    const json = jsonOf(node)
    const asked = json === undefined ? undefined : testsAsked(json, (dependence ??= dependenceIn(all, run)))
    let isApart: boolean | undefined
    for (const one of all) {
      if (!isAsked(asked, one.index) || isLeftOut(run, one.constraint)) continue
      const onJson = json === undefined ? undefined : one.test(json, run)
      if (onJson === true) continue
      const isMet = one.native?.(run, node) ?? onJson
      if (isMet === true) continue
      if (isMet === false) reportUnmet(run, node, one)
      else if ((isApart ??= isLong(node.value)) || run.scheduler.isDue()) run.scheduler.later(() => evaluate(run, node, one))
      else evaluate(run, node, one)
    }
  }
}

function strictness({ severity, isBestPractice }: ConstraintRule): number {
  if (isBestPractice) return 0
  return severity === 'error' ? 2 : 1
}

function jsonOf({ value, type }: FhirNode): JsonObject | undefined {
  return isObject(value) && type.kind !== 'primitive' ? value : undefined
}

interface PlannedConstraint extends Invariant {
  readonly index: number
  /** Avoids evaluating the expression for nodes that are JSON objects. */
  readonly test: ConstraintTest
  /** Decides instead of the expression. */
  readonly native: NativeConstraint | undefined
}

/** Maximum number of values in a node whose invariants are evaluated in one go, so that other requests need not wait too long. */
const MAX_AT_ONCE = 1_000

/** Whether a node has so many values that each of its invariants is scheduled as separate work. */
function isLong(value: unknown): boolean {
  return valuesIn(value, MAX_AT_ONCE) >= MAX_AT_ONCE
}

/** Number of values in a value, up to a limit. */
function valuesIn(value: unknown, limit: number): number {
  let count = 1
  if (Array.isArray(value))
    for (let index = 0; index < value.length && count < limit; index++) count += valuesIn(value[index], limit - count)
  else if (isObject(value)) {
    for (const name in value) if (count < limit && Object.hasOwn(value, name)) count += valuesIn(value[name], limit - count)
  }
  return count
}

interface Invariant {
  readonly constraint: ConstraintRule
  readonly rule: ElementRule
  /** Whether this or another rule has the constraint as a best practice. */
  readonly isPractice: boolean
}

function reportUnmet(run: Run, node: FhirNode, { constraint, rule, isPractice }: Invariant, problem?: OperationError): void {
  const { bestPractice } = run.policy
  const isByPolicy = constraint.isBestPractice || (isPractice && bestPractice === 'error')
  const severity = isByPolicy && bestPractice !== 'off' ? bestPractice : constraint.severity
  run.findings.report(INVARIANT, node, {
    text: `${constraint.key}: ${constraint.human}${problem === undefined ? '' : ` (The expression cannot be evaluated: ${problem.message})`}`,
    severity: problem !== undefined && isSyntaxProblem(problem) ? 'error' : severity,
    ...(!rule.isBase && { profile: rule.profile }),
  })
}

/**
 * Evaluates the expression of a constraint. An expression that cannot be evaluated is not met, and one that is not FHIRPath is an error whatever the severity
 * of the constraint; a pending one is evaluated again in the next walk.
 */
function evaluate(run: Run, node: FhirNode, invariant: Invariant): void {
  const { expression } = invariant.constraint
  try {
    const result = run.definitions.expression(expression).test(expressionContext(run, homeOf(node, invariant.rule)), node)
    if (result !== true && result !== PENDING) reportUnmet(run, node, invariant)
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    reportUnmet(run, node, invariant, error)
  }
}

/** The node that decides what `%resource` is: for the statements of a Bundle's profile about the resource of an entry, it is the Bundle. */
function homeOf(node: FhirNode, { path }: ElementRule): FhirNode {
  return node.type.kind === 'resource' && node.parent !== undefined && path.includes('.') ? node.parent : node
}

/** As R4, R5 and STU3 publish it. */
const REF_1 = [
  "reference.startsWith('#').not() or (reference.substring(1).trace('url') in %rootResource.contained.id.trace('ids'))",
  "reference.startsWith('#').not() or (reference.substring(1).trace('url') in %rootResource.contained.id.trace('ids')) or (reference='#' and %rootResource!=%resource)",
  "reference.startsWith('#').not() or (reference.substring(1).trace('url') in %resource.contained.id.trace('ids'))",
]

const HTML_CHECKS = 'htmlChecks()'
const ELE_1 = 'hasValue() or (children().count() > id.count())'

const DOM_3 =
  "contained.where((('#'+id in (%resource.descendants().reference | %resource.descendants().as(canonical) | %resource.descendants().as(uri) | %resource.descendants().as(url))) or descendants().where(reference = '#').exists() or descendants().where(as(canonical) = '#').exists() or descendants().where(as(canonical) = '#').exists()).not()).trace('unmatched', id).empty()"

const SDF_8 =
  "(%resource.kind = 'logical' or element.first().path = %resource.type) and element.tail().all(path.startsWith(%resource.snapshot.element.first().path&'.'))"
const SDF_8A =
  "(%resource.kind = 'logical' or element.first().path.startsWith(%resource.type)) and (element.tail().empty() or element.tail().all(path.startsWith(%resource.differential.element.first().path.replaceMatches('\\\\..*','')&'.')))"

/** Whether a node meets a constraint; `undefined` when its expression must be evaluated. */
type NativeConstraint = (run: Run, node: FhirNode) => boolean | undefined

/**
 * Constraints in code, by their published expression: those that apply many times in every resource, and those whose expression is wrong or takes too long
 * for the largest resources.
 */
const NATIVE_CONSTRAINTS: ReadonlyMap<string, NativeConstraint> = new Map<string, NativeConstraint>([
  ...REF_1.map((expression): [string, NativeConstraint] => [expression, leadsToContained]),
  [ELE_1, hasContent],
  // `checkResource` checks dom-3 and says what is not referred to; `checkNarrative` checks txt-1 and txt-2 and says what is wrong.
  [DOM_3, () => true],
  [HTML_CHECKS, () => true],
  ['text.`div`.exists()', hasNarrative],
  // `checkCodeSystem` checks csd-1 and `checkQuestionnaire` que-2; both let other requests run.
  ['concept.code.combine($this.descendants().concept.code).isDistinct()', isCheckedOn('CodeSystem')],
  ['descendants().linkId.isDistinct()', isCheckedOn('Questionnaire')],
  [SDF_8, (_run, { parent, value }) => pathsFit(parent?.value, value, (first, type) => first === type)],
  [SDF_8A, (_run, { parent, value }) => pathsFit(parent?.value, value, (first, type) => first.startsWith(type))],
])

const SMALL = /^\d{1,9}$/

/**
 * Whether a JSON value certainly meets a constraint: those above that concern only the value itself or are checked elsewhere, and some on primitive
 * values.
 */
const SURELY_MET: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ...REF_1.map((expression): [string, (value: unknown) => boolean] => [expression, leadsElsewhere]),
  [ELE_1, (value: unknown) => hasMember(value)],
  [DOM_3, () => true],
  [HTML_CHECKS, () => true],
  // vs-1, and us-core-1 of US Core: the day is known.
  [
    '($this is dateTime) implies (($this as dateTime).toString().length() >= 8)',
    (value: unknown) => typeof value === 'string' && value.length >= 8 && isDateTime(value),
  ],
  ["empty() or ($this = '*') or (toInteger() >= 0)", (value: unknown) => value === '*' || (typeof value === 'string' && SMALL.test(value))],
])

function leadsElsewhere(value: unknown): boolean {
  return isObject(value) && (typeof value['reference'] !== 'string' || !value['reference'].startsWith('#'))
}

/** A constraint that the check of one type reports; on other types the expression decides. */
function isCheckedOn(checked: string): NativeConstraint {
  return (_run, { type }) => (type.name === checked ? true : undefined)
}

/** dom-6. The narrative of a resource also covers the resources that it contains. */
function hasNarrative(_run: Run, { slot, value }: FhirNode): boolean {
  if (slot?.name === 'contained' || !isObject(value)) return true
  const { text } = value
  return isObject(text) && (Object.hasOwn(text, 'div') || Object.hasOwn(text, '_div'))
}

/** ele-1. Unknown members count as content; they are reported separately. */
function hasContent(_run: Run, { value, extra }: FhirNode): boolean {
  return (value !== undefined && value !== null && !isObject(value)) || hasMember(value) || hasMember(extra)
}

function hasMember(json: unknown): boolean {
  return isObject(json) && Object.keys(json).some((name) => name !== 'id')
}

/** ref-1. A Reference without `reference` is not a local one, and `#` alone is the container of a contained resource. */
function leadsToContained(run: Run, node: FhirNode): boolean {
  const reference = referenceOf(node)
  return reference === undefined || !reference.startsWith('#') || containedOf(run, node, reference.slice(1)) !== undefined
}

/** sdf-8 and sdf-8a. The first element is that of the type, except in a logical model, and the others are below it. */
function pathsFit(definition: unknown, elements: unknown, isFirst: (path: string, type: string) => boolean): boolean {
  if (!isObject(definition) || !isObject(elements)) return true
  const [first = '', ...rest] = objectsAt(elements, 'element').map((element) => stringAt(element, 'path') ?? '')
  const start = `${first.split('.', 1)[0]}.`
  const type = stringAt(definition, 'type')
  const isOfType = definition['kind'] === 'logical' || (type !== undefined && isFirst(first, type))
  return isOfType && rest.every((path) => path.startsWith(start))
}

/** The members of a value that tests depend on. Each test has a bit. */
interface Dependence {
  /** The tests that a value without any member may fail. */
  readonly always: number
  readonly byMember: ReadonlyMap<string, number>
}

/** Maximum number of tests that have a bit. */
const MOST = 31

/**
 * Finds the members that each test depends on by running it on an empty value and recording which members it reads. As long as none of them is present,
 * the test reads no others and has the same result. Most invariants are met when the elements that they are about are absent (bench `validate`).
 */
export function dependenceOf(tests: readonly ((value: JsonObject) => boolean | undefined)[]): Dependence {
  let always = 0
  const byMember = new Map<string, number>()
  for (const [index, test] of tests.slice(0, MOST).entries()) {
    const members = membersMissed(test)
    if (members === undefined) always |= 1 << index
    for (const name of members ?? []) byMember.set(name, (byMember.get(name) ?? 0) | (1 << index))
  }
  return { always, byMember }
}

/** The members that a test reads in an empty value; `undefined` when the value does not pass, or the test reads the value as a whole. */
function membersMissed(test: (value: JsonObject) => boolean | undefined): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  let isWhole = false
  const noted = (_: object, name: string | symbol): undefined => {
    names.add(String(name))
    return undefined
  }
  const nothing: JsonObject = new Proxy<JsonObject>(
    {},
    {
      get: noted,
      getOwnPropertyDescriptor: noted,
      has: (of, name) => noted(of, name) !== undefined,
      ownKeys: () => {
        isWhole = true
        return []
      },
    },
  )
  return test(nothing) === true && !isWhole ? names : undefined
}

/** The tests to run on a value, as bits. It passes the others, because it has none of the members that these depend on. */
export function testsAsked(value: JsonObject, { always, byMember }: Dependence): number {
  let asked = always
  for (const name in value) if (byMember.has(name)) asked |= byMember.get(name) ?? 0
  return asked
}

/** Whether a test has to be run. @param asked `undefined` for all of them */
export function isAsked(asked: number | undefined, index: number): boolean {
  return asked === undefined || index >= MOST || (asked & (1 << index)) !== 0
}
