import { OperationError } from '../../../errors/index.js'
import { PENDING, type FhirNode, type TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import type { ConstraintRule, ElementRule, JsonTest } from '../../run/element-rule.js'
import type { DemandRule, MetTest, NodeCheck, Run } from '../../run/run.js'
import { dependenceOf, isAsked, testsAsked, type Dependence } from './dependence.js'
import { expressionContext } from './expression-context.js'
import { INVARIANT } from './invariant.js'
import { NATIVE_CONSTRAINTS, SURELY_MET, type NativeConstraint } from './native.js'

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

/** Creates the check of the rules' invariants on nodes of a type. Each expression is checked once, however many profiles repeat it. */
function checkFor(rules: readonly ElementRule[], type: TypeDefinition): NodeCheck {
  const seen = new Set<string>()
  const once = rules.flatMap((rule) => {
    const own = rule.constraints.filter(({ expression }) => !seen.has(expression))
    for (const { expression } of own) seen.add(expression)
    return own.map((constraint) => ({ constraint, rule }))
  })
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
      else if ((isApart ??= isLong(node.value))) run.scheduler.later(() => evaluate(run, node, one))
      else evaluate(run, node, one)
    }
  }
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
}

function reportUnmet(run: Run, node: FhirNode, { constraint, rule }: Invariant, problem = ''): void {
  run.findings.report(INVARIANT, node, {
    text: `${constraint.key}: ${constraint.human}${problem}`,
    severity: constraint.isBestPractice && run.policy.bestPractice !== 'off' ? run.policy.bestPractice : constraint.severity,
    ...(!rule.isBase && { profile: rule.profile }),
  })
}

/** Evaluates the expression of a constraint. An expression that cannot be evaluated is not met; a pending one is evaluated again in the next walk. */
function evaluate(run: Run, node: FhirNode, invariant: Invariant): void {
  const { expression } = invariant.constraint
  try {
    const result = run.definitions.expression(expression).test(expressionContext(run, homeOf(node, invariant.rule)), node)
    if (result !== true && result !== PENDING) reportUnmet(run, node, invariant)
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    reportUnmet(run, node, invariant, ` (The expression cannot be evaluated: ${error.message})`)
  }
}

/** The node that decides what `%resource` is: for the statements of a Bundle's profile about the resource of an entry, it is the Bundle. */
function homeOf(node: FhirNode, { path }: ElementRule): FhirNode {
  return node.type.kind === 'resource' && node.parent !== undefined && path.includes('.') ? node.parent : node
}
