import type { ContentLayer } from '../content/index.js'
import type { TypeModel } from '../fhirpath/index.js'
import { crossVersionLayer } from './cross-version-layer.js'
import { isObject, stringAt } from '../json/index.js'
import { FORMAT, type ElementsOfRelease, type ReleaseElements } from './elements.js'

/** A FHIR release other than R4, for extensions with its elements: an item of `crossVersion` of `createContext`. */
export interface OtherRelease extends ElementsOfRelease {
  /** The definitions of all extensions with its elements, each made when it is asked for. */
  readonly extensions: (types: TypeModel) => ContentLayer
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
