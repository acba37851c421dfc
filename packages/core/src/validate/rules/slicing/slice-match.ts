import { isSubtype, PENDING, pushChildren, type FhirNode, type Pending } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import type { DiscriminatorStep } from '../../profile/discriminator-path.js'
import { rulesWithin, type Discriminator, type ElementRule } from '../../run/element-rule.js'
import { profileRoots } from '../../run/profile-roots.js'
import type { Run } from '../../run/run.js'
import { codedFits } from '../codes/bound-codes.js'
import { conforms } from '../profile/conforms.js'
import { referenceOf, resolveLocally } from '../reference/resolve-locally.js'
import { contains, equals } from '../value/compare-json.js'

/** The nodes and the slice's rules at one place of a discriminator's path. */
interface DiscriminatorTarget {
  readonly nodes: readonly FhirNode[]
  readonly rules: readonly ElementRule[]
  /** Canonicals of which what a reference leads to must obey one; absent when no reference was followed last. */
  readonly targets?: readonly string[]
}

/** A slice, and what else is known of it. */
export interface SliceQuestion {
  readonly slice: ElementRule
  /** The same slice in other profiles; asked when its own rules do not decide. */
  readonly same: readonly ElementRule[]
  readonly discriminators: readonly Discriminator[]
}

/** Whether a node is in a slice. Without discriminators it is when it obeys the slice's rules. */
export function isInSlice(run: Run, node: FhirNode, { slice, same, discriminators }: SliceQuestion): boolean {
  if (discriminators.length === 0) return conforms(run, node, { rules: [slice], key: `${slice.profile}#${slice.id}` })
  return decisionBy(run, node, { rules: [slice], discriminators }) ?? decisionBy(run, node, { rules: same, discriminators }) ?? false
}

interface Deciding {
  readonly rules: readonly ElementRule[]
  readonly discriminators: readonly Discriminator[]
}

/** `undefined` when the rules say nothing about what the discriminators look at. */
function decisionBy(run: Run, node: FhirNode, { rules, discriminators }: Deciding): boolean | undefined {
  const answers = discriminators.map((discriminator) => {
    const start: DiscriminatorTarget = { nodes: [node], rules }
    const place = discriminator.steps.reduce((at: DiscriminatorTarget, step) => stepTo(run, at, step), start)
    return decision(run, place, discriminator)
  })
  if (answers.includes(false)) return false
  return answers.includes(true) ? true : undefined
}

function stepTo(run: Run, { nodes, rules }: DiscriminatorTarget, step: DiscriminatorStep): DiscriminatorTarget {
  switch (step.kind) {
    case 'child':
      return { nodes: childrenOf(run, nodes, step.name), rules: childRules(run, rules, step.name) }
    case 'extension':
      return {
        nodes: childrenOf(run, nodes, 'extension').filter((node) => urlOf(node) === step.url),
        rules: childRules(run, rules, 'extension').flatMap(({ slices }) => slices.filter((slice) => extensionUrl(slice) === step.url)),
      }
    case 'resolve':
      return resolved(run, { nodes, rules })
    case 'type':
      return {
        nodes: nodes.filter((node) => node.type.name === step.type),
        rules: rules.flatMap((rule) => [rule, ...rule.slices.filter(({ types }) => types.some(({ code }) => code === step.type))]),
      }
  }
}

function childrenOf(run: Run, nodes: readonly FhirNode[], name: string): readonly FhirNode[] {
  const into: FhirNode[] = []
  for (const node of nodes) pushChildren(run.model, node, { name, into })
  return into
}

/** Rules with those of the one profile that each puts on its type. */
function withTypeProfiles(run: Run, rules: readonly ElementRule[]): readonly ElementRule[] {
  if (rules.every(({ types }) => types.every(({ profiles }) => profiles.length !== 1))) return rules
  return rules.flatMap((rule) => [
    rule,
    ...rule.types.flatMap(({ profiles }) => (profiles.length === 1 ? profileRoots(run, profiles[0] ?? '') : [])),
  ])
}

function childRules(run: Run, rules: readonly ElementRule[], name: string): readonly ElementRule[] {
  return withTypeProfiles(run, rules).flatMap((rule) => {
    const child = rule.children.get(name)
    return child === undefined ? impliedRules(rule, name) : [child, ...child.slices.filter(({ min }) => child.isChoice || min > 0)]
  })
}

/** What a fixed value or pattern of the whole says about one member. */
function impliedRules(rule: ElementRule, name: string): readonly ElementRule[] {
  return (['fixed', 'pattern'] as const).flatMap((kind) => {
    const whole = rule.value[kind]
    if (!isObject(whole) || !Object.hasOwn(whole, name)) return []
    const member = whole[name]
    return (Array.isArray(member) ? member : [member]).map((value: unknown) => ({
      ...rule,
      value: { [kind]: value },
      children: new Map(),
      slices: [],
      bindings: [],
    }))
  })
}

function resolved(run: Run, { nodes, rules }: DiscriminatorTarget): DiscriminatorTarget {
  const targets = withTypeProfiles(run, rules).flatMap((rule) => rule.types.flatMap(({ targetProfiles }) => targetProfiles))
  return {
    nodes: nodes.flatMap((node) => resolveLocally(run, node, referenceOf(node) ?? '') ?? []),
    rules: targets.flatMap((target) => profileRoots(run, target)),
    targets,
  }
}

/** `undefined` when the rules say nothing about what the discriminator looks at. */
function decision(run: Run, place: DiscriminatorTarget, { type }: Discriminator): boolean | undefined {
  const { nodes, rules } = place
  switch (type) {
    case 'exists':
      return existence(nodes, rules)
    case 'type':
      return rules.length === 0 ? undefined : nodes.some((node) => rules.some((rule) => hasType(run, node, rule)))
    case 'profile':
      return byProfile(run, place)
    case 'position':
      return undefined
    default:
      return rules.some(({ max }) => max === 0) ? nodes.length === 0 : byValue(run, nodes, withTypeProfiles(run, rules))
  }
}

function existence(nodes: readonly FhirNode[], rules: readonly ElementRule[]): boolean | undefined {
  if (rules.some(({ max }) => max === 0)) return nodes.length === 0
  return rules.some(({ min }) => min > 0) ? nodes.length > 0 : undefined
}

/** An element without types of its own has those of its base; only the root of a definition, and a choice, say more by their names. */
function hasType(run: Run, node: FhirNode, { types, path, isChoice }: ElementRule): boolean {
  if (types.length === 0) return path === node.type.name || (path.includes('.') && !isChoice)
  return types.some(({ code, profiles }) => {
    if (code === node.type.name) return true
    return code === 'Resource' && profiles.some((profile) => profileRoots(run, profile).some((root) => root.path === node.type.name))
  })
}

function byProfile(run: Run, { nodes, rules, targets }: DiscriminatorTarget): boolean | undefined {
  const canonicals = targets ?? rules.flatMap(({ types }) => types.flatMap(({ profiles }) => profiles))
  if (canonicals.length > 0) return nodes.some((node) => canonicals.some((canonical) => fitsProfile(run, node, canonical)))
  return rules.length === 0 ? undefined : nodes.some((node) => rules.every((rule) => hasType(run, node, rule)))
}

function fitsProfile(run: Run, node: FhirNode, canonical: string): boolean {
  const rules = profileRoots(run, canonical)
  const [root] = rules
  if (root === undefined || !isSubtype(run.model, node.type, root.path)) return false
  return root.isBase || conforms(run, node, { rules, key: canonical })
}

/** Each rule that states a value must find it in some node; one for another type of a choice decides nothing. */
function byValue(run: Run, nodes: readonly FhirNode[], rules: readonly ElementRule[]): boolean | undefined {
  const deciding = rules.filter(statesValue)
  if (deciding.length === 0) return undefined
  const own = deciding.filter((rule) => nodes.some((node) => isForType(node, rule)))
  return own.length > 0 && own.every((rule) => nodes.some((node) => hasValue(run, node, rule)))
}

function isForType({ slot, type }: FhirNode, { types }: ElementRule): boolean {
  return slot?.isChoice !== true || types.length === 0 || types.some(({ code }) => code === type.name)
}

function statesValue(rule: ElementRule): boolean {
  return rulesWithin(rule).some(
    ({ value, bindings }) =>
      value.fixed !== undefined || value.pattern !== undefined || bindings.some(({ strength }) => strength === 'required'),
  )
}

function hasValue(run: Run, node: FhirNode, rule: ElementRule): boolean {
  const { fixed, pattern } = rule.value
  if (fixed !== undefined) return equals(node.value, fixed)
  if (pattern !== undefined) return contains(node.value, pattern)
  return codedFits(run, node, rule) && [...rule.children.values()].every((child) => hasChild(run, node, child))
}

function hasChild(run: Run, node: FhirNode, child: ElementRule): boolean {
  if (child.min === 0 || !statesValue(child)) return true
  return childrenOf(run, [node], child.name).some((inner) => hasValue(run, inner, child))
}

function urlOf({ value }: FhirNode): unknown {
  return isObject(value) ? value['url'] : undefined
}

/** The url of the extensions in a slice: fixed in place, or that of the definition that the slice names. */
export function extensionUrl(slice: ElementRule): string | undefined {
  const fixed = slice.children.get('url')?.value.fixed
  if (typeof fixed === 'string') return fixed
  return slice.types[0]?.profiles[0]?.split('|', 1)[0]
}

/** A slice as expressions name it. */
interface SliceName {
  /** Canonical of the profile that has the slice. */
  readonly profile: string
  readonly name: string
}

/** Whether a node is in a slice of a profile on the resource that it is in; `undefined` when there is no such slice. */
export function isInNamedSlice(run: Run, node: FhirNode, { profile: canonical, name }: SliceName): boolean | undefined | Pending {
  const profile = run.definitions.profile(canonical)
  if (profile === undefined || profile === PENDING) return profile
  for (const { name: element, slices, slicing } of profile.elements.values()) {
    const slice = element === node.slot?.name ? slices.find(({ sliceName }) => sliceName === name) : undefined
    if (slice !== undefined) return isInSlice(run, node, { slice, same: [], discriminators: slicing?.discriminators ?? [] })
  }
  return undefined
}
