import type { HostFinding, HostRule, RuleSettings, RuleSeverity } from '../../context/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { isSubtype, pathOf, type FhirNode, type TypeModel } from '../../fhirpath/index.js'
import { isObject, isString } from '../../json/index.js'
import { didYouMean, nearest } from '../../text/index.js'
import type { FindingDefinition } from '../run/finding.js'
import { resourceOf, type NodeRule, type RuleBook, type Run } from '../run/run.js'
import { DEMAND_RULES, NODE_RULES, RESOURCE_RULES, RULE_FINDINGS } from './table.js'

/** The settings of a host that sets nothing. */
export const NO_SETTINGS: RuleSettings = {}

/**
 * Creates the rules of validations: those of the tables that are not switched off, and those of the host.
 *
 * @throws {OperationError} `parameter-value` for a setting of an unknown kind of finding, or a rule that is not complete.
 */
export function createRuleBook(model: TypeModel, settings: RuleSettings): RuleBook {
  const severities = new Map<string, RuleSeverity>()
  const hosted: NodeRule[] = []
  for (const [kind, setting] of Object.entries(settings)) {
    if (isString(setting)) severities.set(kind, checkedSeverity(kind, setting))
    else hosted.push(hostedRule(kind, checkedRule(model, kind, setting)))
  }
  const isOn = ({ finds }: Pick<NodeRule, 'finds'>): boolean => finds.some(({ kind }) => severities.get(kind) !== 'off')
  const demands = DEMAND_RULES.filter(isOn)
  const byName = new Map(demands.map((rule) => [rule.name, rule]))
  const onElements = hosted.flatMap((rule) =>
    rule.on.flatMap((name) => (model.type(name) === undefined ? [{ ...stepsOf(name), rule }] : [])),
  )
  return {
    onType: byType(model, [...NODE_RULES.filter(isOn), ...hosted]),
    onResource: byType(model, RESOURCE_RULES.filter(isOn)),
    onElement: (name, element) => {
      const type = model.type(name)
      const own = onElements.filter((one) => one.element === element && type !== undefined && isSubtype(model, type, one.type))
      return own.map(({ rule }) => rule)
    },
    hasElementRules: onElements.length > 0,
    demands,
    demand: (name) => byName.get(name),
    severityOf: (kind) => severities.get(kind),
  }
}

/** Returns a function that finds the rules for a type and the types that it derives from, once per type. */
function byType<Rule extends { readonly on: readonly string[] }>(
  model: TypeModel,
  rules: readonly Rule[],
): (type: string) => readonly Rule[] {
  const known = new Map<string, readonly Rule[]>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const type = model.type(name)
    const own = type === undefined ? [] : rules.filter(({ on }) => on.some((base) => isSubtype(model, type, base)))
    known.set(name, own)
    return own
  }
}

function hostedRule(kind: string, { on, severity, code = 'business-rule', advice, when, check }: HostRule): NodeRule {
  const definition: FindingDefinition = { kind, severity, code, advice }
  return {
    on: isString(on) ? [on] : on,
    finds: [definition],
    ...(when !== undefined && { when: () => when }),
    check: (run, node) => {
      if (when?.(node.value) === false) return
      const { value } = resourceOf(node)
      const found = check(node.value, { path: pathOf(node), resource: isObject(value) ? value : {} })
      if (found !== undefined) report(run, node, { definition, found })
    },
  }
}

interface HostReport {
  readonly definition: FindingDefinition
  readonly found: HostFinding | readonly HostFinding[]
}

function report(run: Run, node: FhirNode, { definition, found }: HostReport): void {
  const list: readonly HostFinding[] = Array.isArray(found) ? found : [found]
  for (const one of list) {
    const { text, at, hint }: Exclude<HostFinding, string> = isString(one) ? { text: one } : one
    run.findings.report(definition, node, { text, ...(at !== undefined && { at }), ...(hint !== undefined && { hint }) })
  }
}

const SEVERITIES = ['information', 'warning', 'error'] as const

function checkedSeverity(kind: string, severity: RuleSeverity): RuleSeverity {
  if (!RULE_FINDINGS.has(kind)) {
    const hint = didYouMean(nearest(kind, RULE_FINDINGS.keys()))
    throw wrong(kind, 'there is no such kind of finding', hint)
  }
  if (severity !== 'off' && !SEVERITIES.includes(severity))
    throw wrong(kind, `the severity ${quoted(severity)} must be off, ${SEVERITIES.join(', ')}`)
  return severity
}

function checkedRule(model: TypeModel, kind: string, rule: HostRule): HostRule {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(kind)) throw wrong(kind, 'a name of lower-case letters, digits and hyphens is needed')
  if (RULE_FINDINGS.has(kind)) throw wrong(kind, 'this kind of finding exists, so a rule needs another name')
  const unknown = isObject(rule) ? Object.keys(rule).find((member) => !MEMBERS.includes(member)) : undefined
  if (unknown !== undefined) throw wrong(kind, `a rule has no member ${quoted(unknown)}; its members are ${MEMBERS.join(', ')}`)
  if (!isObject(rule) || typeof rule.check !== 'function') throw wrong(kind, 'check must be a function')
  if (rule.when !== undefined && typeof rule.when !== 'function') throw wrong(kind, 'when must be a function')
  if (!isString(rule.advice) || rule.advice.trim() === '') throw wrong(kind, 'advice must be a sentence')
  if (!SEVERITIES.includes(rule.severity)) throw wrong(kind, `the severity must be one of ${SEVERITIES.join(', ')}`)
  const stray = (isString(rule.on) ? [rule.on] : rule.on).find((name) => !isTarget(model, name))
  if (stray !== undefined) throw wrong(kind, `on names ${quoted(String(stray))}, which is neither a type nor an element of one`)
  return rule
}

const MEMBERS: readonly string[] = ['on', 'severity', 'code', 'advice', 'when', 'check']

function isTarget(model: TypeModel, name: unknown): boolean {
  if (!isString(name)) return false
  const { type, element } = stepsOf(name)
  return model.type(name) !== undefined || model.type(type)?.elements.has(element) === true
}

/** The type and the element of a path such as `Patient.contact.name`, whose type is `Patient.contact`. */
function stepsOf(path: string): { readonly type: string; readonly element: string } {
  const end = path.lastIndexOf('.')
  return { type: path.slice(0, Math.max(0, end)), element: path.slice(end + 1) }
}

function wrong(kind: string, why: string, hint?: string): OperationError {
  const message = `rules: ${quoted(kind)}: ${why}.${hint === undefined ? '' : ` ${hint}`}`
  return new OperationError('parameter-value', message, { expression: ['rules'] })
}
