import type { Definition } from 'fhir-ops/content'
import type { OperationContext } from 'fhir-ops/context'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { SearchParameters } from 'fhir-ops/search'
import {
  isResourceId,
  type Indexer,
  type Storage,
  type StoredSystem,
  wrappedStorage,
  type Condition,
  type EntryTest,
  type SearchQuery,
} from 'fhir-ops/storage'
import { createPace, type Pace } from 'fhir-ops/internal/context'
import { cursorParts, puttingResource } from 'fhir-ops/internal/storage'
import { memoryStorage } from 'fhir-ops/memory'
import { headParameters, headsOf, type HeadParameters } from './definition-heads.js'

/** Types that can have definitions besides stored resources. */
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

/** Definitions that engines use besides stored resources (those of R4, packages and imported code systems), made readable and searchable. */
export interface DefinitionShelf {
  /** Returns the definitions of a type as a storage; `undefined` if there are none. */
  of(type: string): Promise<Shelf | undefined> | undefined
  /** True if some source of definitions cannot list its content: a definition that is not found may still exist. */
  readonly isPartlyHidden: boolean
}

/** The definitions of a type. */
export interface Shelf {
  readonly type: string
  readonly storage: Storage
  readonly ids: readonly string[]
}

/** What is needed to make a shelf. */
interface Making {
  readonly ctx: OperationContext
  readonly indexer: Indexer
  /** The parameters by which the indexer makes its entries, where they are known. */
  readonly parameters?: SearchParameters | undefined
  /** The date of definitions that have none, as an instant. */
  readonly startedAt: string
}

/** Creates the shelf of a service. The definitions of a type are listed when first needed, and again after they have changed. */
export function createDefinitionShelf(making: Making): DefinitionShelf {
  const made = new Map<string, { readonly revision: string; readonly shelf: Promise<Shelf | undefined> }>()
  const { ctx } = making
  const layers = ctx.definitions ?? []
  const imported = importedSystems(ctx)
  const revisionOf = async (type: string): Promise<string> => {
    const revisions: unknown[] = await Promise.all(layers.map(async (layer) => layer.revision?.() ?? 0))
    return JSON.stringify(type === 'CodeSystem' ? [...revisions, await imported()] : revisions)
  }
  const current = async (type: string): Promise<Shelf | undefined> => {
    const revision = await revisionOf(type)
    const known = made.get(type)
    if (known?.revision === revision) return known.shelf
    const shelf = shelfOf(making, type)
    made.set(type, { revision, shelf })
    // A failed attempt is repeated on the next call.
    shelf.catch(() => made.delete(type))
    return shelf
  }
  return {
    of: (type) => (DEFINITION_TYPES.has(type) ? current(type) : undefined),
    isPartlyHidden: layers.some((layer) => layer.all === undefined),
  }
}

/**
 * Returns a function that lists the keys of imported code systems. The revision of their store may count other writes too, so it does not say whether
 * the systems have changed.
 */
function importedSystems({ concepts }: OperationContext): () => Promise<readonly string[]> {
  let known: { readonly revision: number; readonly keys: readonly string[] } | undefined
  return async () => {
    const revision = await concepts?.revision?.()
    if (known !== undefined && known.revision === revision) return known.keys
    const keys = ((await concepts?.systems()) ?? []).map(({ key }) => key)
    if (revision !== undefined) known = { revision, keys }
    return keys
  }
}

async function shelfOf({ ctx, indexer, parameters, startedAt }: Making, type: string): Promise<Shelf | undefined> {
  const ids = new Set<string>()
  const shelved: ShelvedDefinition[] = []
  for (const definition of await definitionsOf(ctx, type)) {
    const id = freeId(definition.id ?? stringAt(definition.resource, 'id'), ids)
    ids.add(id)
    shelved.push({ id, url: definition.url, source: definition })
  }
  if (ids.size === 0) return undefined
  const ofHeads = parameters === undefined ? NO_PARAMETERS : headParameters(parameters, type)
  return { type, storage: shelfStorage(shelved, { type, scheduler: ctx.scheduler, indexer, ofHeads, startedAt }), ids: [...ids] }
}

const NO_PARAMETERS: HeadParameters = new Map()

/** Resources are parsed when they are used. */
async function definitionsOf(
  { definitions = [], concepts }: OperationContext,
  type: string,
): Promise<readonly Pick<Definition, 'id' | 'url' | 'resource'>[]> {
  const listed = await Promise.all(definitions.map(async (layer) => (await layer.all?.(type)) ?? []))
  const imported = type === 'CodeSystem' ? ((await concepts?.systems()) ?? []) : []
  return [...listed.flat(), ...imported.map((system) => ({ url: system.url, resource: importedSystem(system) }))]
}

/** Describes an imported code system without its concepts. */
function importedSystem({ url, version, concepts }: StoredSystem): JsonObject {
  const id = `${url}-${version}`.replace(/^https?:\/\//, '').replaceAll(/[^A-Za-z0-9.-]+/g, '-')
  const name = url.replaceAll(/[^A-Za-z0-9]+/g, '_')
  return { resourceType: 'CodeSystem', id: id.slice(0, 64), url, version, name, status: 'active', content: 'not-present', count: concepts }
}

/** Returns the id of a definition; a new one if it has none that is usable, or if the id is taken by another definition. */
function freeId(given: string | undefined, taken: ReadonlySet<string>): string {
  const id = given !== undefined && isResourceId(given) ? given : 'definition'
  if (!taken.has(id) && id === given) return id
  for (let number = 2; ; number++) {
    const other = `${id.slice(0, 56)}-${number}`
    if (!taken.has(other)) return other
  }
}

/** Definitions that stored resources replace, with the revision of the storage at which this was found out. */
export type HiddenDefinitions = Map<
  string,
  { readonly revision: number; readonly among: readonly string[]; readonly hidden: readonly string[] }
>

/** A definition, with the id under which it is read. */
interface ShelvedDefinition {
  readonly id: string
  readonly url: string
  /** Holds the resource, which is parsed on first use. */
  readonly source: { readonly resource: JsonObject }
}

/** Options of `shelfStorage`. */
interface ShelfStorageOptions {
  readonly type: string
  readonly scheduler: OperationContext['scheduler']
  readonly indexer: Indexer
  /** The search parameters that find the same in the head of a definition; empty where that is not known. */
  readonly ofHeads: HeadParameters
  /** Time at which the definitions count as stored, as an instant. */
  readonly startedAt: string
}

/**
 * A storage of definitions that can be read and searched. A definition is parsed and indexed when a query first asks for something it may match: doing
 * this for all definitions of a type takes a second and tens of megabytes, and most queries name an id or a url, or want a page of all. What others ask
 * for is mostly in the heads of definitions, which are parsed once, and indexed in a fraction of the time.
 */
export function shelfStorage(
  definitions: readonly ShelvedDefinition[],
  { type, scheduler, indexer, ofHeads, startedAt }: ShelfStorageOptions,
): Storage {
  const emptyStorage = (): Storage => memoryStorage([], { now: () => new Date(startedAt), history: false })
  const storage = emptyStorage()
  const { waiting, ready } = filling(storage, definitions, { type, scheduler, indexer })
  const byUrl = Map.groupBy(
    definitions.map(({ id, url }) => ({ id, url })),
    ({ url }) => url,
  )
  const heads = headsOf(definitions, { type, scheduler, indexer, ofHeads, emptyStorage })
  /** Returns the storage of all heads if it decides a query: without a condition on content, and in the order of ids, it tells nothing. */
  const headsFor = (query: SearchQuery): Promise<Storage> | undefined => {
    const isOfIds = (query.sort ?? []).length === 0 && testOfIds(query.where) !== undefined
    return waiting.size === 0 || isOfIds ? undefined : heads(query)
  }
  const idsInOrder = definitions.map(({ id }) => id).toSorted()
  const idsForPage = async (query: SearchQuery): Promise<readonly string[]> => {
    const { where, sort = [], limit, after = '' } = query
    const isAsked = testOfIds(where)
    if (isAsked !== undefined && sort.length === 0 && limit !== undefined) {
      const [last = ''] = cursorParts(after)
      // One more tells that there is another page.
      return idsInOrder.filter((id) => id > String(last) && isAsked(id)).slice(0, limit + 1)
    }
    return idsNamed(where) ?? (await idsByHeads(query)) ?? [...waiting.keys()]
  }
  const idsNamed = (where: Condition): readonly string[] | undefined =>
    isOfOneResource(where) ? idsFor(where, (url) => byUrl.get(url)?.map(({ id }) => id) ?? []) : undefined
  const idsByHeads = async (query: SearchQuery): Promise<readonly string[] | undefined> => {
    const { limit, maxBytes: _whole, ...rest } = query
    const found = limit === undefined ? undefined : await headsFor(query)
    return (await found?.search({ ...rest, limit: (limit ?? 0) + 1 }))?.items.map(({ id }) => id)
  }
  return wrappedStorage({
    capabilities: storage.capabilities,
    history: undefined,
    revision: undefined,
    scan: undefined,
    changes: undefined,
    async read(asked, id) {
      await ready([id])
      return storage.read(asked, id)
    },
    async search(query) {
      await ready(await idsForPage(query))
      return storage.search(query)
    },
    async count(query) {
      const isAsked = testOfIds(query.where)
      if (isAsked !== undefined) return idsInOrder.filter(isAsked).length
      const named = idsNamed(query.where)
      const found = named === undefined ? await headsFor(query) : undefined
      if (found !== undefined) return found.count(query)
      await ready(named ?? [...waiting.keys()])
      return storage.count(query)
    },
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
}

interface Filling {
  /** The definitions that are not in the storage yet, by id. */
  readonly waiting: ReadonlyMap<string, ShelvedDefinition>
  /** Puts definitions into the storage, each once. */
  readonly ready: (ids: Iterable<string>) => Promise<void>
}

function filling(
  storage: Storage,
  definitions: readonly ShelvedDefinition[],
  { type, scheduler, indexer }: Pick<ShelfStorageOptions, 'type' | 'scheduler' | 'indexer'>,
): Filling {
  const waiting = new Map(definitions.map((definition) => [definition.id, definition]))
  const putting = new Map<string, Promise<void>>()
  const put = async (pace: Pace, { id, source: { resource } }: ShelvedDefinition): Promise<void> => {
    await storage.write([await pace.run(puttingResource({ type, id, source: resource }, indexer))])
    waiting.delete(id)
  }
  const ready = async (ids: Iterable<string>): Promise<void> => {
    // Other requests may wait for this too, so it has no time limit, but it lets them run.
    const pace = createPace({ scheduler })
    for (const id of ids) {
      if (!waiting.has(id)) continue
      await pace.step()
      const definition = waiting.get(id)
      if (definition === undefined) continue // another request was faster
      const work = putting.get(id) ?? put(pace, definition).finally(() => putting.delete(id))
      putting.set(id, work)
      await work
    }
  }
  return { waiting, ready }
}

/** Returns a condition on nothing but ids as a test; `undefined` for any other condition. */
function testOfIds(where: Condition): ((id: string) => boolean) | undefined {
  switch (where.kind) {
    case 'id': {
      const ids = new Set(where.ids)
      return (id) => ids.has(id)
    }
    case 'not': {
      const test = testOfIds(where.condition)
      return test && ((id) => !test(id))
    }
    case 'and':
    case 'or': {
      const tests = where.conditions.map(testOfIds)
      if (!tests.every((test) => test !== undefined)) return undefined
      return where.kind === 'and' ? (id) => tests.every((test) => test(id)) : (id) => tests.some((test) => test(id))
    }
    default:
      return undefined
  }
}

/** True if the condition does not depend on other resources. */
function isOfOneResource(where: Condition): boolean {
  switch (where.kind) {
    case 'and':
    case 'or':
      return where.conditions.every(isOfOneResource)
    case 'not':
      return isOfOneResource(where.condition)
    case 'refersTo':
    case 'referredBy':
      return false
    default:
      return true
  }
}

/** Returns the ids of all definitions that can meet a condition with an id or a url; `undefined` if the condition requires neither. */
function idsFor(where: Condition, withUrl: (url: string) => readonly string[]): readonly string[] | undefined {
  switch (where.kind) {
    case 'id':
      return where.ids
    case 'entry':
      return where.param === 'url' ? urlsOf(where)?.flatMap(withUrl) : undefined
    case 'and':
      return where.conditions.map((one) => idsFor(one, withUrl)).find((ids) => ids !== undefined)
    case 'or': {
      const each = where.conditions.map((one) => idsFor(one, withUrl))
      return each.some((ids) => ids === undefined) ? undefined : each.flatMap((ids) => ids ?? [])
    }
    default:
      return undefined
  }
}

function urlsOf({ all }: EntryTest): readonly string[] | undefined {
  for (const comparison of all) {
    if (comparison.field !== 'value') continue
    if (comparison.op === 'eq') return [comparison.operand]
    if (comparison.op === 'in') return comparison.operands
  }
  return undefined
}
