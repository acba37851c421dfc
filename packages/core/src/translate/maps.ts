import { canonicalOf, definitionOf, formatCanonical, headOf, newestOf, type Definition } from '../content/index.js'
import { createPace, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { isObject, stringAt } from '../json/index.js'
import { createMarks, implicitDefinition, refuseUnopened, type Marks } from '../terminology/index.js'
import { isMap, mapHead, mapIndex, type MapHead, type MapIndex } from './map-index.js'
import type { TranslateOptions } from './input.js'

/**
 * Returns the maps that the input identifies, in the order of their canonicals.
 *
 * They are found by the first that is given of id, inline map, url, `source` and the request's own maps; all other inputs must agree with them.
 *
 * @throws {OperationError} `parameter-required` when nothing identifies a map; `not-found`; `parameter-invalid` when two inputs
 *   contradict each other.
 */
export async function mapsFor(ctx: OperationContext, input: TranslateOptions): Promise<readonly MapIndex[]> {
  const named = namedMap(ctx, input)
  if (named === undefined) return searchedMaps(ctx, input)
  const index = await named
  const wrong = contradiction(index, input)
  if (wrong !== undefined) {
    throw new OperationError('parameter-invalid', `Parameter ${quoted(wrong)} contradicts the requested ConceptMap.`, {
      expression: [wrong],
    })
  }
  return [index]
}

/** Returns the newest version of a map that is not retired, or exactly the version that the canonical names. Contained maps are not searched. */
export async function currentMap(ctx: OperationContext, canonical: string, mapVersion?: string): Promise<Definition | undefined> {
  const implicit = await implicitDefinition(ctx, 'ConceptMap', canonical)
  if (implicit !== undefined) return implicit
  const { url, version = mapVersion, fragment } = canonicalOf(canonical)
  if (fragment !== undefined) return undefined
  const definition = await ctx.content.resolve('ConceptMap', url, version)
  if (definition === undefined) await refuseUnopened(ctx, canonical)
  return version === undefined && definition?.status === 'retired' ? undefined : definition
}

function namedMap(ctx: OperationContext, input: TranslateOptions): Promise<MapIndex> | undefined {
  if (input.mapId !== undefined) return storedMap(ctx, input.mapId).then((definition) => mapIndex(ctx, definition))
  if (input.conceptMap !== undefined) return mapIndex(ctx, inlineMap(input.conceptMap))
  return input.url === undefined ? undefined : canonicalMap(ctx, input.url, input.mapVersion)
}

/** Finds a map by canonical. The result is kept as long as no definition changes. */
async function canonicalMap(ctx: OperationContext, url: string, version: string | undefined): Promise<MapIndex> {
  const kept = await ctx.content.kept?.()
  const name = `concept-map ${version ?? ''} ${url}`
  const known = kept?.get(name)
  if (known !== undefined && INDEXES.has(known)) return known
  const definition = await currentMap(ctx, url, version)
  if (definition === undefined) {
    const missing = { kind: 'ConceptMap', name: formatCanonical(url, version) }
    throw new OperationError('not-found', `ConceptMap ${quoted(url)} does not exist.`, { expression: ['url'], missing })
  }
  const index = await mapIndex(ctx, definition)
  kept?.set(name, INDEXES.mark(index))
  return index
}

/** Marks the indexes that were kept. */
const INDEXES: Marks<MapIndex> = createMarks()

async function storedMap(ctx: OperationContext, id: string): Promise<Definition> {
  const stored = await ctx.storage.read('ConceptMap', id)
  if (stored === undefined)
    throw new OperationError('not-found', `ConceptMap with id ${quoted(id)} does not exist.`, { missing: { kind: 'ConceptMap', name: id } })
  return {
    type: 'ConceptMap',
    url: '',
    status: 'unknown',
    key: `storage:ConceptMap/${id}/${stored.versionId}`,
    // A getter, because a kept index saves parsing a large map.
    get resource() {
      return stored.resource
    },
    parsing: stored.parsing,
  }
}

function inlineMap(conceptMap: object): Definition {
  if (!isMap(conceptMap)) {
    throw new OperationError('parameter-value', "Parameter 'conceptMap' must be a ConceptMap.", { expression: ['conceptMap'] })
  }
  return { type: 'ConceptMap', url: '', status: 'unknown', resource: conceptMap }
}

async function searchedMaps(ctx: OperationContext, input: TranslateOptions): Promise<readonly MapIndex[]> {
  const definitions = input.source === undefined ? requestMaps(input) : await mapsFrom(ctx, input, input.source)
  const found = currentVersions(definitions, input)
  if (found.length > 0) return indexesOf(ctx, found)
  if (input.source === undefined && definitions.length === 0) {
    throw new OperationError('parameter-required', "A ConceptMap must be identified: by its id, or by 'url' or 'source'.", {
      expression: ['url'],
    })
  }
  throw new OperationError('not-found', noMapText(input), { expression: [input.source === undefined ? 'target' : 'source'] })
}

async function indexesOf(ctx: OperationContext, definitions: readonly Definition[]): Promise<readonly MapIndex[]> {
  const pace = createPace(ctx)
  const indexes: MapIndex[] = []
  for (const definition of definitions) {
    await pace.step()
    indexes.push(await mapIndex(ctx, definition))
  }
  return indexes
}

function mapsFrom(ctx: OperationContext, { reverse }: TranslateOptions, source: string): Promise<readonly Definition[]> {
  return ctx.content.find('ConceptMap', reverse === true ? 'target' : 'source', canonicalOf(source).url)
}

function requestMaps({ resources = [] }: TranslateOptions): readonly Definition[] {
  return resources.filter(isMap).map((map) => definitionOf(map) ?? inlineMap(map))
}

/** Returns one version of each map, ordered by url: the newest that fits the input, and is not retired where no version was requested. */
function currentVersions(definitions: readonly Definition[], input: TranslateOptions): readonly Definition[] {
  const eligible = definitions.filter(({ status }) => input.mapVersion !== undefined || status !== 'retired')
  const fits = (definition: Definition): boolean => contradiction(mapHead(headOf(definition)), input) === undefined
  // Older versions are read only where the newest does not fit.
  const found = Array.from(Map.groupBy(eligible, (one) => one.url || one).values(), (versions) => {
    const newest = newestOf(versions)
    return newest === undefined || fits(newest) ? newest : newestOf(versions.filter(fits))
  })
  return found.filter((one) => one !== undefined).sort((a, b) => (a.url < b.url ? -1 : Number(a.url > b.url)))
}

/** Returns the name of the first input that contradicts the map. */
function contradiction(map: MapHead, input: TranslateOptions): string | undefined {
  const [source, target] = input.reverse === true ? [map.target, map.source] : [map.source, map.target]
  if (!agree(input.url, map.canonical)) return 'url'
  if (input.mapVersion !== undefined && input.mapVersion !== map.version) return 'conceptMapVersion'
  if (!agree(input.source, source)) return 'source'
  if (!agree(input.target, target)) return 'target'
  return sameMap(input, map) ? undefined : 'conceptMap'
}

/** An id in the path and an inline map given together must be versions of the same map. */
function sameMap({ mapId, conceptMap }: TranslateOptions, map: MapHead): boolean {
  return mapId === undefined || !isObject(conceptMap) || stringAt(conceptMap, 'url') === map.url
}

/** True if nothing is requested, or if urls are equal and versions too, where both have one. */
function agree(requested: string | undefined, stated: string | undefined): boolean {
  if (requested === undefined || requested === stated) return true
  const a = canonicalOf(requested)
  const b = canonicalOf(stated ?? '')
  return a.url === b.url && a.fragment === b.fragment && (a.version === undefined || b.version === undefined || a.version === b.version)
}

function noMapText({ source, target, mapVersion }: TranslateOptions): string {
  const part = (words: string, name: string | undefined): string => (name === undefined ? '' : ` ${words} ${quoted(name)}`)
  return `There is no ConceptMap${part('from value set', source)}${part('to value set', target)}${part('of version', mapVersion)}.`
}
