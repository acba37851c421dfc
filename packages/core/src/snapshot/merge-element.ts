import { isObject, isString, objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { TYPE_URL } from '../text/index.js'

/**
 * Merges an element of a differential into that of the base. Its members replace those of the base, except for lists that are combined.
 *
 * @param url The `source` of its constraints that state none; if `undefined`, they stay without one.
 */
export function mergedElement(base: JsonObject, own: JsonObject, url?: string): JsonObject {
  const merged = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(own)) {
    if (OWN.has(name) || (name === 'isModifier' && base[name] === true)) continue
    const known = merged.get(name)
    const union = UNIONS.get(name)
    if (PARTS.has(name) && isObject(known) && isObject(value))
      merged.set(name, { ...(name === 'binding' ? boundTo(known) : known), ...value })
    else merged.set(name, TEXTS.has(name) ? textOf(known, value) : union === undefined ? value : union(base, own))
    if (VALUE.test(name)) dropOthers(merged, name)
  }
  if (own['constraint'] !== undefined) merged.set('constraint', constraintsOf(base, own, url))
  return Object.fromEntries(merged)
}

/** Members that follow from the element's position. Like these, `isModifier: true` of the base cannot be overridden. */
const OWN: ReadonlySet<string> = new Set(['id', 'path', 'sliceName'])

/** Objects of which a differential may state a part. */
const PARTS: ReadonlySet<string> = new Set(['slicing', 'binding'])

/** What a binding keeps of that of the base where it does not say it itself. */
function boundTo({ strength, valueSet }: JsonObject): JsonObject {
  return { ...(strength !== undefined && { strength }), ...(valueSet !== undefined && { valueSet }) }
}

/** Texts that may begin with `...` to continue the text of the base. */
const TEXTS: ReadonlySet<string> = new Set(['short', 'label', 'definition', 'comment', 'requirements', 'meaningWhenMissing'])

function textOf(base: unknown, own: unknown): unknown {
  if (!isString(own) || !own.startsWith('...')) return own
  const rest = own.slice(3)
  return isString(base) ? `${base}\r\n${rest}` : rest
}

/** Members that are choices: one replaces another with the same stem. */
const VALUE = /^(?:fixed|pattern|minValue|maxValue|defaultValue)[A-Z]/

function dropOthers(merged: Map<string, unknown>, name: string): void {
  const stem = /^(?:fixed|pattern|minValue|maxValue|defaultValue)/.exec(name)?.[0] ?? name
  for (const other of merged.keys()) if (other !== name && other.startsWith(stem) && VALUE.test(other)) merged.delete(other)
}

type Union = (base: JsonObject, own: JsonObject) => readonly unknown[]

/** Lists to which a differential adds items. */
const UNIONS: ReadonlyMap<string, Union> = new Map<string, Union>([
  ...['alias', 'condition', 'representation'].map((name): [string, Union] => [name, (base, own) => plainUnion(base, own, name)]),
  ['code', keyed('code', (item) => `${stringAt(item, 'system')}|${stringAt(item, 'code')}`)],
  ['mapping', keyed('mapping', (item) => `${stringAt(item, 'identity')}|${stringAt(item, 'map')}`)],
  ['extension', keyed('extension', extensionKey)],
  ['example', keyed('example', (item) => stringAt(item, 'label') ?? '')],
])

function keyed(name: string, keyOf: Keyed['keyOf']): Union {
  return (base, own) => keyedUnion(base, own, { name, keyOf })
}

/** Extensions that may occur several times; any other extension occurs once. */
const REPEATED: ReadonlySet<string> = new Set(['http://hl7.org/fhir/StructureDefinition/obligation'])

function extensionKey(extension: JsonObject): string {
  const url = stringAt(extension, 'url') ?? ''
  return REPEATED.has(url) ? JSON.stringify(extension) : url
}

/** Extensions that describe the element in its own definition and are not inherited by profiles. */
const NOT_INHERITED: ReadonlySet<unknown> = new Set(
  [
    'standards-status',
    'standards-status-reason',
    'normative-version',
    'fmm',
    'fmm-no-warnings',
    'wg',
    'summary',
    'hierarchy',
    'explicit-type-name',
  ].map((name) => `${TYPE_URL}structuredefinition-${name}`),
)

function plainUnion(base: JsonObject, own: JsonObject, name: string): readonly unknown[] {
  return [...new Set([...listAt(base, name), ...listAt(own, name)])]
}

interface Keyed {
  readonly name: string
  readonly keyOf: (item: JsonObject) => string
}

/** Combines two lists; an item of the differential replaces the item of the base with the same key. */
function keyedUnion(base: JsonObject, own: JsonObject, { name, keyOf }: Keyed): readonly unknown[] {
  const mine = new Map(objectsAt(own, name).map((item) => [keyOf(item), item]))
  const kept = objectsAt(base, name).filter((item) => !mine.has(keyOf(item)))
  return [...kept, ...objectsAt(own, name)]
}

function listAt(element: JsonObject, name: string): readonly unknown[] {
  const list = element[name]
  return Array.isArray(list) ? list : []
}

/**
 * Combines the constraints. Each states its origin in `source`, which is the profile's url for its own constraints. One of the base with the same key
 * stays, because a profile takes none away; it may only make a warning an error.
 */
function constraintsOf(base: JsonObject, own: JsonObject, url: string | undefined): readonly JsonObject[] {
  const inherited = objectsAt(base, 'constraint')
  const keys = new Set(inherited.map(({ key }) => key))
  const known = new Map(inherited.map((constraint) => [identityOf(constraint), constraint]))
  const mine = objectsAt(own, 'constraint').filter((constraint) => {
    const same = known.get(identityOf(constraint))
    return same === undefined ? !keys.has(constraint['key']) : constraint['severity'] === 'error' || same['severity'] !== 'error'
  })
  const replaced = new Set(mine.map(identityOf))
  const kept = inherited.filter((constraint) => !replaced.has(identityOf(constraint)))
  return [...kept, ...mine.map((constraint) => withSource(constraint, url))]
}

/** Keys of constraints that are left out, because the base has them with other expressions. */
export function lostConstraints(base: JsonObject, own: JsonObject): readonly string[] {
  const inherited = objectsAt(base, 'constraint')
  const known = new Set(inherited.map(identityOf))
  const keys = new Set(inherited.map(({ key }) => key))
  return objectsAt(own, 'constraint').flatMap((constraint) => {
    const key = stringAt(constraint, 'key')
    return key !== undefined && keys.has(key) && !known.has(identityOf(constraint)) ? [key] : []
  })
}

function identityOf({ key, expression }: JsonObject): string {
  return JSON.stringify([key, expression])
}

function withSource(constraint: JsonObject, url: string | undefined): JsonObject {
  return url === undefined || constraint['source'] !== undefined ? constraint : { ...constraint, source: url }
}

/** Adds `base`, the path and cardinality where the element was first defined. */
export function withBase(element: JsonObject, path: string): JsonObject {
  return element['base'] === undefined ? { ...element, base: { path, min: element['min'], max: element['max'] } } : element
}

/** The form of an element that other definitions inherit: with `base`, and with the source of its constraints. */
export function inheritedElement(element: JsonObject, { url, path }: { readonly url: string; readonly path: string }): JsonObject {
  const constraints = objectsAt(element, 'constraint')
  const inherited = withBase(element, path)
  return constraints.length === 0 ? inherited : { ...inherited, constraint: constraints.map((constraint) => withSource(constraint, url)) }
}

/** The form of an inherited element in profiles: without what is about the original definition and its base, and with absolute links. */
export function forProfiles(element: JsonObject, url: string): JsonObject {
  const adapted: Record<string, unknown> = without(element, 'extension', 'sliceIsConstraining')
  const kept = objectsAt(element, 'extension').filter((one) => !NOT_INHERITED.has(one['url']))
  if (kept.length > 0) adapted['extension'] = kept
  const binding = objectAt(element, 'binding')
  if (binding?.['extension'] !== undefined) adapted['binding'] = withoutCommonBinding(binding)
  return url.startsWith(TYPE_URL) ? withAbsoluteLinks(adapted) : adapted
}

/** Profiles do not inherit the extension that marks a binding as common to several elements. */
function withoutCommonBinding(binding: JsonObject): JsonObject {
  const kept = objectsAt(binding, 'extension').filter(({ url }) => url !== `${TYPE_URL}elementdefinition-isCommonBinding`)
  const rest = without(binding, 'extension')
  return kept.length === 0 ? rest : { ...rest, extension: kept }
}

/** Makes links of FHIR's own definitions absolute: to pages of the specification, `[Extensibility](extensibility.html)`, and to elements, `#Bundle.link`. */
function withAbsoluteLinks(element: JsonObject): JsonObject {
  const changed: Record<string, unknown> = { ...element }
  for (const name of LINKED) if (isString(changed[name])) changed[name] = absoluteLinks(changed[name])
  const reference = stringAt(element, 'contentReference')
  if (reference?.startsWith('#') === true) changed['contentReference'] = TYPE_URL + (reference.slice(1).split('.', 1)[0] ?? '') + reference
  return changed
}

const LINKED = ['definition', 'comment', 'requirements', 'meaningWhenMissing']
const RELEASE_URL = 'http://hl7.org/fhir/R4/'

function absoluteLinks(text: string): string {
  return text.replaceAll(/\]\((?=[a-z][\w-]*\.html)/g, `](${RELEASE_URL}`)
}

/** Fills the root of an extension with the members that only the element that uses the extension states. */
export function filledFrom(root: JsonObject, usage: JsonObject): JsonObject {
  const filled: Record<string, unknown> = without(root, 'sliceName', 'slicing', 'condition', 'constraint')
  for (const [name, value] of Object.entries(usage))
    if (filled[name] === undefined && (FILLED.has(name) || VALUE.test(name))) filled[name] = value
  const constraints = keyedUnion(root, usage, { name: 'constraint', keyOf: (item) => stringAt(item, 'key') ?? '' })
  const extensions = keyedUnion(usage, root, { name: 'extension', keyOf: extensionKey })
  return {
    ...filled,
    ...(constraints.length > 0 && { constraint: constraints }),
    ...(extensions.length > 0 && { extension: extensions }),
    base: usage['base'],
  }
}

const FILLED: ReadonlySet<string> = new Set([
  'sliceName',
  'label',
  'code',
  'min',
  'max',
  'type',
  'maxLength',
  'mustSupport',
  'isSummary',
  'binding',
])

/** The element without some members. */
export function without(element: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(element).filter(([name]) => !names.includes(name)))
}
