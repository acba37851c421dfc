import { definitionOf, type ContentLayer } from '../content/index.js'
import type { TypeModel } from '../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../json/index.js'
import { FORMAT, type ElementsOfRelease, type ReleaseElements, type OtherElement } from './release-elements.js'

/** An element of one release that another release represents as an extension. */
export interface ExtensionElement {
  /** `5.0` */
  readonly release: string
  /** `Appointment` */
  readonly type: string
  /** `Appointment.status` */
  readonly path: string
}

const URL_FORM = /^http:\/\/hl7\.org\/fhir\/(\d+\.\d+)\/StructureDefinition\/extension-(([A-Za-z][A-Za-z0-9]*)(?:\.[A-Za-z0-9[\]]+)+)$/

/**
 * Returns the element that the URL of a cross-version extension refers to; `undefined` for other URLs.
 *
 * @see https://hl7.org/fhir/R4/versions.html#extensions
 */
export function extensionElement(url: string): ExtensionElement | undefined {
  const [whole, release = '', path = '', type = ''] = URL_FORM.exec(url) ?? []
  return whole === undefined ? undefined : { release, type, path }
}

/** A FHIR release other than R4 whose elements may be used as extensions: an item of the option `crossVersion` of `createContext`. */
export interface OtherRelease extends ElementsOfRelease {
  /** Layer with the definitions of the extensions for its elements; each is created on request. */
  readonly extensions: (types: TypeModel) => ContentLayer
}

/**
 * Describes another FHIR release by its elements.
 *
 * @param release The number in the URLs of its extensions: `5.0`.
 * @param read Returns the result of `releaseElements`, as parsed JSON. Called when an extension of the release first occurs.
 * @throws {TypeError} at that first use, if `read` returns anything else, or the elements of another release.
 */
export function otherRelease(release: string, read: () => unknown): OtherRelease {
  let known: ReleaseElements | undefined
  let inner: ReadonlyMap<string, readonly string[]> | undefined
  const table = (): ReleaseElements => (known ??= checked(read(), release))
  const other: ElementsOfRelease = {
    release,
    source: () => table().source,
    element: (path) => own(table().elements, path.replaceAll('[x]', '')),
    within: (path) => (inner ??= namesWithin(table())).get(path) ?? [],
    codes: (valueSet) => own(table().valueSets, valueSet),
  }
  return { ...other, extensions: (types) => crossVersionLayer(other, types) }
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}

function checked(table: unknown, release: string): ReleaseElements {
  if (!isReleaseElements(table)) throw new TypeError(`The elements of FHIR ${release} are not in the format "${FORMAT}".`)
  if (table.release !== release) throw new TypeError(`The elements are those of FHIR ${table.release}, not of ${release}.`)
  return table
}

function isReleaseElements(table: unknown): table is ReleaseElements {
  return (
    isObject(table) &&
    stringAt(table, 'source') !== undefined &&
    table['format'] === FORMAT &&
    stringAt(table, 'release') !== undefined &&
    isObject(table['elements']) &&
    isObject(table['valueSets'])
  )
}

function namesWithin({ elements }: ReleaseElements): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  for (const path of Object.keys(elements)) {
    const end = path.lastIndexOf('.')
    const outer = path.slice(0, end)
    const found = names.get(outer)
    if (found === undefined) names.set(outer, [path.slice(end + 1)])
    else found.push(path.slice(end + 1))
  }
  return names
}

/** A layer with the definitions of the extensions for a release's elements, and the value sets that they are bound to; each is created on request. */
function crossVersionLayer(other: ElementsOfRelease, types: TypeModel): ContentLayer {
  const made = (type: string, url: string): JsonObject | undefined => {
    if (type === 'StructureDefinition') return madeExtension(other, types, url)
    const [, release, kind, name = ''] = CODES.exec(url) ?? []
    return release === other.release && kind === type ? madeCodes(other, type, name) : undefined
  }
  return {
    find: (type, by, value) => {
      const resource = by === 'url' ? made(type, value) : undefined
      const definition = resource && definitionOf(resource, `${other.source()}:${value}`)
      return Promise.resolve(definition === undefined ? [] : [definition])
    },
    // As with implicit value sets, definitions exist only on request.
    all: () => Promise.resolve([]),
    revision: () => 0,
  }
}

function madeExtension(other: ElementsOfRelease, types: TypeModel, url: string): JsonObject | undefined {
  const element = extensionElement(url)
  if (element?.release !== other.release) return undefined
  return extensionDefinition({ other, types }, { url, path: element.path.replaceAll('[x]', '') })
}

const CODES = /^http:\/\/hl7\.org\/fhir\/(\d\.\d)\/(ValueSet|CodeSystem)\/([^/]+)$/

/** Creates a value set of another release, or the code system that defines its codes. */
function madeCodes(other: ElementsOfRelease, type: string, name: string): JsonObject | undefined {
  const codes = other.codes(`http://hl7.org/fhir/ValueSet/${name}`)
  if (codes === undefined) return undefined
  const url = valueSetUrl(other.release, name)
  const system = url.replace('/ValueSet/', '/CodeSystem/')
  const common = { resourceType: type, version: other.release, name, title: `${name} of FHIR ${other.release}`, status: 'active' }
  const concept = codes.map((code) => ({ code }))
  return type === 'ValueSet'
    ? { ...common, url, compose: { include: [{ system }] } }
    : { ...common, url: system, valueSet: url, caseSensitive: true, content: 'complete', concept }
}

const R4 = 'http://hl7.org/fhir/StructureDefinition/'

/** Input for the definitions of extensions. */
interface Making {
  readonly other: ElementsOfRelease
  /** The types of R4. */
  readonly types: TypeModel
}

/**
 * Creates the definition of the extension for an element of another release: with a value of the element's type, or a part for each child element.
 *
 * @returns `undefined` if the release has no such element. The definition has no `context`: it does not state where the extension may be used.
 * @see https://hl7.org/fhir/R4/versions.html#extensions
 */
function extensionDefinition(making: Making, { url, path }: { readonly url: string; readonly path: string }): JsonObject | undefined {
  const { other } = making
  const element = other.element(path)
  if (element === undefined) return undefined
  const root = { id: 'Extension', path: 'Extension', max: element.max ?? '1', ...(element.modifier === true && { isModifier: true }) }
  const form = formOf(making, path, element, [])
  return {
    resourceType: 'StructureDefinition',
    url,
    version: other.release,
    name: `Extension${other.release.replace('.', '')}${path.replaceAll('.', '')}`,
    title: `${path} of FHIR ${other.release}`,
    status: 'active',
    fhirVersion: '4.0.1',
    kind: 'complex-type',
    abstract: false,
    type: 'Extension',
    baseDefinition: `${R4}Extension`,
    derivation: 'constraint',
    differential: { element: [root, ...elementsOf({ id: 'Extension', path: 'Extension' }, url, form)] },
  }
}

/** Content of an extension: a value of one of these types, these parts (nested extensions), or either. */
interface Form {
  readonly values: readonly JsonObject[]
  readonly binding?: JsonObject | undefined
  readonly parts: readonly Part[]
  /** True if the content is not constrained. */
  readonly isOpen: boolean
}

interface Part {
  readonly name: string
  readonly element: OtherElement
  readonly form: Form
}

const OPEN: Form = { values: [], parts: [], isOpen: true }

/** @param outer Paths of the enclosing elements. An element that leads back to one of them is left open, so that the definition is finite. */
function formOf(making: Making, path: string, element: OtherElement, outer: readonly string[]): Form {
  const { other, types } = making
  if (outer.includes(path)) return OPEN
  const inside = [...outer, path]
  const partsAt = (holder: string): readonly Part[] =>
    inside.includes(holder) && holder !== path
      ? []
      : other.within(holder).flatMap((name) => {
          const part = other.element(`${holder}.${name}`)
          return part === undefined
            ? []
            : partsFor({ name, element: part, form: formOf(making, `${holder}.${name}`, part, [...inside, holder]) })
        })
  if (element.ref !== undefined) return partsForm(partsAt(element.ref))
  const [values, strangers] = [new Map<string, JsonObject>(), new Set<string>()]
  for (const text of element.types ?? []) {
    const type = typeNamed(text)
    const stated = valueTypes(types, type)
    if (stated.length === 0 || type.code === REFERENCE_TO_CONCEPT) strangers.add(type.code)
    for (const value of stated) values.set(String(value['code']), value)
  }
  if (element.types === undefined) return partsForm(partsAt(path))
  const parts = [...strangers].flatMap(partsAt)
  if (values.size === 0) return parts.length === 0 ? OPEN : { ...partsForm(parts), parts: [...parts, DATATYPE] }
  return { values: [...values.values()], binding: bindingOf(other, element), parts: parts.map(optional), isOpen: false }
}

/** A choice element is a part under two names: `value`, and `value[x]` as in definitions. */
function partsFor(part: Part): readonly Part[] {
  const isChoice = (part.element.types?.length ?? 0) > 1
  return isChoice ? [part, { ...part, name: `${part.name}[x]` }].map(optional) : [part]
}

function partsForm(parts: readonly Part[]): Form {
  return parts.length === 0 ? OPEN : { values: [], parts, isOpen: false }
}

function optional(part: Part): Part {
  return { ...part, element: { ...part.element, min: 0 } }
}

/** Part that names the type which the other parts represent. */
const DATATYPE: Part = {
  name: '_datatype',
  element: {},
  form: { values: [{ code: 'string' }], parts: [], isOpen: false },
}

interface NamedType {
  readonly code: string
  readonly targets: readonly string[]
}

function typeNamed(text: string): NamedType {
  const [code = '', targets = ''] = text.replace(')', '').split('(')
  return { code, targets: targets === '' ? [] : targets.split('|') }
}

/** R5's type for a concept or a reference. Its value may also be a CodeableConcept or a Reference. */
const REFERENCE_TO_CONCEPT = 'CodeableReference'

/** Types that R4 lacks, with the R4 types that may hold their values. */
const REPLACED: ReadonlyMap<string, readonly string[]> = new Map([
  ['integer64', ['integer', 'positiveInt', 'unsignedInt', 'decimal', 'string']],
  [REFERENCE_TO_CONCEPT, ['CodeableConcept', 'Reference']],
])

/** Value types of an R4 extension that can hold a value of the type; empty if the extension has parts instead. */
function valueTypes(types: TypeModel, { code, targets }: NamedType): readonly JsonObject[] {
  const slots = types.type('Extension')?.elements.get('value') ?? []
  const known = targets.filter((target) => types.type(target) !== undefined)
  // If R4 lacks one of the target types, the reference points to a Basic instead, so the targets are not restricted.
  const targetProfile = known.length < targets.length ? undefined : known.map((target) => R4 + target)
  return [code, ...(REPLACED.get(code) ?? [])]
    .filter((type) => slots.some((slot) => slot.type === type))
    .map((type) => ({
      code: type,
      ...((type === 'Reference' || type === 'canonical') && targetProfile !== undefined && targetProfile.length > 0 && { targetProfile }),
    }))
}

/** URL of a value set that extensions are bound to. Names the release, because R4 uses the same URLs as other releases for other codes. */
function valueSetUrl(release: string, url: string): string {
  return `http://hl7.org/fhir/${release}/ValueSet/${url.slice(url.lastIndexOf('/') + 1)}`
}

function bindingOf(other: ElementsOfRelease, { codes }: OtherElement): JsonObject | undefined {
  return codes === undefined ? undefined : { strength: 'required', valueSet: valueSetUrl(other.release, codes) }
}

interface Place {
  readonly id: string
  readonly path: string
}

const BY_URL = { discriminator: [{ type: 'value', path: 'url' }], rules: 'open' }

/** The element definitions of an extension, or of one of its parts, at a place. */
function elementsOf(at: Place, url: string, { values, parts, binding, isOpen }: Form): readonly JsonObject[] {
  const inner = (name: string): Place => ({ id: `${at.id}.${name}`, path: `${at.path}.${name}` })
  const fixed = { ...inner('url'), fixedUri: url }
  if (isOpen) return [fixed]
  if (parts.length === 0) {
    const value = { ...inner('value[x]'), min: 1, type: values, ...(binding !== undefined && { binding }) }
    return [{ ...inner('extension'), max: '0' }, fixed, value]
  }
  const value = values.length === 0 ? { ...inner('value[x]'), max: '0' } : { ...inner('value[x]'), type: values }
  return [{ ...inner('extension'), slicing: BY_URL }, ...parts.flatMap((part) => partOf(inner('extension'), part)), fixed, value]
}

function partOf(at: Place, { name, element: { min = 0, max = '1' }, form }: Part): readonly JsonObject[] {
  const place = { id: `${at.id}:${name}`, path: at.path }
  return [{ ...place, sliceName: name, min, max }, ...elementsOf(place, name, form)]
}
