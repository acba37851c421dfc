import {
  canonicalOf,
  formatCanonical,
  keptWhile,
  type ContentLayer,
  type Definition,
  type DefinitionKey,
  type Kept,
  type RequestDefinitions,
  type Revised,
} from './layers.js'

/** All definitions that one request sees. A definition of an upper layer hides those of lower layers with the same url and version. */
export interface ContentView {
  /** Returns all visible definitions of the type with `value` under the key `by`, upper layers first. */
  find(type: string, by: DefinitionKey, value: string): Promise<readonly Definition[]>
  /** Returns all visible definitions of the type, upper layers first; `undefined` where a layer cannot list its definitions. */
  all(type: string): Promise<readonly Definition[] | undefined>
  /** Returns the definition with exactly this url and version; without `version`, the newest as by `newestOf`. */
  resolve(type: string, url: string, version?: string): Promise<Definition | undefined>
  /** Returns this view with a further layer on top. */
  with(layer: ContentLayer): ContentView
  /** Returns the kept results for the current definitions; `undefined` where changes to definitions cannot be detected. */
  readonly kept?: () => Kept | undefined | Promise<Kept>
  /** The view without the definitions of the request, and which those are; absent when the request has none. */
  readonly below?: { readonly view: ContentView; readonly fromRequest: RequestDefinitions }
}

/**
 * Creates a view over layers, the uppermost first.
 *
 * @param others Further sources that answers depend on; `kept` becomes empty when one of them changes.
 */
export function contentView(layers: readonly ContentLayer[], others: readonly Revised[] = []): ContentView {
  const find = async (type: string, by: DefinitionKey, value: string): Promise<readonly Definition[]> => {
    const found = await Promise.all(layers.map((layer) => layer.find(type, by, value)))
    return unhidden(releaseLast(found.flat()))
  }
  const view: ContentView = {
    find,
    async all(type) {
      const found = await Promise.all(layers.map(async (layer) => layer.all?.(type)))
      return found.includes(undefined) ? undefined : unhidden(releaseLast(found.flatMap((some) => some ?? [])))
    },
    async resolve(type, url, version) {
      const versions = await find(type, 'url', url)
      return version === undefined ? newestOf(versions) : versions.find((definition) => definition.version === version)
    },
    with: (layer) => {
      const above = contentView([layer, ...layers], others)
      return layer.fromRequest === undefined ? above : { ...above, below: { view, fromRequest: layer.fromRequest } }
    },
    kept: keptWhile([...layers, ...others]),
  }
  return view
}

function unhidden(definitions: readonly Definition[]): readonly Definition[] {
  const seen = new Map<string, Definition>()
  for (const definition of definitions) {
    const canonical = formatCanonical(definition.url, definition.version)
    if (!seen.has(canonical)) seen.set(canonical, definition)
  }
  return [...seen.values()]
}

/** Puts definitions of packages before those of the FHIR release, even if the layer of the package is below that of the release. */
function releaseLast(definitions: readonly Definition[]): readonly Definition[] {
  if (definitions.length < 2 || !definitions.some(isOfRelease)) return definitions
  return [...definitions.filter((definition) => !isOfRelease(definition)), ...definitions.filter(isOfRelease)]
}

function isOfRelease(definition: Definition): boolean {
  return definition.isOfRelease === true
}

/**
 * Finds the newest definition for a canonical. Where no definition has exactly the stated version, it may be a prefix: `0.2` also means `0.2.1`.
 */
export async function resolveCanonical(view: ContentView, type: string, canonical: string): Promise<Definition | undefined> {
  const { url, version } = canonicalOf(canonical)
  const found = await view.find(type, 'url', url)
  if (version === undefined) return newestOf(found)
  const exact = found.filter((definition) => definition.version === version)
  return newestOf(exact.length > 0 ? exact : found.filter((definition) => definition.version?.startsWith(`${version}.`) === true))
}

/**
 * Returns the newest version; a retired definition only when there is no other. Definitions that came with the request win over all others, because a
 * client that sends a definition means that one. Definitions of the FHIR release itself count only when there is no other: its copies of HL7 Terminology
 * have versions such as 4.0.1, which are higher than those of their successors.
 */
export function newestOf(definitions: readonly Definition[]): Definition | undefined {
  const given = definitions.filter(({ isFromRequest }) => isFromRequest === true)
  const others = given.length > 0 ? given : definitions.filter((definition) => !isOfRelease(definition))
  const all = others.length > 0 ? others : definitions
  const current = all.filter((definition) => definition.status !== 'retired')
  return highestOf(current.length > 0 ? current : all)
}

/** Returns the first of the items with the highest version. */
export function highestOf<T extends { readonly version?: string }>(items: readonly T[]): T | undefined {
  return items.reduce<T | undefined>(
    (best, item) => (best === undefined || compareVersions(item.version, best.version) > 0 ? item : best),
    undefined,
  )
}

/**
 * Compares versions: numeric segments as numbers, others as text; an absent version comes first. A date is older than a dotted number, because
 * terminologies have changed from dates to dotted numbers, never back.
 */
export function compareVersions(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  if (isDate(a) && isPointed(b)) return -1
  if (isPointed(a) && isDate(b)) return 1
  const left = a.split(/[.\-+]/)
  const right = b.split(/[.\-+]/)
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = compareSegments(left[i], right[i])
    if (order !== 0) return order
  }
  return 0
}

function isDate(version: string): boolean {
  return /^\d{4}-\d{2}(?:-\d{2})?$/.test(version)
}

function isPointed(version: string): boolean {
  return /^\d+(?:\.\d+)+$/.test(version)
}

function compareSegments(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  if (/^\d+$/.test(a) && /^\d+$/.test(b)) return Number(a) - Number(b)
  if (a === b) return 0
  return a < b ? -1 : 1
}
