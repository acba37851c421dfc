import { isSubtype, PENDING, pushChildren, type FhirNode, type Pending } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { type Discriminator, type DiscriminatorStep, type ElementRule, rulesWithin } from '../../run/element-rule.js'
import { conforms, profileRoots } from '../profile/conforms.js'
import type { Run, SliceQuestion } from '../../run/run.js'
import { codedFits } from '../codes/bound-codes.js'
import { referenceOf, resolveLocally } from '../reference/resolve-locally.js'
import { contains, equals } from '../value/check-value.js'

/** The nodes and the slice's rules at one place of a discriminator's path. */
interface DiscriminatorTarget {
  readonly nodes: readonly FhirNode[]
  readonly rules: readonly ElementRule[]
  /** Canonicals of which the target of a reference must conform to one; absent when the last step did not follow a reference. */
  readonly targets?: readonly string[]
}

/** Whether a node is in a slice. Without discriminators, it is if it conforms to the rules of the slice. */
export function isInSlice(run: Run, node: FhirNode, { slice, same, discriminators }: SliceQuestion): boolean {
  if (discriminators.length === 0) return conforms(run, node, { rules: [slice], key: `${slice.profile}#${slice.id}` })
  const answers = discriminators.map((discriminator) => {
    const own = placeOf(run, { nodes: [node], rules: [slice] }, discriminator)
    const decided = decision(run, own, discriminator)
    if (decided !== undefined) return decided
    const inherited = placeOf(run, { nodes: [node], rules: same }, discriminator)
    return decision(run, inherited, discriminator) ?? unstated(run, node, { place: own, discriminator })
  })
  return answers.includes(true) && !answers.includes(false)
}

function placeOf(run: Run, start: DiscriminatorTarget, { steps }: Discriminator): DiscriminatorTarget {
  return steps.reduce((at, step) => stepTo(run, at, step), start)
}

interface Unstated {
  readonly place: DiscriminatorTarget
  readonly discriminator: Discriminator
}

/** Decides by the type of the element, for a slice that states nothing about what a discriminator refers to. */
function unstated(run: Run, { parent, slot }: FhirNode, { place, discriminator }: Unstated): boolean | undefined {
  const { nodes, targets } = place
  if (targets !== undefined && targets.length > 0) return undefined
  if (discriminator.type === 'profile') return targets === undefined || nodes.length > 0
  if (discriminator.type === 'type') return nodes.length > 0
  if (parent === undefined || slot === undefined) return undefined
  const rule = generalRule(run, { type: parent.type.name, name: slot.name }, discriminator.steps)
  return rule === undefined || rule === PENDING ? undefined : decision(run, { nodes, rules: [rule] }, discriminator)
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

/** The rules of a slice after a step of a discriminator's path. */
export function rulesAfter(run: Run, rules: readonly ElementRule[], step: DiscriminatorStep): readonly ElementRule[] {
  return stepTo(run, { nodes: [], rules }, step).rules
}

function childrenOf(run: Run, nodes: readonly FhirNode[], name: string): readonly FhirNode[] {
  const into: FhirNode[] = []
  for (const node of nodes) pushChildren(run.model, node, { name, into })
  return into
}

/** Rules with those of the profile on their type, if the type has exactly one. */
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

/** The fixed value or pattern of one member, from that of the whole value. */
function impliedRules(rule: ElementRule, name: string): readonly ElementRule[] {
  return (['fixed', 'pattern'] as const).flatMap((kind) => {
    const whole = rule.value[kind]
    if (!isObject(whole) || !Object.hasOwn(whole, name)) return []
    const member = whole[name]
    return (Array.isArray(member) ? member : [member]).map((value: unknown) => ({
      ...rule,
      max: Infinity,
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

/** Decides by one discriminator; `undefined` when the rules state nothing about what it refers to. */
function decision(run: Run, place: DiscriminatorTarget, discriminator: Discriminator): boolean | undefined {
  const { nodes, rules } = place
  const { type } = discriminator
  if (rules.some(({ max }) => max === 0) && !isAboutItself(discriminator)) return nodes.length === 0
  switch (type) {
    case 'exists':
      return rules.some(({ min }) => min > 0) ? nodes.length > 0 : undefined
    case 'type':
      return byType(run, nodes, rules.filter(saysType))
    case 'profile':
      return byProfile(run, place)
    case 'position':
      return undefined
    default:
      return byValue(run, nodes, withTypeProfiles(run, rules))
  }
}

/** Whether the rules are those of the slice itself, whose maximum says how many nodes it may have, not which are in it. */
function isAboutItself({ type, steps }: Discriminator): boolean {
  return type !== 'exists' && steps.every(({ kind }) => kind === 'type')
}

function byType(run: Run, nodes: readonly FhirNode[], rules: readonly ElementRule[]): boolean | undefined {
  return rules.length === 0 ? undefined : nodes.some((node) => rules.some((rule) => hasType(run, node, rule)))
}

/** Whether a rule restricts the type. One without types has those of its base; only for the root of a definition the name restricts the type. */
function saysType({ types, path }: ElementRule): boolean {
  return types.length > 0 || !path.includes('.')
}

function hasType(run: Run, node: FhirNode, { types, path }: ElementRule): boolean {
  if (types.length === 0) return path === node.type.name
  return types.some(({ code, profiles }) => {
    if (code === node.type.name) return true
    return code === 'Resource' && profiles.some((profile) => profileRoots(run, profile).some((root) => root.path === node.type.name))
  })
}

function byProfile(run: Run, { nodes, rules, targets }: DiscriminatorTarget): boolean | undefined {
  const canonicals = targets ?? rules.flatMap(({ types }) => types.flatMap(({ profiles }) => profiles))
  if (canonicals.length > 0) return nodes.some((node) => canonicals.some((canonical) => fitsProfile(run, node, canonical)))
  return byType(run, nodes, rules.filter(saysType))
}

function fitsProfile(run: Run, node: FhirNode, canonical: string): boolean {
  const rules = profileRoots(run, canonical)
  const [root] = rules
  if (root === undefined || !isSubtype(run.model, node.type, root.path)) return false
  return root.isBase || conforms(run, node, { rules, key: canonical })
}

/** Whether each rule that states a value finds it in some node. Rules for another type of a choice do not decide. */
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

/** The url of an extension. */
export function urlOf({ value }: FhirNode): unknown {
  return isObject(value) ? value['url'] : undefined
}

/** The url of the extensions in a slice: the fixed one, or that of the definition that the slice names. */
export function extensionUrl(slice: ElementRule): string | undefined {
  const fixed = slice.children.get('url')?.value.fixed
  if (typeof fixed === 'string') return fixed
  return slice.types[0]?.profiles[0]?.split('|', 1)[0]
}

/** A slice in the form in which expressions name it. */
interface SliceName {
  /** Canonical of the profile that has the slice. */
  readonly profile: string
  readonly name: string
}

/** Whether a node is in a slice of a profile on its resource; `undefined` when there is no such slice. */
export function isInNamedSlice(run: Run, node: FhirNode, { profile: canonical, name }: SliceName): boolean | undefined | Pending {
  const profile = run.definitions.profile(canonical)
  if (profile === undefined || profile === PENDING) return profile
  for (const { name: element, slices, slicing } of profile.elements.values()) {
    const slice = element === node.slot?.name ? slices.find(({ sliceName }) => sliceName === name) : undefined
    if (slice !== undefined) return isInSlice(run, node, { slice, same: [], discriminators: slicing?.discriminators ?? [] })
  }
  return undefined
}

/** An element of a type, a nested one such as `Patient.contact` too. */
export interface TypeElement {
  readonly type: string
  readonly name: string
}

/**
 * The rule of FHIR's own types for the element at the end of a discriminator's path; `undefined` when the path goes through a choice, or has other steps than
 * elements.
 */
export function generalRule(run: Run, from: TypeElement, steps: readonly DiscriminatorStep[]): ElementRule | undefined | Pending {
  let at = from
  for (const step of steps) {
    const [only, second] = run.model.type(at.type)?.elements.get(at.name) ?? []
    if (step.kind !== 'child' || only === undefined || second !== undefined) return undefined
    at = { type: only.type, name: step.name }
  }
  return elementRule(run, at)
}

function elementRule(run: Run, { type, name }: TypeElement): ElementRule | undefined | Pending {
  const [whole = ''] = type.split('.', 1)
  const definition = run.definitions.baseType(whole)
  if (definition === undefined || definition === PENDING) return definition
  const { children } = whole === type ? definition.root : (definition.elements.get(type) ?? definition.root)
  return children.get(name)
}
