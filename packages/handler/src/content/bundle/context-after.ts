import { forRequest, type OperationContext } from 'fhir-ops/context'
import {
  isDefinitionEntry,
  storedResource,
  wrappedStorage,
  type HistoryPage,
  type HistoryQuery,
  type PutEntry,
  type ReadResult,
  type ResourceHistory,
  type Storage,
  type StoredResource,
  type WriteEntry,
} from 'fhir-ops/storage'
import type { HistoryItem } from 'fhir-ops/internal/storage'
import type { Exchange } from '../../exchange.js'
import type { Service } from '../../service.js'
import { narrowedStorage } from '../narrowed-storage.js'

/**
 * The context as it will be when the entries are written, so far as a read can fail by it: resources by their ids, with their histories, and definitions by
 * their canonicals. Searches find what is stored before.
 */
export function contextAfter({ indexer }: Service, { ctx, caller }: Exchange, entries: readonly WriteEntry[]): OperationContext {
  if (entries.length === 0) return ctx
  const planned = new Map(entries.map((entry) => [`${entry.type}/${entry.id}`, itemOf(ctx, entry)]))
  const definitions = entries.filter(isDefinition).map(({ text }): object => JSON.parse(text))
  const after = { ...forRequest(ctx, { resources: definitions }), storage: storageAfter(ctx.storage, planned) }
  return caller.isNarrowed ? { ...after, storage: narrowedStorage(after, caller, indexer) } : after
}

function isDefinition(entry: WriteEntry): entry is PutEntry {
  return entry.op === 'put' && entry.entries.some(isDefinitionEntry)
}

/** The version of an entry. Its number is not known yet, and nothing may be kept under one that another write could make. */
function itemOf({ now, newId }: OperationContext, entry: WriteEntry): HistoryItem {
  const { type, id } = entry
  const version = { type, id, versionId: newId(), lastUpdated: now().toISOString() }
  const stored: StoredResource | undefined = entry.op === 'put' ? storedResource({ ...version, text: entry.text }) : undefined
  return { ...version, created: false, ...(stored !== undefined && { stored }) }
}

type Planned = ReadonlyMap<string, HistoryItem>

function storageAfter(storage: Storage, planned: Planned): Storage {
  return wrappedStorage({
    capabilities: storage.capabilities,
    history: storage.history && historyAfter(storage.history, planned),
    // What is kept while it stays would be kept of what is not written.
    revision: undefined,
    changes: undefined,
    async read(type, id): Promise<ReadResult> {
      const item = planned.get(`${type}/${id}`)
      return item === undefined ? storage.read(type, id) : item.stored
    },
    search: (query) => storage.search(query),
    count: (query) => storage.count(query),
    scan: storage.scan,
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
}

/** The new version of a resource comes before the others; it has the number after theirs. */
function historyAfter(history: ResourceHistory, planned: Planned): ResourceHistory {
  return {
    async version(type, id, versionId) {
      const item = planned.get(`${type}/${id}`)
      if (item === undefined) return history.version(type, id, versionId)
      const [last] = (await history.page({ types: [type], id, limit: 1 })).items
      return Number(versionId) === Number(last?.versionId ?? 0) + 1 ? item : history.version(type, id, versionId)
    },
    async page(query): Promise<HistoryPage> {
      const page = await history.page(query)
      const item = newestOf(query, planned)
      return item === undefined ? page : { ...page, items: [item, ...page.items] }
    },
  }
}

function newestOf({ types: [type = ''], id, after }: HistoryQuery, planned: Planned): HistoryItem | undefined {
  return id === undefined || after !== undefined ? undefined : planned.get(`${type}/${id}`)
}
