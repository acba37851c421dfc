import { OperationError } from '../../../errors/index.js'
import { PENDING, type FhirNode, type TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import type { ConstraintRule, ElementRule } from '../../run/element-rule.js'
import type { DemandRule, MetTest, NodeCheck, Run } from '../../run/run.js'
import { expressionContext } from './expression-context.js'
import { INVARIANT } from './invariant.js'
import { NATIVE_CONSTRAINTS, SURELY_MET } from './native.js'

/** Constraints. */
export const constraintRule: DemandRule = {
  name: 'constraint',
  finds: [INVARIANT],
  appliesTo: ({ constraints }) => constraints.length > 0,
  metTest: ({ constraints }, type) => allOf(constraints.map((constraint) => surelyMet(constraint, type))),
  checkBy: checkFor,
}

function allOf(tests: readonly MetTest[]): MetTest {
  return (value, run) => {
    for (const test of tests) if (!test(value, run)) return false
    return true
  }
}

/** The test whether a constraint is surely met, or advice that nobody asked for. */
function surelyMet(constraint: ConstraintRule, type: TypeDefinition): MetTest {
  const native = SURELY_MET.get(constraint.expression)
  let onJson: ((value: JsonObject) => boolean) | undefined
  const isMet: MetTest =
    native ?? ((value, { definitions }) => isObject(value) && (onJson ??= constraint.isSurelyMet(type, definitions.expression))(value))
  return constraint.isBestPractice ? (value, run) => isLeftOut(run, constraint) || isMet(value, run) : isMet
}

/** Advice that nobody asked for. */
function isLeftOut(run: Run, { isBestPractice }: ConstraintRule): boolean {
  return isBestPractice && run.policy.bestPractice === 'off'
}

/** Makes the check of the invariants of rules on nodes of a type, each once however many profiles repeat it. */
function checkFor(rules: readonly ElementRule[], type: TypeDefinition): NodeCheck {
  const seen = new Set<string>()
  const all = rules.flatMap((rule): readonly PlannedConstraint[] => {
    const own = rule.constraints.filter(({ expression }) => !seen.has(expression))
    for (const { expression } of own) seen.add(expression)
    return own.map((constraint) => ({ constraint, rule, isMet: surelyMet(constraint, type) }))
  })
  return (run, node) => {
    const json = isObject(node.value) && type.kind !== 'primitive' ? node.value : undefined
    let isApart: boolean | undefined
    for (const one of all) {
      if (json === undefined ? isLeftOut(run, one.constraint) : one.isMet(json, run)) continue
      isApart ??= isLong(node.value)
      if (isApart) run.scheduler.later(() => checkConstraint(run, node, one))
      else checkConstraint(run, node, one)
    }
  }
}

interface PlannedConstraint extends Invariant {
  /** Spares the evaluation for nodes that are JSON objects. */
  readonly isMet: MetTest
}

/** Values in a node that an expression goes through in less time than others can wait. */
const MAX_AT_ONCE = 1_000

/** Whether there is so much in a node that each of its invariants is work of its own. */
function isLong(value: unknown): boolean {
  return valuesIn(value, MAX_AT_ONCE) >= MAX_AT_ONCE
}

/** Number of values in a value, as far as a limit. */
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

function checkConstraint(run: Run, node: FhirNode, { constraint, rule }: Invariant): void {
  const problem = problemOf(run, node, { constraint, rule })
  if (problem === undefined) return
  run.findings.report(INVARIANT, node, {
    text: `${constraint.key}: ${constraint.human}${problem}`,
    severity: constraint.isBestPractice && run.policy.bestPractice !== 'off' ? run.policy.bestPractice : constraint.severity,
    ...(!rule.isBase && { profile: rule.profile }),
  })
}

/** What to add to the constraint's own words; `undefined` when it is met, or cannot be decided yet. An expression that cannot be evaluated is not met. */
function problemOf(run: Run, node: FhirNode, { constraint: { expression }, rule }: Invariant): string | undefined {
  const native = NATIVE_CONSTRAINTS.get(expression)?.(run, node)
  if (native !== undefined) return native ? undefined : ''
  try {
    const result = run.definitions.expression(expression).test(expressionContext(run, homeOf(node, rule)), node)
    return result === true || result === PENDING ? undefined : ''
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    return ` (The expression cannot be evaluated: ${error.message})`
  }
}

/** What a Bundle's profile says about the resource of an entry, it says in the Bundle: there `%resource` is the Bundle. */
function homeOf(node: FhirNode, { path }: ElementRule): FhirNode {
  return node.type.kind === 'resource' && node.parent !== undefined && path.includes('.') ? node.parent : node
}
