import { formatCanonical } from '../../content/index.js'
import { OperationError, quoted } from '../../errors/index.js'
import { isSubtype, type ElementSlot, type TypeModel } from '../../fhirpath/index.js'
import { extensionAt, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import {
  TYPE_URL,
  type ExtensionContext,
  type ExtensionRule,
  type Profile,
  type ReleaseRange,
  type SlicingRule,
} from '../run/element-rule.js'
import type { Work } from '../../work/index.js'
import type { DemandRule } from '../run/run.js'
import { unknownPath } from './element-at-path.js'
import { emptyRule, ruleOf, type ProfileSource, type RuleDraft } from './compile-element.js'

/**
 * Compiles a StructureDefinition from its snapshot or, without one, from its differential. With neither, the profile has no rules and is marked as
 * empty.
 *
 * @param rules The rules that will be checked: each ElementDefinition gets the names of those that have something to check where it applies.
 * @throws {OperationError} `definition-invalid` when a path or name is longer, or there are more elements or invariants, than in any real profile.
 */
export function* compileProfile(definition: JsonObject, model: TypeModel, rules: readonly DemandRule[]): Work<Profile> {
  const [url = '', type = '', parent] = ['url', 'type', 'baseDefinition'].map((name) => stringAt(definition, name))
  const canonical = formatCanonical(url, stringAt(definition, 'version'))
  const isTypeUrl = (text: string): boolean => text.startsWith(TYPE_URL) && model.type(text.slice(TYPE_URL.length)) !== undefined
  const snapshot = objectsAt(objectAt(definition, 'snapshot'), 'element')
  const elements = snapshot.length > 0 ? snapshot : objectsAt(objectAt(definition, 'differential'), 'element')
  const base = snapshot.length > 0 || parent === undefined || isTypeUrl(parent) ? undefined : parent
  const isBase = stringAt(definition, 'derivation') !== 'constraint'
  yield* checkSizes(elements, url)
  const source: ProfileSource = {
    canonical,
    url,
    isBase,
    isComplete: snapshot.length > 0,
    marksSupport: marksSupport(elements),
    base,
    model,
    isTypeUrl,
    choiceAt: choiceFinder(model),
    demandsOf: (rule) => rules.filter(({ appliesTo }) => appliesTo(rule, model)).map(({ name }) => name),
  }
  const extension = type === 'Extension' && !isBase ? extensionRule(definition, elements) : undefined
  const isApplied = !isBase && snapshot.length === 0
  const obstacle = isApplied ? (baseObstacle(model, type, parent) ?? strayElement(yield* unknownPath(model, type, elements))) : undefined
  return {
    canonical,
    url,
    type,
    isBase,
    base,
    ...(obstacle !== undefined && { obstacle }),
    ...(elements.length === 0 && { isEmpty: true }),
    imposes: imposedBy(definition),
    ...(yield* treeOf(elements.length > 0 ? elements : [{ id: type, path: type }], source)),
    extension,
  }
}

function marksSupport(elements: readonly JsonObject[]): boolean {
  return elements.some(({ mustSupport }) => mustSupport === true)
}

/** Why a differential cannot be applied to the type that it is derived from. */
function baseObstacle(model: TypeModel, type: string, base: string | undefined): string | undefined {
  if (base === undefined) return 'it does not say what it is derived from'
  const [own, other] = [model.type(type), base.startsWith(TYPE_URL) ? base.slice(TYPE_URL.length) : '']
  if (own === undefined || model.type(other) === undefined || isSubtype(model, own, other)) return undefined
  return `it is a profile on ${type}, but derived from ${other}`
}

function strayElement(path: string | undefined): string | undefined {
  return path === undefined ? undefined : `there is no element ${quoted(path)}`
}

/** Returns the profile, for callers that cannot do without its rules. */
export function notEmpty(profile: Profile): Profile {
  if (profile.isEmpty !== true) return profile
  throw new OperationError('definition-invalid', `The StructureDefinition ${quoted(profile.url)} has no elements.`)
}

function imposedBy(definition: JsonObject): readonly string[] {
  const imposing = objectsAt(definition, 'extension').filter(({ url }) => url === `${TYPE_URL}structuredefinition-imposeProfile`)
  return imposing.flatMap((extension) => stringAt(extension, 'valueCanonical') ?? [])
}

function extensionRule(definition: JsonObject, [root]: readonly JsonObject[]): ExtensionRule {
  const contexts = objectsAt(definition, 'context').flatMap((context): ExtensionContext[] => {
    const type = (['element', 'extension', 'fhirpath'] as const).find((known) => known === context['type'])
    const expression = stringAt(context, 'expression')
    return type === undefined || expression === undefined ? [] : [{ type, expression, ...releasesOf(context) }]
  })
  const invariants: unknown = definition['contextInvariant']
  const outdated = outdatedOf(definition)
  return {
    ...(outdated !== undefined && { outdated }),
    ...releasesOf(definition),
    isModifier: root?.['path'] === 'Extension' && root['isModifier'] === true,
    contexts,
    invariants: Array.isArray(invariants) ? invariants.filter((expression) => typeof expression === 'string') : [],
  }
}

/** The releases that the extension `version-specific-use` states. */
function releasesOf(holder: JsonObject): { readonly releases?: ReleaseRange } {
  const use = extensionAt(holder, `${TYPE_URL}version-specific-use`)
  if (use === undefined) return {}
  const [start, end] = ['startFhirVersion', 'endFhirVersion'].map((name) => stringAt(extensionAt(use, name), 'valueCode'))
  return { releases: { ...(start !== undefined && { start }), ...(end !== undefined && { end }) } }
}

const STANDARDS_STATUS = `${TYPE_URL}structuredefinition-standards-status`

/** `deprecated`, `withdrawn` or `retired`, with the reason if one is stated. */
function outdatedOf(definition: JsonObject): string | undefined {
  const standardsStatus = extensionAt(definition, STANDARDS_STATUS)
  const status = [stringAt(standardsStatus, 'valueCode'), stringAt(definition, 'status')].find(
    (one) => one !== undefined && OUTDATED.has(one),
  )
  if (status === undefined) return undefined
  const reason = extensionAt(objectAt(standardsStatus, '_valueCode'), `${STANDARDS_STATUS}-reason`)
  const text = stringAt(reason, 'valueMarkdown')
  return text === undefined ? status : `${status}: ${text}`
}

const OUTDATED: ReadonlySet<string> = new Set(['deprecated', 'withdrawn', 'retired'])

/** Maximum number of characters of a path, an id or the name of a slice: the data made of each element are as long as these together. */
const MAX_NAME = 1_000

/** Maximum number of invariants of one element. */
const MAX_CONSTRAINTS = 1_000

function* checkSizes(elements: readonly JsonObject[], url: string): Work<void> {
  for (const [index, element] of elements.entries()) {
    if (index % PORTION === 0) yield
    for (const member of ['path', 'id', 'sliceName']) checkLength(stringAt(element, member) ?? '', member, url)
    if (objectsAt(element, 'constraint').length > MAX_CONSTRAINTS) throw tooMany({ url }, 'invariants of one element', MAX_CONSTRAINTS)
  }
}

function checkLength(text: string, member: string, url: string): void {
  if (text.length <= MAX_NAME) return
  throw new OperationError(
    'definition-invalid',
    `An element of the StructureDefinition ${quoted(url)} has ${member === 'id' ? 'an' : 'a'} ${member} of more than ${MAX_NAME} characters.`,
  )
}

/** Number of elements and invariants between two checks of the time. */
const PORTION = 50

/** Maximum number of elements, including implied ones, and invariants of a StructureDefinition. The largest published ones have some thousands. */
const MAX_RULES = 100_000

/** A tree of rules while it is being built. */
interface Tree {
  readonly source: ProfileSource
  /** The rules from the root down to the one placed last. */
  readonly open: RuleDraft[]
  /** Slices of each rule by their names. */
  readonly named: Map<RuleDraft, Map<string, RuleDraft>>
  /** Adds to the number of rules and invariants, and returns it. @throws {OperationError} `definition-invalid` when there are too many. */
  readonly count: (more: number) => number
}

function startTree(root: RuleDraft, source: ProfileSource): Tree {
  let rules = 0
  const count = (more: number): number => {
    rules += more
    if (rules > MAX_RULES) throw tooMany(source, 'elements and invariants', MAX_RULES)
    return rules
  }
  return { source, open: [root], named: new Map(), count }
}

/** Builds a tree from the flat list of elements, in which the children of a slice follow the slice. */
function* treeOf(elements: readonly JsonObject[], source: ProfileSource): Work<Pick<Profile, 'root' | 'elements'>> {
  const root = emptyRule(rootPath(elements), source)
  const tree = startTree(root, source)
  const byId = new Map<string, RuleDraft>([[root.path, root]])
  let seen = 0
  for (const element of elements) {
    const rule = ruleOf(element, source)
    const rules = tree.count(1 + rule.constraints.length)
    if (rules - seen >= PORTION) {
      seen = rules
      yield
    }
    if (rule.path === root.path) Object.assign(root, { ...rule, children: root.children, slices: root.slices, required: root.required })
    else placeUnder(tree, rule)
    if (!byId.has(rule.path)) byId.set(rule.path, rule)
    byId.set(idOf(rule, tree), rule)
  }
  yield
  for (const rule of new Set(byId.values())) finishReference(rule, byId, tree)
  yield* finishRules(root, source)
  return { root, elements: byId }
}

/** The id of an element. Older definitions have none, so it is derived from the slices around the element. */
function idOf(rule: RuleDraft, { open, source }: Tree): string {
  if (rule.id !== rule.path) return rule.id
  const steps = [...open.slice(0, -1), rule].map(({ path, sliceName }) => lastOf(path) + (sliceName === undefined ? '' : `:${sliceName}`))
  checkLength('.'.repeat(steps.reduce((length, step) => length + step.length, 0)), 'id', source.url)
  return steps.join('.')
}

function rootPath([first]: readonly JsonObject[]): string {
  return (stringAt(first, 'path') ?? '').split('.', 1)[0] ?? ''
}

function placeUnder(tree: Tree, rule: RuleDraft): void {
  const { open, source, count } = tree
  while (open.length > 1 && !rule.path.startsWith(`${open.at(-1)?.path}.`)) open.pop()
  const steps = rule.path.split('.')
  for (let depth = open.length + 1; depth < steps.length; depth++) {
    count(1)
    const implied = ruleOf({ path: steps.slice(0, depth).join('.') }, source)
    open.push(placeIn(tree, { rule: implied, isStated: false }))
  }
  open.push(placeIn(tree, { rule, isStated: true }))
}

/**
 * Places a rule and returns the rule in the tree: an earlier one for the same element stays.
 *
 * @param isStated False for an element that is implied by the elements inside it.
 */
function placeIn({ open, source, named }: Tree, { rule, isStated }: { readonly rule: RuleDraft; readonly isStated: boolean }): RuleDraft {
  const parent = open.at(-1)
  if (parent === undefined) return rule
  const group = parent.children.get(rule.name)
  if (rule.sliceName === undefined) {
    if (group !== undefined) return group
    parent.children.set(rule.name, rule)
    return rule
  }
  const sliced = group ?? { ...emptyRule(rule.path, source), name: rule.name, isChoice: rule.name !== lastOf(rule.path) }
  if (group === undefined) parent.children.set(rule.name, sliced)
  if (sliced.isChoice && isStated) sliceChoice(sliced, rule, group === undefined)
  const byName = named.get(sliced) ?? new Map<string, RuleDraft>()
  named.set(sliced, byName)
  const outer = outerNames(rule.sliceName).find((name) => byName.has(name))
  const { slices } = (outer === undefined ? undefined : byName.get(outer)) ?? sliced
  if (slices.length === MAX_SLICES) throw tooMany(source, `slices of ${quoted(rule.path)}`, MAX_SLICES)
  slices.push(rule)
  if (outer === undefined && !byName.has(rule.sliceName)) byName.set(rule.sliceName, rule)
  return rule
}

/** Maximum number of slices of one element. An item is checked against each, because it may be in several. */
const MAX_SLICES = 1_000

function tooMany({ url }: Pick<ProfileSource, 'url'>, of: string, most: number): OperationError {
  return new OperationError('definition-invalid', `The StructureDefinition ${quoted(url)} has more than ${most} ${of}.`)
}

/** Names of the slices that a slice may belong to: for `a/b/c` first `a/b`, then `a`. */
function outerNames(sliceName: string): readonly string[] {
  const steps = sliceName.split('/')
  return steps.slice(1).map((_, index) => steps.slice(0, steps.length - 1 - index).join('/'))
}

/**
 * A choice is sliced by type, even if the profile does not say so. If a profile has no element for the choice itself, its slices name all the types that
 * remain allowed: `Observation.valueQuantity` is short for a value that is a Quantity.
 *
 * @param isFirst True for the first element of the choice in the profile.
 */
function sliceChoice(sliced: RuleDraft, slice: RuleDraft, isFirst: boolean): void {
  if (slice.types.length === 0) return
  if (isFirst && slice.max > 0) sliced.slicing = CLOSED_BY_TYPE
  sliced.slicing ??= OPEN_BY_TYPE
  if (sliced.slicing === CLOSED_BY_TYPE && sliced.slices.length > 0) sliced.types = [...sliced.slices, slice].flatMap(({ types }) => types)
}

const OPEN_BY_TYPE: SlicingRule = { discriminators: [{ type: 'type', path: '$this', steps: [] }], rules: 'open', ordered: false }
const CLOSED_BY_TYPE: SlicingRule = { ...OPEN_BY_TYPE, rules: 'closed' }

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function finishReference(rule: RuleDraft, byId: ReadonlyMap<string, RuleDraft>, { count }: Tree): void {
  const target = rule.contentReference === undefined ? undefined : byId.get(rule.contentReference)
  if (target === undefined || rule.children.size > 0) return
  count(target.constraints.length)
  rule.children = target.children
  rule.slicing ??= target.slicing
  rule.constraints = [...rule.constraints, ...target.constraints]
}

/** Computes `required` and `demands` once the tree is complete. Content references make it a graph, so each rule is visited once. */
function* finishRules(root: RuleDraft, source: ProfileSource): Work<void> {
  const all = new Set([root])
  for (const rule of all) {
    if (all.size % PORTION === 0) yield
    const inside = [...rule.children.values()].flatMap((child) => [child, ...slicesWithin(child)])
    rule.required.push(...inside.filter(({ min }) => min > 0))
    for (const inner of [...inside, ...rule.slices]) all.add(inner)
    if (rule.children.size === 0) rule.children = NO_CHILDREN
  }
  let finished = 0
  for (const rule of all) {
    if (finished++ % PORTION === 0) yield
    rule.demands = source.demandsOf(rule)
  }
}

/** The slices of an element, and those of its slices. */
function slicesWithin({ slices }: RuleDraft): readonly RuleDraft[] {
  return slices.flatMap((slice) => [slice, ...slicesWithin(slice)])
}

/** Shared by the many rules without children, because each map takes 200 bytes. */
const NO_CHILDREN: RuleDraft['children'] = new Map()

/** `Observation.valueQuantity` is a path of older definitions, and of short differentials, for a type slice of `Observation.value[x]`. */
function choiceFinder(model: TypeModel): ProfileSource['choiceAt'] {
  const known = new Map<string, ElementSlot | undefined>()
  const slotAt = (path: string): ElementSlot | undefined => {
    if (!known.has(path)) known.set(path, slotIn(path.slice(0, path.lastIndexOf('.')), lastOf(path)))
    return known.get(path)
  }
  const slotIn = (outer: string, step: string): ElementSlot | undefined => {
    const type = model.type(outer.includes('.') ? (slotAt(outer)?.type ?? '') : outer)
    const name = step.replace('[x]', '')
    return type?.members.get(name) ?? type?.elements.get(name)?.[0]
  }
  return (path) => {
    const slot = path.includes('.') ? slotAt(path) : undefined
    return slot?.isChoice === true && slot.jsonName === lastOf(path) ? { name: slot.name, type: slot.type } : undefined
  }
}
