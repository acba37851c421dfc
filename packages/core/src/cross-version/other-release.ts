import { definitionOf, type ContentLayer } from '../content/index.js'
import type { TypeModel } from '../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../json/index.js'
import { extensionDefinition, valueSetUrl } from './extension-definition.js'
import { FORMAT, type ElementsOfRelease, type ReleaseElements } from './release-elements.js'

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
