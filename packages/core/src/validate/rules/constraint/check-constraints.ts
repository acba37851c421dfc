import { OperationError } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { ConstraintRule, ElementRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'
import { NATIVE_CONSTRAINTS } from './native.js'
import { expressionContext } from './expression-context.js'

/** Checks the invariants of the rules on a node, each once however many profiles repeat it. */
export function checkConstraints(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  for (const [index, rule] of rules.entries()) {
    for (const constraint of rule.constraints) {
      if (constraint.isBestPractice && run.bestPractice === 'off') continue
      if (!isRepeated(rules, index, constraint)) checkConstraint(run, node, { constraint, rule })
    }
  }
}

/** Whether a rule before has the same invariant. */
function isRepeated(rules: readonly ElementRule[], index: number, { expression }: ConstraintRule): boolean {
  for (let before = 0; before < index; before++) {
    if (rules[before]?.constraints.some((constraint) => constraint.expression === expression) === true) return true
  }
  return false
}

interface Invariant {
  readonly constraint: ConstraintRule
  readonly rule: ElementRule
}

function checkConstraint(run: Run, node: FhirNode, { constraint, rule }: Invariant): void {
  const problem = problemOf(run, node, { constraint, rule })
  if (problem === undefined) return
  run.sink.report('invariant', node, {
    text: `${constraint.key}: ${constraint.human}${problem}`,
    severity: constraint.isBestPractice && run.bestPractice !== 'off' ? run.bestPractice : constraint.severity,
    ...(!rule.isBase && { profile: rule.profile }),
  })
}

/** What to add to the constraint's own words; `undefined` when it holds, or cannot be told yet. An expression that cannot be evaluated does not hold. */
function problemOf(run: Run, node: FhirNode, { constraint: { expression }, rule }: Invariant): string | undefined {
  const native = NATIVE_CONSTRAINTS.get(expression)
  if (native !== undefined) return native(run, node) ? undefined : ''
  try {
    const result = run.facts.expression(expression).test(expressionContext(run, homeOf(node, rule)), node)
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
