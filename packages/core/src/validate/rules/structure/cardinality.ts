import type { FhirNode } from '../../../fhirpath/index.js'
import type { JsonObject } from '../../../json/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { RequiredMember, Run } from '../../run/run.js'

const TOO_FEW: FindingDefinition = defineFinding(
  'too-few',
  'error',
  'structure',
  'Add the element; an element with an extension that gives the reason for its absence counts too.',
)
const TOO_MANY: FindingDefinition = defineFinding('too-many', 'error', 'structure', 'Remove the surplus elements.')

/** The kinds of findings about how often elements occur. */
export const CARDINALITY_FINDINGS: readonly FindingDefinition[] = [TOO_FEW, TOO_MANY]

/** How often an element or slice occurs. */
interface Count {
  readonly rule: ElementRule
  readonly count: number
}

/** The problem with a number of occurrences. The walk reports it, and `passesStructure` uses it too. */
export function countProblem({ min, max }: Pick<ElementRule, 'min' | 'max'>, count: number): FindingDefinition | undefined {
  if (count < min) return TOO_FEW
  return count > max ? TOO_MANY : undefined
}

/** Reports at the parent when an element or slice occurs less or more often than the rule allows. */
export function checkCount(run: Run, parent: FhirNode, { rule, count }: Count): void {
  const problem = countProblem(rule, count)
  if (problem === undefined) return
  const limit = problem === TOO_FEW ? `minimum required = ${rule.min}` : `max allowed = ${rule.max}`
  run.findings.report(problem, parent, {
    text: `${named(rule)}: ${limit}, but ${problem === TOO_FEW ? 'only ' : ''}found ${count}.`,
    ...from(rule),
  })
}

function named(rule: ElementRule): string {
  return rule.sliceName === undefined ? `'${rule.name}'` : `Slice '${rule.sliceName}' of '${rule.name}'`
}

function from(rule: ElementRule): { profile?: string } {
  return rule.isBase ? {} : { profile: rule.profile }
}

/** Reports required elements and slices that are absent. */
export function checkMissing(
  run: Run,
  { node, holder }: { node: FhirNode; holder: JsonObject },
  required: readonly RequiredMember[],
): void {
  for (const { rule, names } of required) {
    if (!hasOneOf(holder, names)) checkCount(run, node, { rule, count: 0 })
  }
}

function hasOneOf(holder: JsonObject, names: readonly string[]): boolean {
  for (const name of names) if (isThere(holder, name)) return true
  return false
}

/** An empty array counts as absent: it is reported itself, and so is the missing element. */
function isThere(holder: JsonObject, name: string): boolean {
  const value = holder[name]
  if (value === undefined || typeof value === 'function') return Object.hasOwn(holder, name)
  return !Array.isArray(value) || value.length > 0
}
