import { quoted } from '../errors/index.js'
import { extensionAt, isObject, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { TYPE_URL } from '../text/index.js'
import { labelOf, type Building, type ElementNode } from './element-tree.js'
import { filledFrom, without } from './merge-element.js'

/**
 * Adds the child elements of an element at which the snapshot ends: those of the target of its contentReference, else those of its type or of the type's
 * profile. Reports a problem and returns `undefined` if they are unknown.
 *
 * @param own The node of the differential that needs them.
 */
export async function expandElement(build: Building, node: ElementNode, own: ElementNode): Promise<ElementNode | undefined> {
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
export async function startOf(build: Building, { name, element, sliceName }: ElementNode, own: JsonObject): Promise<JsonObject> {
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
