import { isObject, stringAt, type JsonObject } from '../json/index.js'

/** The format that `releaseElements` writes and `otherRelease` reads. */
export const FORMAT = 'fhir-ops-release-elements 1'

/** The elements of a FHIR release, as JSON: what extensions for them are made of. */
export interface ReleaseElements extends JsonObject {
  readonly format: typeof FORMAT
  /** The number in the urls of extensions: `5.0`. */
  readonly release: string
  /** What they were made from: `hl7.fhir.r5.core#5.0.0`. */
  readonly source: string
  /** By path, without `[x]`, those inside of an element after it. */
  readonly elements: Readonly<Record<string, OtherElement>>
  /** The codes of value sets that elements of type `code` are bound to, by url without version. */
  readonly valueSets: Readonly<Record<string, readonly string[]>>
}

/** An element of another release, as far as an extension for it follows from it. */
export interface OtherElement extends JsonObject {
  /** Default 0. */
  readonly min?: number
  /** Default `1`. */
  readonly max?: string
  /** `['code']`, `['Reference(Patient|Group)', 'string']`; absent for what has elements of its own. */
  readonly types?: readonly string[]
  /** The path of the element whose elements it has too. */
  readonly ref?: string
  readonly modifier?: boolean
  /** A key of `valueSets`. */
  readonly codes?: string
}

/** A FHIR release other than R4, for extensions with its elements: an item of `crossVersion` of `createContext`. */
export interface OtherRelease {
  /** The number in the urls of extensions: `5.0`. */
  readonly release: string
  /** By path, with or without `[x]`; `undefined` where the release has no such element. */
  readonly element: (path: string) => OtherElement | undefined
  /** The names of the elements inside of another one or of a type, in their order. */
  readonly within: (path: string) => readonly string[]
  /** The codes of a value set; `undefined` where they are not known. */
  readonly codes: (valueSet: string) => readonly string[] | undefined
}

/**
 * A release from its elements.
 *
 * @param release The number in the urls of extensions: `5.0`.
 * @param read Gives what `releaseElements` made, as parsed JSON. It is called when an extension of the release is met first.
 * @throws {TypeError} at that first use, for anything else, and for the elements of another release.
 */
export function otherRelease(release: string, read: () => unknown): OtherRelease {
  let known: ReleaseElements | undefined
  let inner: ReadonlyMap<string, readonly string[]> | undefined
  const table = (): ReleaseElements => (known ??= checked(read(), release))
  return {
    release,
    element: (path) => own(table().elements, path.replaceAll('[x]', '')),
    within: (path) => (inner ??= namesWithin(table())).get(path) ?? [],
    codes: (valueSet) => own(table().valueSets, valueSet),
  }
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
