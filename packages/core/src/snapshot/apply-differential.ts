import { quoted } from '../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject, extensionAt, isObject } from '../json/index.js'
import { choiceName, TYPE_URL } from '../text/index.js'
import { labelOf, type Building, groupsOf, type ElementGroup, type ElementNode } from './element-tree.js'
import { filledFrom, lostConstraints, mergedElement, without } from './merge-element.js'

/** Applies a profile's statements about an element and the elements below it to the element of the base. */
export async function applyDifferential(build: Building, base: ElementNode, own: ElementNode): Promise<ElementNode> {
  await build.pace.step()
  const start = own.isImplied === true ? base.element : await startOf(build, base, own.element)
  for (const key of lostConstraints(start, own.element)) {
    const text = `${quoted(labelOf(own))} has another constraint ${quoted(key)} in the base, which stays; give the constraint of the profile a key of its own.`
    build.report(own, 'constraint-key', text)
  }
  const node = { ...base, element: withoutUseless(mergedElement(start, own.element, build.url)) }
  if (own.children.length === 0) return node
  const whole = node.children.length === 0 ? await expandElement(build, node, own) : node
  return whole === undefined ? node : { ...whole, children: await appliedChildren(build, whole, own) }
}

/** The element without its binding if no type is left that can be bound. */
function withoutUseless(element: JsonObject): JsonObject {
  const types = element['binding'] === undefined ? [] : objectsAt(element, 'type').map(codeOf)
  return types.length > 0 && types.every((type) => !type.includes('/') && !BINDABLE.has(type)) ? without(element, 'binding') : element
}

/** Types that can be bound, with those that derive from them: a snapshot is made without knowing the types. */
const BINDABLE: ReadonlySet<string> = new Set(
  `code string markdown id uri url canonical oid uuid Coding CodeableConcept CodeableReference Quantity SimpleQuantity MoneyQuantity Age Count Distance
  Duration Extension`.split(/\s+/),
)

async function appliedChildren(build: Building, node: ElementNode, own: ElementNode): Promise<readonly ElementNode[]> {
  const bases = groupsOf(node.children)
  const mine = new Map(groupsOf(withChoices(own.children, bases)).map((group) => [group.name, group]))
  reportStrays(build, bases, [...mine.values()])
  const children: ElementNode[] = []
  for (const base of bases) {
    const group = mine.get(base.name)
    if (group === undefined) children.push(...(base.main === undefined ? [] : [base.main]), ...base.slices)
    else children.push(...(await appliedGroup(build, base, group)))
  }
  return children
}

function reportStrays(build: Building, bases: readonly ElementGroup[], mine: readonly ElementGroup[]): void {
  const places = new Map(bases.map(({ name }, index) => [name, index]))
  let last = -1
  for (const { name, main, slices } of mine) {
    const own = main ?? slices[0]
    const place = places.get(name)
    if (own === undefined) continue
    if (place === undefined)
      build.report(
        own,
        'element-unknown',
        `No match found for ${quoted(labelOf(own))} in the snapshot of the base: check that the path and the definitions are right.`,
      )
    else if (place < last)
      build.report(
        own,
        'element-order',
        `${quoted(labelOf(own))} is out of order: the base has it before elements that come earlier in the differential.`,
      )
    last = Math.max(last, place ?? -1)
  }
}

/** `valueQuantity` abbreviates the slice of `value[x]` for this type, or `value[x]` itself if it allows no other type. */
function withChoices(children: readonly ElementNode[], bases: readonly ElementGroup[]): readonly ElementNode[] {
  return children.map((child) => {
    if (bases.some(({ name }) => name === child.name)) return child
    const choice = bases.find(({ name }) => name.endsWith('[x]') && child.name.startsWith(name.slice(0, -3)))
    if (choice?.main === undefined) return child
    const own = children.find(({ name, sliceName }) => name === choice.name && sliceName === undefined)?.element ?? {}
    return asChoice(child, choice.main, own)
  })
}

function asChoice(child: ElementNode, { name, element: base }: ElementNode, own: JsonObject): ElementNode {
  const types = objectsAt(own['type'] === undefined ? base : own, 'type')
  const type = types.find((one) => choiceName(name.slice(0, -3), codeOf(one)) === child.name)
  if (type === undefined) return child
  const isSliced = [base, own].some(({ slicing }) => slicing !== undefined)
  const element = child.element['type'] === undefined ? { ...child.element, type: [{ code: type['code'] }] } : child.element
  return { ...child, name, element, ...((isSliced || types.length > 1) && { sliceName: child.sliceName ?? child.name }) }
}

/** An element and its slices. New slices start as the sliced element, including the profile's statements about its children, and follow those of the base. */
async function appliedGroup(build: Building, base: ElementGroup, own: ElementGroup): Promise<readonly ElementNode[]> {
  if (base.main === undefined) return base.slices
  const implied: ElementNode = { name: own.name, sliceName: undefined, element: {}, children: [], isImplied: true }
  const main = await applyDifferential(build, base.main, withSlicing(build, base.main, { ...own, main: own.main ?? implied }))
  const sliced = { ...base.main, children: main.children }
  const slices = new Map(base.slices.map((slice) => [slice.sliceName, slice]))
  for (const slice of own.slices) {
    const known = slices.get(slice.sliceName)
    const start = known ?? newSlice(build, sliced, { slice, outer: slices.get(outerName(slice)) })
    const applied = await applyDifferential(build, start, slice)
    slices.set(slice.sliceName, known === undefined ? withMost(main, applied) : applied)
  }
  reportSliceOrder(build, base.slices, own.slices)
  const all = withinOuter([...slices.values()])
  const outermost = all.filter((slice) => outerName(slice) === '')
  return [withTypes(withLeast(main, outermost), outermost), ...all]
}

/** Adds the slicing that a differential may omit: of extensions, which is always by url, and of choices by type. */
function withSlicing(build: Building, base: ElementNode, { main, slices }: ElementGroup): ElementNode {
  const own = main ?? base
  const { element } = own
  const [slice] = slices
  if (slice === undefined || base.element['slicing'] !== undefined || element['slicing'] !== undefined) return own
  if (/^(?:modifierE|e)xtension$/.test(base.name)) return { ...own, element: { ...element, slicing: BY_URL } }
  if (base.name.endsWith('[x]')) {
    const type = slices.flatMap((one) => objectsAt(one.element, 'type'))
    return {
      ...own,
      element: element['type'] === undefined ? { ...element, slicing: byType('closed'), type } : { ...element, slicing: byType('open') },
    }
  }
  build.report(
    slice,
    'slicing-missing',
    `${quoted(labelOf(slice))} is a slice, but no slicing of ${quoted(base.name)} is set up before it.`,
  )
  return own
}

const BY_URL = { discriminator: [{ type: 'value', path: 'url' }], ordered: false, rules: 'open' }

function byType(rules: 'closed' | 'open'): JsonObject {
  return { discriminator: [{ type: 'type', path: '$this' }], ordered: false, rules }
}

/** A slice that the base does not have. A slice of a slice starts as a copy of the outer one. */
function newSlice(
  build: Building,
  sliced: ElementNode,
  { slice, outer }: { readonly slice: ElementNode; readonly outer: ElementNode | undefined },
): ElementNode {
  const { sliceName } = slice
  const origin = outer ?? sliced
  const isClosed = outer === undefined && stringAt(objectAt(sliced.element, 'slicing'), 'rules') === 'closed'
  if (isClosed)
    build.report(
      slice,
      'slicing-closed',
      `The slicing of ${quoted(sliced.name)} is closed in the base, so the slice ${quoted(sliceName ?? '')} cannot be added.`,
    )
  return { name: sliced.name, sliceName, element: { ...without(origin.element, 'slicing'), sliceName, min: 0 }, children: origin.children }
}

/** `a` for the slice `a/b`. */
function outerName({ sliceName = '' }: ElementNode): string {
  return sliceName.slice(0, Math.max(0, sliceName.lastIndexOf('/')))
}

/** The slices, sorted so that the slices of a slice follow it. */
function withinOuter(slices: readonly ElementNode[]): readonly ElementNode[] {
  const names = new Set(slices.map(({ sliceName }) => sliceName))
  const inner = Map.groupBy(slices, (slice) => (names.has(outerName(slice)) ? outerName(slice) : ''))
  const behind = (slice: ElementNode): readonly ElementNode[] => [slice, ...(inner.get(slice.sliceName ?? '') ?? []).flatMap(behind)]
  return (inner.get('') ?? []).flatMap(behind)
}

function reportSliceOrder(build: Building, bases: readonly ElementNode[], mine: readonly ElementNode[]): void {
  const places = new Map(bases.map(({ sliceName }, index) => [sliceName, index]))
  let last = -1
  for (const own of mine) {
    const place = places.get(own.sliceName) ?? (outerName(own) === '' ? bases.length : last)
    if (place < last)
      build.report(
        own,
        'slice-order',
        `The slice ${quoted(own.sliceName ?? '')} is out of order: the base has it before slices that come earlier.`,
      )
    last = Math.max(last, place)
  }
}

/** A sliced element occurs at least as often as all of its slices together. */
function withLeast(main: ElementNode, slices: readonly ElementNode[]): ElementNode {
  const least = slices.reduce((sum, { element }) => sum + leastOf(element), 0)
  return least > leastOf(main.element) ? { ...main, element: { ...main.element, min: least } } : main
}

/** A new slice occurs at most as often as the sliced element. */
function withMost({ element: { max } }: ElementNode, slice: ElementNode): ElementNode {
  const isMore = typeof max === 'string' && max !== '*' && !(Number(slice.element['max']) <= Number(max))
  return isMore ? { ...slice, element: { ...slice.element, max } } : slice
}

/** A choice that is sliced by type has no types but those of a slice that is required, as it occurs once, and none of a slice that is forbidden. */
function withTypes(main: ElementNode, slices: readonly ElementNode[]): ElementNode {
  const [discriminator, ...others] = objectsAt(objectAt(main.element, 'slicing'), 'discriminator')
  const isByType = stringAt(discriminator, 'type') === 'type' && stringAt(discriminator, 'path') === '$this' && others.length === 0
  if (!isByType || main.element['max'] !== '1') return main
  const required = slices.find(({ element }) => leastOf(element) > 0)
  const forbidden = slices.filter(({ element }) => element['max'] === '0')
  const [kept, lost] = [typesOf(required), new Set(forbidden.flatMap((slice) => [...typesOf(slice)]))]
  const isLeft = (code: string): boolean => (required === undefined || kept.has(code)) && !lost.has(code)
  const type = objectsAt(main.element, 'type').filter((one) => isLeft(codeOf(one)))
  const slicing = required !== undefined && { slicing: { ...objectAt(main.element, 'slicing'), rules: 'closed' } }
  return type.length === 0 ? main : { ...main, element: { ...main.element, type, ...slicing } }
}

function typesOf(slice: ElementNode | undefined): ReadonlySet<string> {
  return new Set(slice === undefined ? [] : objectsAt(slice.element, 'type').map(codeOf))
}

function leastOf({ min }: JsonObject): number {
  return typeof min === 'number' ? min : 0
}

/**
 * Adds the child elements of an element at which the snapshot ends: those of the target of its contentReference, else those of its type or of the type's
 * profile. Reports a problem and returns `undefined` if they are unknown.
 *
 * @param own The node of the differential that needs them.
 */
async function expandElement(build: Building, node: ElementNode, own: ElementNode): Promise<ElementNode | undefined> {
  const reference = stringAt(node.element, 'contentReference')
  return reference === undefined ? typed(build, node, own) : referred(build, node, { reference, own })
}

async function referred(
  build: Building,
  node: ElementNode,
  { reference, own }: { reference: string; own: ElementNode },
): Promise<ElementNode | undefined> {
  const id = reference.slice(reference.indexOf('#') + 1)
  const type = id.split('.', 1)[0] ?? ''
  const root = type === build.root.name ? build.root : await build.treeAt(TYPE_URL + type)
  const target = root && nodeAt(root, id)
  if (target === undefined) {
    build.report(own, 'content-reference', `The content reference ${quoted(reference)} of ${quoted(labelOf(own))} leads to no element.`)
    return undefined
  }
  const element = without(node.element, 'contentReference')
  const types = target.element['type']
  return { ...node, element: { ...element, ...(types !== undefined && { type: types }) }, children: target.children }
}

async function typed(build: Building, node: ElementNode, own: ElementNode): Promise<ElementNode | undefined> {
  const types = objectsAt(node.element, 'type')
  const codes = new Set(types.map(codeOf))
  const [code] = codes
  if (code === undefined) {
    build.report(own, 'type-missing', `${quoted(labelOf(own))} has no type, so nothing can be said about elements below it.`)
    return undefined
  }
  const canonical = codes.size > 1 ? `${TYPE_URL}Element` : canonicalBelow(code, types)
  const tree = await treeBelow(build, canonical, code)
  if (tree === undefined) {
    build.report(own, 'type-unknown', `The definition ${quoted(canonical)} of the type of ${quoted(labelOf(own))} could not be found.`)
    return undefined
  }
  if (codes.size > 1 && own.children.some(({ name }) => tree.children.every((child) => child.name !== name))) {
    build.report(
      own,
      'choice',
      `${quoted(labelOf(own))} has several types; slice it by type before saying something about the elements below it.`,
    )
    return undefined
  }
  return { ...node, children: tree.children }
}

function canonicalBelow(code: string, types: readonly JsonObject[]): string {
  const [profile, ...others] = types.flatMap(profilesOf)
  return types.length > 1 || profile === undefined || others.length > 0 ? TYPE_URL + code : profile
}

async function treeBelow(build: Building, canonical: string, code: string): Promise<ElementNode | undefined> {
  const [url = '', id] = canonical.split('#')
  const tree = (await build.treeAt(url)) ?? (await build.treeAt(TYPE_URL + code))
  return tree === undefined || id === undefined ? tree : (nodeAt(tree, id) ?? tree)
}

/** The node with an id such as `Patient.name:official.family`. */
function nodeAt(tree: ElementNode, id: string): ElementNode | undefined {
  let node: ElementNode | undefined = tree
  for (const step of id.split('.').slice(1)) {
    const [name, slice] = step.split(':')
    node = node?.children.find((child) => child.name === name && child.sliceName === slice)
  }
  return node
}

/** The name of a type; for a FHIRPath type, the primitive type that an extension names. */
export function codeOf(type: JsonObject): string {
  const code = stringAt(type, 'code') ?? ''
  const fhirType = extensionAt(type, `${TYPE_URL}structuredefinition-fhir-type`)
  return stringAt(fhirType, 'valueUrl') ?? (code.startsWith(TYPE_URL) ? code.slice(TYPE_URL.length) : code)
}

/** The profiles of a type; for an element of a profile, the element's id is the fragment. */
function profilesOf(type: JsonObject): readonly string[] {
  const profiles = type['profile']
  const siblings = type['_profile']
  if (!Array.isArray(profiles)) return []
  return profiles.flatMap((profile: unknown, index) => {
    const sibling: unknown = Array.isArray(siblings) ? siblings[index] : undefined
    const extension = extensionAt(isObject(sibling) ? sibling : undefined, `${TYPE_URL}elementdefinition-profile-element`)
    const element = stringAt(extension, 'valueString')
    return typeof profile === 'string' ? [element === undefined ? profile : `${profile}#${element}`] : []
  })
}

/**
 * The ElementDefinition to which a differential is applied: that of the base, combined with the root of its type's profile if the type is Extension or
 * a resource type narrower than that of the base.
 */
async function startOf(build: Building, { name, element, sliceName }: ElementNode, own: JsonObject): Promise<JsonObject> {
  if (name === 'Extension' && element['type'] === undefined) return plainExtension(element)
  const [stated, known] = [objectsAt(own, 'type'), objectsAt(element, 'type')]
  const [type, ...others] = stated.length > 0 ? stated : known
  const [profile, ...more] = stated.flatMap(profilesOf)
  if (type === undefined || others.length > 0 || more.length > 0) return element
  const isExtension = codeOf(type) === 'Extension'
  if (profile === undefined) return isExtension && known.flatMap(profilesOf).length === 0 ? plainExtension(element) : element
  if (!isExtension && known.some((one) => codeOf(one) === codeOf(type))) return element
  const root = (await build.treeAt(profile))?.element
  if (root === undefined) return element
  return isExtension ? filledFrom(root, { ...without(element, ...TEXTS), sliceName }) : asResource(element, root)
}

/** An element that contains a resource takes its texts from the root of the resource's profile. */
function asResource(element: JsonObject, root: JsonObject): JsonObject {
  return { ...without(element, ...TEXTS), ...Object.fromEntries(Object.entries(root).filter(([member]) => OF_RESOURCES.has(member))) }
}

const TEXTS = ['short', 'definition', 'comment', 'requirements', 'alias', 'mapping']
const OF_RESOURCES: ReadonlySet<string> = new Set([...TEXTS, 'isSummary'])

/** An extension without a profile has only generic texts, whatever the texts of the base. */
function plainExtension(element: JsonObject): JsonObject {
  return { ...without(element, ...TEXTS), short: 'Extension', definition: 'An Extension' }
}
