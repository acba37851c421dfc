import { formatCanonical } from '../../../content/index.js'
import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../../json/index.js'
import { corrected } from '../../profile/corrections.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import { rootsOf } from '../../run/profile-roots.js'
import type { Run } from '../../run/run.js'
import { baseElement, type ElementName } from './base-element.js'
import type { ElementCheck, DifferentialCheck } from './element-place.js'

/** A profile that allows what its base forbids: cardinality, types, flags. */
export const DEFINITION_RESTRICTION: FindingDefinition = defineFinding(
  'definition-restriction',
  'error',
  'business-rule',
  'Require at least what the base requires; a profile cannot relax it.',
)
/** A constraint whose expression is not FHIRPath, or whose key or source is wrong. */
export const DEFINITION_EXPRESSION: FindingDefinition = defineFinding(
  'definition-expression',
  'error',
  'invalid',
  'Correct the FHIRPath expression of the constraint.',
)

/** Checks that a profile does not relax the cardinality of an element of its base. The minimum of a slice may be lower. */
export function checkRestrictions({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const base = textOf(definition, 'baseDefinition')
  if (base === undefined) return
  for (const { node, path } of elements) {
    const { value } = node
    if (!isObject(value)) continue
    const name = { id: textOf(node, 'id'), path }
    const problem = leastProblem(value, statedBy(run, base, name, 'min')) ?? mostProblem(value, statedBy(run, base, name, 'max'))
    if (problem !== undefined) run.findings.report(DEFINITION_RESTRICTION, definition, { text: `${quoted(path)} ${problem}` })
  }
}

function statedBy(run: Run, base: string, name: ElementName, member: 'min' | 'max'): unknown {
  const found = baseElement(run, base, name, member)
  return found === undefined || found === PENDING ? undefined : found[member]
}

function leastProblem({ min, sliceName }: JsonObject, least: unknown): string | undefined {
  const isLess = typeof min === 'number' && typeof least === 'number' && min < least && sliceName === undefined
  return isLess ? `has min = ${least} in the base, so min = ${min} is not allowed.` : undefined
}

function mostProblem({ max }: JsonObject, most: unknown): string | undefined {
  if (typeof max !== 'string' || typeof most !== 'string' || most === '*') return undefined
  const isMore = max === '*' || Number(max) > Number(most)
  return isMore ? `has max = ${most} in the base, so max = ${max} is not allowed.` : undefined
}

/** Checks that a differential states only constraints of its own, and that a key always identifies the same constraint. */
export function checkConstraintKeys({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const url = textOf(definition, 'url') ?? ''
  const own = new Set<string | undefined>([undefined, url, formatCanonical(url, textOf(definition, 'version'))])
  const known = inheritedKeys(run, definition)
  for (const constraint of elements.flatMap(({ node }) => childrenOf(run, node, 'constraint'))) {
    const [key, expression, source] = ['key', 'expression', 'source'].map((name) => textOf(constraint, name))
    const say = (text: string): void => run.findings.report(DEFINITION_EXPRESSION, constraint, { text })
    if (!own.has(source)) say(`The source of the constraint is ${quoted(source ?? '')}, so it does not belong in this differential.`)
    if (key === undefined || expression === undefined) continue
    if ((known.get(key) ?? expression) !== expression && known.get(key) !== corrected(expression))
      say(`The key ${quoted(key)} is already used for another constraint.`)
    else known.set(key, expression)
  }
}

/** Constraints of every element, and of every extension, in definitions of all types. They are checked as the shape of JSON, not as invariants. */
const OF_ALL = [
  ['ele-1', 'hasValue() or (children().count() > id.count())'],
  ['ext-1', 'extension.exists() != value.exists()'],
] as const

/** Inherited expressions by key. */
function inheritedKeys(run: Run, definition: FhirNode): Map<string, string> {
  const base = textOf(definition, 'baseDefinition')
  const profile = base === undefined ? undefined : run.definitions.profile(base)
  const roots = profile === undefined || profile === PENDING ? [] : rootsOf(run, profile)
  const keys = new Map<string, string>(OF_ALL)
  for (const { profile: canonical } of roots) {
    const found = run.definitions.profile(canonical)
    if (found === undefined || found === PENDING) continue
    for (const { constraints } of found.elements.values()) for (const { key, expression } of constraints) keys.set(key, expression)
  }
  return keys
}
