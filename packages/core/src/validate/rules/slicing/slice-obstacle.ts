import { quoted } from '../../../errors/index.js'
import { PENDING, type Pending } from '../../../fhirpath/index.js'
import type { BindingRule, Discriminator, DiscriminatorStep, ElementRule } from '../../run/element-rule.js'
import type { Run, SliceQuestion } from '../../run/run.js'
import { generalRule, rulesAfter, type TypeElement } from './slice-match.js'

/** Why it cannot be decided which nodes are in a slice, as the end of a sentence; `undefined` when its definition is sound. */
export function sliceObstacle(
  run: Run,
  element: TypeElement,
  { slice, same, discriminators }: SliceQuestion,
): string | undefined | Pending {
  const type = run.model.type(element.type)?.elements.get(element.name)?.[0]?.type ?? ''
  const missing: string[] = []
  for (const discriminator of discriminators) {
    const { path, steps } = discriminator
    const unknown = unknownStep(run, type, steps)
    if (unknown !== undefined)
      return `the path ${quoted(path)} of a discriminator leads to nothing, as there is no element ${quoted(unknown)}`
    const unresolvable = unresolvableType(run, type, discriminator)
    if (unresolvable !== undefined)
      return `the path ${quoted(path)} of a discriminator resolves ${unresolvable}, which is not a type of references`
    const profile = unknownProfile(run, [slice, ...same], discriminator)
    if (profile === PENDING) return PENDING
    if (profile !== undefined) return `the profile ${quoted(profile)}, which defines the slice '${slice.sliceName}', could not be found`
    const text = unstated(run, { element, rules: [slice, ...same], discriminator })
    if (text === PENDING) return PENDING
    if (text === undefined) continue
    missing.push(`the slice '${slice.sliceName}' ${text}`)
    if (!isByValue(discriminator)) return missing.at(-1)
  }
  // Values for some of the discriminators are enough.
  return missing.length === discriminators.length ? missing[0] : undefined
}

const REFERRING: ReadonlySet<string> = new Set(['Reference', 'canonical', 'uri', 'url'])

/** The type that a path resolves, where it is known and not one of references. A discriminator by profile may also resolve a resource that is in place itself. */
function unresolvableType({ model }: Run, from: string, { type: kind, steps }: Discriminator): string | undefined {
  let type = from
  for (const step of steps) {
    if (step.kind === 'resolve') return REFERRING.has(type) || (kind === 'profile' && type === 'Resource') ? undefined : type
    const slots = step.kind === 'child' ? (model.type(type)?.elements.get(step.name) ?? []) : []
    if (slots.length !== 1) return undefined
    type = slots[0]?.type ?? ''
  }
  return undefined
}

/** The first profile that is not known among those that say what a discriminator refers to, where the slice itself does not. */
function unknownProfile(run: Run, slices: readonly ElementRule[], { type: kind, steps }: Discriminator): string | undefined | Pending {
  let rules = slices
  for (const step of steps) {
    const unknown = firstUnknown(run, profilesBefore(rules, step))
    if (unknown !== undefined) return unknown
    rules = rulesAfter(run, rules, step)
  }
  const resolvesLast = steps.at(-1)?.kind === 'resolve'
  return resolvesLast ? undefined : firstUnknown(run, profilesAtEnd(rules, kind))
}

function firstUnknown({ definitions }: Run, canonicals: readonly string[]): string | undefined | Pending {
  const states = canonicals.map((canonical) => definitions.profile(canonical))
  return states.includes(PENDING) ? PENDING : canonicals[states.indexOf(undefined)]
}

function profilesBefore(rules: readonly ElementRule[], step: DiscriminatorStep): readonly string[] {
  if (step.kind === 'resolve') return rules.flatMap(({ types }) => types.flatMap(({ targetProfiles }) => targetProfiles))
  const isStated = step.kind !== 'child' || rules.some((rule) => rule.children.has(step.name) || Object.keys(rule.value).length > 0)
  return isStated ? [] : onlyProfiles(rules)
}

function profilesAtEnd(rules: readonly ElementRule[], kind: Discriminator['type']): readonly string[] {
  if (kind === 'profile') return rules.flatMap(({ types }) => types.flatMap(({ profiles }) => profiles))
  const isByProfile = kind !== 'type' && kind !== 'exists' && !rules.some((rule) => tellsValue({ ...rule, types: [] }))
  return isByProfile ? onlyProfiles(rules) : []
}

/** The profiles on types that have one only, as others tell nothing. */
function onlyProfiles(rules: readonly ElementRule[]): readonly string[] {
  return rules.flatMap(({ types }) => types.flatMap(({ profiles }) => (profiles.length === 1 ? profiles : [])))
}

function isByValue({ type }: Discriminator): boolean {
  return type === 'value' || type === 'pattern'
}

interface Asked {
  /** The element that is sliced. */
  readonly element: TypeElement
  readonly rules: readonly ElementRule[]
  readonly discriminator: Discriminator
}

/** What a slice does not state, although its discriminator refers to it. */
function unstated(run: Run, { element, rules, discriminator }: Asked): string | undefined | Pending {
  const { path, steps } = discriminator
  const end = steps.findIndex(({ kind }) => kind === 'resolve')
  const before = end < 0 ? steps : steps.slice(0, end)
  const wanted = rulesAt(rules, before)
  const general = generalRule(run, element, before)
  if (wanted === undefined || general === undefined) return undefined
  if (general === PENDING) return PENDING
  const known = { wanted, general, discriminator }
  const lack = end < 0 ? lackOfValue(known) : lackOfTarget(known, end === steps.length - 1)
  return lack && `${lack} ${quoted(path)}, which its discriminator asks for`
}

/** The rules at the end of a path, or for the reference that it resolves. */
interface Known {
  /** The rules of the slice. */
  readonly wanted: readonly ElementRule[]
  /** The rule of the type. */
  readonly general: ElementRule
  readonly discriminator: Discriminator
}

function lackOfTarget({ wanted, general, discriminator: { type } }: Known, isLast: boolean): string | undefined {
  if (type === 'profile' || wanted.some(namesTarget)) return undefined
  return hasOneTarget(general) && (type === 'type' || !isLast) ? undefined : 'does not say what is at'
}

function lackOfValue({ wanted, general, discriminator }: Known): string | undefined {
  if (discriminator.type === 'exists') return [...wanted, general].some(isDecisive) ? undefined : 'neither demands nor forbids'
  if (!isByValue(discriminator) || wanted.some(tellsValue) || general.bindings.some(isRequired)) return undefined
  return 'has no fixed value, pattern, required binding or cardinality at'
}

/**
 * The rules of a slice at the end of a path; `undefined` when an element above states a value or is forbidden, or the path has other steps than elements. That
 * the slice itself is forbidden does not say what is in it.
 */
function rulesAt(rules: readonly ElementRule[], steps: readonly DiscriminatorStep[]): readonly ElementRule[] | undefined {
  let wanted = rules
  for (const [index, step] of steps.entries()) {
    if (step.kind !== 'child' || wanted.some((rule) => saysValue(rule) || (index > 0 && rule.max === 0))) return undefined
    wanted = wanted.flatMap(({ children }) => children.get(step.name) ?? [])
  }
  return wanted
}

/** Whether a rule restricts a whole value, and thus its content. */
function saysValue({ value, bindings, types }: ElementRule): boolean {
  return Object.keys(value).length > 0 || bindings.length > 0 || types.some(({ profiles }) => profiles.length > 0)
}

function namesTarget({ types, max }: ElementRule): boolean {
  return max === 0 || types.some(({ profiles, targetProfiles }) => profiles.length > 0 || targetProfiles.length > 0)
}

function hasOneTarget({ types }: ElementRule): boolean {
  return types.flatMap(({ targetProfiles }) => targetProfiles).length === 1
}

function isRequired({ strength }: BindingRule): boolean {
  return strength === 'required'
}

/** Whether a rule states anything that distinguishes values. */
function tellsValue(rule: ElementRule): boolean {
  const { value, bindings, children, slices, types, constraints } = rule
  return (
    Object.keys(value).length > 0 ||
    bindings.some(isRequired) ||
    children.size > 0 ||
    slices.length > 0 ||
    constraints.length > 0 ||
    types.some(({ profiles, targetProfiles }) => profiles.length > 0 || targetProfiles.length > 0) ||
    rule.max === 0
  )
}

function isDecisive({ min, max }: ElementRule): boolean {
  return min > 0 || max === 0
}

/** The first step of a path that the types do not have, as far as the path goes through elements of known types. */
function unknownStep({ model }: Run, from: string, steps: readonly DiscriminatorStep[]): string | undefined {
  let type = model.type(from)
  for (const step of steps) {
    if (step.kind !== 'child' || type === undefined) return undefined
    const slots = type.elements.get(step.name)
    if (slots === undefined) return type.elements.size === 0 || type.kind === 'primitive' ? undefined : step.name
    type = slots.length === 1 ? model.type(slots[0]?.type ?? '') : undefined
    if (type?.kind === 'resource') return undefined
  }
  return undefined
}
