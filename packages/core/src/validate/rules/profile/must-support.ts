import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { resourceOf, type Run } from '../../run/run.js'

/** An element with content that no profile marks as `mustSupport`, beside others that one marks. */
export const NOT_MUST_SUPPORT: FindingDefinition = defineFinding(
  'must-support-unmarked',
  'information',
  'informational',
  'Do not rely on receivers to handle the element, or mark it as mustSupport in the profile.',
)
/** Which of the elements that a profile marks as `mustSupport` have content. */
export const MUST_SUPPORT_LIST: FindingDefinition = defineFinding(
  'must-support-list',
  'information',
  'informational',
  'No action needed; it is a list of what the resource shows of the profile.',
)

/** Members of a resource of which HL7's validator does not expect a mark either. */
const UNMARKED: ReadonlySet<string> = new Set(['id', 'text'])

/**
 * Reports a node that no profile marks, if a profile says of each member of its parent whether it is marked. Nothing is reported inside such a node, nor
 * about values that a profile fixes, because these show nothing.
 *
 * @param rules All rules for the node.
 */
export function checkSupport(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const { judged, resources } = run.indexes.support
  const marking = rules.filter(({ isSupported }) => isSupported !== undefined)
  const isMarked = marking.some(({ isSupported }) => isSupported === true)
  const profiles = node.parent && judged.get(node.parent)
  const isResource = node.type.kind === 'resource'
  if (run.policy.mustSupport === 'all') {
    if (isMarked) remember(run, node, marking)
    if (isResource) resources.set(node, marking)
  }
  if (profiles !== undefined && !isMarked && !isFixed(rules) && !isUnmarkedByNature(node)) reportUnmarked(run, node, profiles)
  const isOpen = profiles !== undefined && isMarked && !isFixed(rules) && rules.some(describesMembers)
  if (marking.length > 0 && (isResource || isOpen)) judged.set(node, [...new Set(marking.map(({ profile }) => profile))])
}

function reportUnmarked(run: Run, node: FhirNode, profiles: readonly string[]): void {
  const verb = profiles.length === 1 ? 'marks' : 'mark'
  run.findings.report(NOT_MUST_SUPPORT, node, {
    text: `No profile marks this element as mustSupport; ${profiles.map(quoted).join(' and ')} ${verb} others.`,
    ...(profiles[0] !== undefined && { profile: profiles[0] }),
  })
}

function isFixed(rules: readonly ElementRule[]): boolean {
  return rules.some(({ value }) => value.fixed !== undefined || value.pattern !== undefined)
}

function isUnmarkedByNature({ slot, parent }: FhirNode): boolean {
  return slot !== undefined && parent?.type.kind === 'resource' && UNMARKED.has(slot.name)
}

/** True for a rule at a place in a profile, not of a type's own profile, that lists members. */
function describesMembers({ isBase, children, isSupported, path }: ElementRule): boolean {
  return !isBase && children.size > 0 && (isSupported !== undefined || path.includes('.'))
}

function remember({ indexes }: Run, node: FhirNode, marking: readonly ElementRule[]): void {
  const resource = resourceOf(node)
  const known = indexes.support.shown.get(resource) ?? new Set()
  for (const rule of marking) if (rule.isSupported === true) known.add(rule)
  indexes.support.shown.set(resource, known)
}

/** Reports, after the walk, for each profile of a resource that marks elements, which of them have content. */
export function reportSupport(run: Run): void {
  const { resources, shown } = run.indexes.support
  for (const [resource, roots] of resources)
    for (const root of roots) {
      const marked = [...rulesBelow(root)].filter((rule) => rule !== root && rule.isSupported === true)
      const own = shown.get(resource) ?? new Set()
      const isShown = (rule: ElementRule): boolean => own.has(rule) || rule.slices.some(isShown)
      const [present, absent] = [marked.filter(isShown), marked.filter((rule) => !isShown(rule))]
      if (marked.length === 0) continue
      run.findings.report(MUST_SUPPORT_LIST, resource, {
        text: `The profile ${quoted(root.profile)} marks ${marked.length} elements as mustSupport. With content here: ${list(present)}. Without: ${list(absent)}.`,
        profile: root.profile,
      })
    }
}

function list(rules: readonly ElementRule[]): string {
  return rules.length === 0 ? 'none' : [...new Set(rules.map(({ id }) => id))].join(', ')
}

/** A rule and all rules below it, slices included, in the order of the profile; each once, although content references lead back to rules around them. */
function rulesBelow(root: ElementRule, found: Set<ElementRule> = new Set()): ReadonlySet<ElementRule> {
  if (found.has(root)) return found
  found.add(root)
  for (const inner of [...root.children.values(), ...root.slices]) rulesBelow(inner, found)
  return found
}
