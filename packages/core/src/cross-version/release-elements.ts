import { checkOptions, inputShape, needed, TEXT, type InputShape } from '../input/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'

/** The format that `releaseElements` writes and `otherRelease` reads. */
export const FORMAT = 'fhir-ops-release-elements 1'

/** The elements of a FHIR release, as JSON: the basis of the extensions for them. */
export interface ReleaseElements extends JsonObject {
  readonly format: typeof FORMAT
  /** The number in the URLs of extensions: `5.0`. */
  readonly release: string
  /** Origin of the elements: `hl7.fhir.r5.core#5.0.0`. */
  readonly source: string
  /** By path, without `[x]`; an element precedes its child elements. */
  readonly elements: Readonly<Record<string, OtherElement>>
  /** Codes of the value sets that elements of type `code` are bound to, by URL without version. */
  readonly valueSets: Readonly<Record<string, readonly string[]>>
}

/** The parts of an element of another release that determine its extension. */
export interface OtherElement extends JsonObject {
  /** Default 0. */
  readonly min?: number
  /** Default `1`. */
  readonly max?: string
  /** `['code']`, `['Reference(Patient|Group)', 'string']`; absent for elements with child elements of their own. */
  readonly types?: readonly string[]
  /** Path of the element whose child elements it shares. */
  readonly ref?: string
  readonly modifier?: boolean
  /** A key of `valueSets`. */
  readonly codes?: string
}

/** Access to the elements of a release other than R4. */
export interface ElementsOfRelease {
  /** The number in the URLs of extensions: `5.0`. */
  readonly release: string
  /** Origin of the elements: `hl7.fhir.r5.core#5.0.0`. */
  readonly source: () => string
  /** An element by path, with or without `[x]`; `undefined` if the release has no such element. */
  readonly element: (path: string) => OtherElement | undefined
  /** Names of the child elements of an element or a type, in order. */
  readonly within: (path: string) => readonly string[]
  /** The codes of a value set; `undefined` if they are unknown. */
  readonly codes: (valueSet: string) => readonly string[] | undefined
}

/** Options of `releaseElements`. */
interface ReleaseElementsOptions {
  /** The number in the URLs of extensions: `5.0`. */
  readonly release: string
  /** Origin of the definitions: `hl7.fhir.r5.core#5.0.0`. */
  readonly source: string
}

const SHAPE: InputShape = inputShape<ReleaseElementsOptions>({ release: needed(TEXT), source: needed(TEXT) })

/** Child elements of every element and resource. They need no extension, and would make the table three times as long. */
const EVERYWHERE = new Set(['id', 'extension', 'modifierExtension'])

/**
 * Extracts the elements of a FHIR release from its definitions (STU3 and later), for `otherRelease`.
 *
 * @param definitions The StructureDefinitions of its types with their snapshots, and the ValueSets and CodeSystems that their `code` elements are bound to.
 *   Other resources, including profiles, are ignored.
 * @throws {TypeError} if no definition is a type with a snapshot, and for an option that is unknown, missing or of another type.
 */
export function releaseElements(definitions: Iterable<object>, options: ReleaseElementsOptions): ReleaseElements {
  checkOptions('releaseElements', SHAPE, options)
  const { release, source } = options
  const resources = [...definitions].filter(isObject)
  const elements: Record<string, OtherElement> = {}
  const bound = new Map<string, string>()
  for (const type of resources.filter(isType)) {
    for (const element of objectsAt(objectAt(type, 'snapshot'), 'element')) {
      const path = (stringAt(element, 'path') ?? '').replaceAll('[x]', '')
      const name = path.slice(path.lastIndexOf('.') + 1)
      if (!path.includes('.') || EVERYWHERE.has(name)) continue
      elements[path] = elementOf(element)
      const valueSet = requiredValueSet(element)
      if (valueSet !== undefined) bound.set(path, valueSet)
    }
  }
  if (Object.keys(elements).length === 0)
    throw new TypeError('There is no StructureDefinition of a type, with a snapshot, among the definitions.')
  const valueSets = codesOfValueSets(resources, new Set(bound.values()))
  for (const [path, valueSet] of bound) if (valueSets[valueSet] !== undefined) elements[path] = { ...elements[path], codes: valueSet }
  return { format: FORMAT, release, source, elements, valueSets }
}

function isType(resource: JsonObject): boolean {
  return resource['resourceType'] === 'StructureDefinition' && resource['derivation'] !== 'constraint' && resource['kind'] !== 'logical'
}

function elementOf(element: JsonObject): OtherElement {
  const { min, max, contentReference } = element
  const types = typesOf(element)
  return {
    ...(typeof min === 'number' && min > 0 && { min }),
    ...(typeof max === 'string' && max !== '1' && { max }),
    ...(types.length > 0 && { types }),
    ...(typeof contentReference === 'string' && { ref: contentReference.slice(contentReference.indexOf('#') + 1) }),
    ...(element['isModifier'] === true && { modifier: true }),
  }
}

/** Types of elements with child elements of their own. */
const NESTED = new Set(['BackboneElement', 'Element'])
const SYSTEM = 'http://hl7.org/fhirpath/'

function typesOf(element: JsonObject): readonly string[] {
  const targets = new Map<string, Set<string>>()
  for (const type of objectsAt(element, 'type')) {
    const code = stringAt(type, 'code')
    if (code === undefined || NESTED.has(code) || code.startsWith(SYSTEM)) continue
    const known = targets.get(code) ?? new Set<string>()
    for (const target of textsOf(type['targetProfile'])) known.add(target.slice(target.lastIndexOf('/') + 1))
    targets.set(code, known)
  }
  return [...targets].map(([code, known]) => (known.size === 0 ? code : `${code}(${[...known].join('|')})`))
}

/** The strings of a `targetProfile`: a single value in STU3, a list in later releases. */
function textsOf(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((one) => typeof one === 'string')
}

/** The value set, without version, that a `code` must be from. */
function requiredValueSet(element: JsonObject): string | undefined {
  const binding = objectAt(element, 'binding')
  const isCode = objectsAt(element, 'type').every(({ code }) => code === 'code')
  if (!isCode || stringAt(binding, 'strength') !== 'required') return undefined
  const url =
    stringAt(binding, 'valueSet') ?? stringAt(binding, 'valueSetUri') ?? stringAt(objectAt(binding, 'valueSetReference'), 'reference')
  return url?.split('|', 1)[0]
}

/** Longer lists of codes, such as those of all units or currencies, are omitted. */
const MOST_CODES = 500

/** Codes of value sets, by URL. Value sets whose codes are not all in the definitions are omitted. */
function codesOfValueSets(resources: readonly JsonObject[], urls: ReadonlySet<string>): Record<string, readonly string[]> {
  const [systems, valueSets] = ['CodeSystem', 'ValueSet'].map((type) => byUrl(resources, type))
  const found: Record<string, readonly string[]> = {}
  for (const url of [...urls].toSorted()) {
    const codes = codesOf(valueSets?.get(url), systems ?? new Map())
    if (codes !== undefined && codes.length > 0 && codes.length <= MOST_CODES) found[url] = codes
  }
  return found
}

function byUrl(resources: readonly JsonObject[], type: string): ReadonlyMap<string, JsonObject> {
  const found = resources.filter(({ resourceType }) => resourceType === type)
  return new Map(
    found.flatMap((resource) => (stringAt(resource, 'url') === undefined ? [] : [[stringAt(resource, 'url') ?? '', resource]])),
  )
}

function codesOf(valueSet: JsonObject | undefined, systems: ReadonlyMap<string, JsonObject>): readonly string[] | undefined {
  const compose = objectAt(valueSet, 'compose')
  const includes = objectsAt(compose, 'include')
  if (includes.length === 0 || objectsAt(compose, 'exclude').length > 0) return undefined
  const codes: string[] = []
  for (const include of includes) {
    const included = codesIncluded(include, systems)
    if (included === undefined) return undefined
    codes.push(...included)
  }
  return [...new Set(codes)]
}

function codesIncluded(include: JsonObject, systems: ReadonlyMap<string, JsonObject>): readonly string[] | undefined {
  if (include['filter'] !== undefined || include['valueSet'] !== undefined) return undefined
  const listed = objectsAt(include, 'concept')
  if (listed.length > 0) return listed.flatMap((concept) => stringAt(concept, 'code') ?? [])
  const system = systems.get(stringAt(include, 'system') ?? '')
  return system?.['content'] === 'complete' ? allCodes(system) : undefined
}

function allCodes(system: JsonObject): readonly string[] {
  const codes: string[] = []
  const open: JsonObject[] = [system]
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const concept of objectsAt(holder, 'concept').filter(isObject)) {
      codes.push(stringAt(concept, 'code') ?? '')
      open.push(concept)
    }
  }
  return codes
}
