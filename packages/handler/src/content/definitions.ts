import { createPace } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { puttingResource } from 'fhir-ops/internal/storage'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import {
  isResourceId,
  wrappedStorage,
  type Condition,
  type ReadResult,
  type SearchQuery,
  type Storage,
  type StoredSystem,
} from 'fhir-ops/storage'
import type { Exchange } from '../exchange.js'
import type { Service } from '../service.js'
import { narrowedStorage } from './narrowed-storage.js'
import { narrowed } from './reach.js'

/** Types of which there are definitions beside the stored ones. */
export const DEFINITION_TYPES: ReadonlySet<string> = new Set([
  'CapabilityStatement',
  'CodeSystem',
  'CompartmentDefinition',
  'ConceptMap',
  'ImplementationGuide',
  'Library',
  'Measure',
  'NamingSystem',
  'OperationDefinition',
  'Questionnaire',
  'SearchParameter',
  'StructureDefinition',
  'StructureMap',
  'ValueSet',
])

/** What engines use beside what is stored, such as the definitions of R4, of packages and of imported code systems, to be read and searched. */
export interface DefinitionShelf {
  /** The definitions of a type as a storage of their own; `undefined` when there are none. */
  of(type: string): Promise<Shelf | undefined>
  /** True when some source of definitions cannot say which it has: what is not found may be there. */
  readonly isPartlyHidden: boolean
}

interface Shelf {
  readonly storage: Storage
  readonly ids: readonly string[]
}

/** Makes the shelf of a service. What it holds is made at the first question about a type, and again when its sources have changed. */
export function createDefinitionShelf({ ctx, indexer, startedAt }: Pick<Service, 'ctx' | 'indexer' | 'startedAt'>): DefinitionShelf {
  const made = new Map<string, { readonly revision: string; readonly shelf: Promise<Shelf | undefined> }>()
  const layers = ctx.definitions ?? []
  const revisionOf = async (): Promise<string> =>
    (await Promise.all([...layers, ctx.concepts].map((source) => source?.revision?.() ?? 0))).join(' ')
  return {
    async of(type) {
      if (!DEFINITION_TYPES.has(type)) return undefined
      const revision = await revisionOf()
      const known = made.get(type)
      if (known?.revision === revision) return known.shelf
      const shelf = filled({ ctx, indexer, startedAt }, type)
      made.set(type, { revision, shelf })
      // What failed is tried again.
      shelf.catch(() => made.delete(type))
      return shelf
    },
    isPartlyHidden: layers.some(({ all }) => all === undefined),
  }
}

type Making = Pick<Service, 'ctx' | 'indexer' | 'startedAt'>

/** Puts the definitions of a type where they can be searched. No request waits for the others: the work has no time limit, but lets others run. */
async function filled({ ctx, indexer, startedAt }: Making, type: string): Promise<Shelf | undefined> {
  const pace = createPace({ scheduler: ctx.scheduler })
  const storage = memoryStorage([], { now: () => new Date(startedAt), history: false })
  const ids = new Set<string>()
  for (const definition of await definitionsOf(ctx, type)) {
    await pace.step()
    const { resource } = definition
    const id = freeId(stringAt(resource, 'id'), ids)
    ids.add(id)
    await storage.write([await pace.run(puttingResource({ type, id, source: resource }, indexer))])
  }
  return ids.size === 0 ? undefined : { storage, ids: [...ids] }
}

/** Their resources are parsed when they are asked for. */
async function definitionsOf(
  { definitions = [], concepts }: OperationContext,
  type: string,
): Promise<readonly { readonly resource: JsonObject }[]> {
  const listed = await Promise.all(definitions.map(async ({ all }) => (await all?.(type)) ?? []))
  const imported = type === 'CodeSystem' ? ((await concepts?.systems()) ?? []) : []
  return [...listed.flat(), ...imported.map((system) => ({ resource: importedSystem(system) }))]
}

/** An imported code system without its concepts. */
function importedSystem({ url, version, concepts }: StoredSystem): JsonObject {
  const id = `${url}-${version}`.replace(/^https?:\/\//, '').replaceAll(/[^A-Za-z0-9.-]+/g, '-')
  const name = url.replaceAll(/[^A-Za-z0-9]+/g, '_')
  return { resourceType: 'CodeSystem', id: id.slice(0, 64), url, version, name, status: 'active', content: 'not-present', count: concepts }
}

/** The id of a definition; another one where it has none that can be used, or shares it with a definition from elsewhere. */
function freeId(given: string | undefined, taken: ReadonlySet<string>): string {
  const id = given !== undefined && isResourceId(given) ? given : 'definition'
  if (!taken.has(id) && id === given) return id
  for (let number = 2; ; number++) {
    const other = `${id.slice(0, 56)}-${number}`
    if (!taken.has(other)) return other
  }
}

/** Cursors of pages of definitions, which come after all that is stored. */
const MARK = 'definitions.'

/**
 * The storage of a request with the definitions of a type behind what is stored: a stored resource goes before the definition of its id. What the
 * caller's rights do not cover stays hidden. For reads and searches; writes go to the storage.
 */
export async function withDefinitions(service: Service, { ctx, caller }: Exchange, type: string): Promise<OperationContext> {
  const shelf = await service.definitions.of(type)
  if (shelf === undefined) return ctx
  const { storage } = ctx
  const behind = caller.isNarrowed ? narrowedStorage({ ...ctx, storage: shelf.storage }, caller, service.indexer) : shelf.storage
  const unhidden = async (query: SearchQuery): Promise<SearchQuery> => {
    const hidden = await hiddenIds(service, type, shelf.ids)
    return hidden.length === 0 ? query : narrowed(query, without(hidden))
  }
  const view = wrappedStorage({
    capabilities: storage.capabilities,
    history: storage.history,
    revision: undefined,
    scan: undefined,
    read: async (asked, id): Promise<ReadResult> =>
      (await storage.read(asked, id)) ?? (asked === type ? behind.read(asked, id) : undefined),
    async search(query) {
      const { after, limit = Infinity } = query
      if (query.type !== type) return storage.search(query)
      const isBehind = after?.startsWith(MARK) === true
      const first = isBehind ? { items: [] } : await storage.search(query)
      if (first.next !== undefined) return first
      const wanted = await unhidden(afterMark(query, isBehind))
      if (first.items.length >= limit) return (await behind.count(wanted)) > 0 ? { ...first, next: MARK } : first
      const { items, next } = await behind.search({ ...wanted, ...(query.limit !== undefined && { limit: limit - first.items.length }) })
      return { items: [...first.items, ...items], ...(next !== undefined && { next: MARK + next }) }
    },
    count: async (query) =>
      query.type === type ? (await storage.count(query)) + (await behind.count(await unhidden(query))) : storage.count(query),
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
  return { ...ctx, storage: view }
}

function afterMark({ after, ...query }: SearchQuery, isBehind: boolean): SearchQuery {
  const rest = isBehind ? after?.slice(MARK.length) : undefined
  return rest === undefined || rest === '' ? query : { ...query, after: rest }
}

function without(ids: readonly string[]): Condition {
  return { kind: 'not', condition: { kind: 'id', ids } }
}

/** Definitions in whose place something is stored. Where the storage does not say when it changes, as in front of another server, none is looked up. */
async function hiddenIds({ ctx, hiddenDefinitions }: Service, type: string, ids: readonly string[]): Promise<readonly string[]> {
  const revision = await ctx.storage.revision?.()
  if (revision === undefined) return []
  const known = hiddenDefinitions.get(type)
  if (known?.revision === revision && known.among === ids) return known.hidden
  const found: string[] = []
  const pace = createPace(ctx)
  for (const id of ids) {
    await pace.step()
    if ((await ctx.storage.read(type, id)) !== undefined) found.push(id)
  }
  hiddenDefinitions.set(type, { revision, among: ids, hidden: found })
  return found
}

/** Definitions that stored resources hide, at a revision of the storage. */
export type HiddenDefinitions = Map<
  string,
  { readonly revision: number; readonly among: readonly string[]; readonly hidden: readonly string[] }
>
