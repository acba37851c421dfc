import { searchTypesOf } from 'fhir-ops/internal/search'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { meetsCondition } from 'fhir-ops/internal/memory'
import {
  wrappedStorage,
  type Condition,
  type DeleteEntry,
  type Indexer,
  type PutEntry,
  type ReadResult,
  type ResourceHistory,
  type ScanQuery,
  type SearchQuery,
  type Storage,
  type StoredResource,
  type WriteEntry,
  type WriteResult,
} from 'fhir-ops/storage'
import { isContainedType, type ResourceVersion } from 'fhir-ops/internal/storage'
import type { Action } from 'fhir-ops/operation'
import { notFound, type Caller } from '../auth/caller.js'
import { narrowed, shownPage } from './reach.js'

/**
 * The storage as seen by a caller with narrowed rights. Resources that the rights do not cover seem not to exist: they are not read,
 * found, counted, followed by a chain, or deleted. Nothing can be stored that the rights would not cover.
 */
export function narrowedStorage(ctx: OperationContext, caller: Caller, indexer: Indexer): Storage {
  const { storage, now } = ctx
  const { scan } = storage
  const view = { ctx, storage, caller, indexer }
  const history = storage.history && narrowedHistory(storage.history, view)
  return wrappedStorage({
    capabilities: storage.capabilities,
    history,
    // What is cached by revision would also be used for callers with other rights.
    revision: undefined,
    changes: undefined,
    read: (type, id) => visible(view, 'read', { type, id }),
    search: (query) => storage.search(narrowedQuery(caller, query)),
    count: (query) => storage.count(narrowedQuery(caller, query)),
    scan: scan && ((query) => scan(narrowedScan(caller, query))),
    async write(entries) {
      const allowed: (WriteEntry | undefined)[] = []
      for (const entry of entries) allowed.push(entry.op === 'put' ? await putWithin(view, entry) : await deleteWithin(view, entry))
      const written = (await storage.write(allowed.filter((entry) => entry !== undefined))).values()
      return entries.map(({ type, id }, index): WriteResult => {
        const nothing = { type, id, lastUpdated: now().toISOString(), created: false }
        return allowed[index] === undefined ? nothing : (written.next().value ?? nothing)
      })
    },
    close: () => storage.close(),
  })
}

interface View {
  readonly ctx: OperationContext
  readonly storage: Storage
  readonly caller: Caller
  readonly indexer: Indexer
}

async function visible(view: View, action: Action, { type, id }: Pick<WriteEntry, 'type' | 'id'>): Promise<ReadResult> {
  const stored = await view.storage.read(type, id)
  return stored !== undefined && isSeen(view, action, stored) ? stored : undefined
}

function isSeen({ caller, indexer }: View, action: Action, stored: StoredResource): boolean {
  const { type, id, lastUpdated } = stored
  const within = caller.within(action, type)
  return within === undefined || meetsCondition({ id, entries: indexer(stored.resource), updated: Date.parse(lastUpdated) }, within)
}

function narrowedQuery(caller: Caller, query: SearchQuery): SearchQuery {
  // Contained resources are reached only through their container.
  if (isContainedType(query.type)) return narrowed(query, { kind: 'or', conditions: [] })
  const isWhole = [...searchTypesOf(query)].every((type) => caller.within('search', type) === undefined)
  if (isWhole) return query
  const within = caller.within('search', query.type)
  return narrowed({ ...query, where: narrowedCondition(caller, query.where) }, within ?? { kind: 'and', conditions: [] })
}

function narrowedScan(caller: Caller, query: ScanQuery): ScanQuery {
  const { referring = [] } = query
  return { ...narrowedQuery(caller, query), referring: referring.map(({ params, ...one }) => ({ ...narrowedQuery(caller, one), params })) }
}

/** Narrows chains in the same way as matches. */
function narrowedCondition(caller: Caller, condition: Condition): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, conditions: condition.conditions.map((one) => narrowedCondition(caller, one)) }
    case 'not':
      return { ...condition, condition: narrowedCondition(caller, condition.condition) }
    case 'refersTo':
    case 'referredBy': {
      const { query } = condition
      return { ...condition, query: isContainedType(query.type) ? narrowedContained(caller, query) : narrowedQuery(caller, query) }
    }
    default:
      return condition
  }
}

function narrowedContained(caller: Caller, query: SearchQuery): SearchQuery {
  return { ...query, where: narrowedCondition(caller, query.where) }
}

/** @throws {OperationError} `not-found` for replacing a resource that the caller cannot see; `forbidden` for content outside the caller's rights. */
async function putWithin(view: View, entry: PutEntry): Promise<PutEntry> {
  const { caller } = view
  if (entry.ifVersion === null) {
    checkContent(view, entry, caller.within('create', entry.type))
    return withNarrowedCondition(caller, entry)
  }
  const within = caller.within('update', entry.type)
  if (within === undefined) return withNarrowedCondition(caller, entry)
  const current = await visible(view, 'update', entry)
  if (current === undefined) throw notFound(entry.type, entry.id)
  checkContent(view, entry, within)
  return { ...withNarrowedCondition(caller, entry), ifVersion: entry.ifVersion ?? current.versionId }
}

/** A resource that the caller cannot find must not prevent a conditional create, which would reveal it. */
function withNarrowedCondition(caller: Caller, entry: PutEntry): PutEntry {
  const { type, ifOnlyMatch: where } = entry
  return where === undefined ? entry : { ...entry, ifOnlyMatch: narrowedQuery(caller, { type, where }).where }
}

function checkContent({ ctx }: View, { type, id, entries }: PutEntry, within: Condition | undefined): void {
  if (within === undefined || meetsCondition({ id, entries, updated: ctx.now().getTime() }, within)) return
  throw new OperationError('forbidden', `The access token does not allow storing a ${type} like this one.`)
}

const HISTORY_PAGE = 100

/** The visibility of each version is decided by its own content; a deletion has none, so it is hidden. */
function narrowedHistory(history: ResourceHistory, view: View): ResourceHistory {
  const isShown = ({ type, stored }: ResourceVersion): boolean =>
    stored === undefined ? view.caller.within('read', type) === undefined : isSeen(view, 'read', stored)
  return {
    async version(type, id, versionId) {
      const version = await history.version(type, id, versionId)
      return version !== undefined && isShown(version) ? version : undefined
    },
    page: (query) =>
      shownPage(
        {
          ctx: view.ctx,
          pageOf: (part) => history.page({ ...query, ...part }),
          shows: isShown,
          lengthOf: ({ stored }) => stored?.text.length ?? 0,
        },
        { limit: HISTORY_PAGE, ...query },
      ),
  }
}

/** Returns `undefined` if there is nothing that the caller could delete. */
async function deleteWithin(view: View, entry: DeleteEntry): Promise<DeleteEntry | undefined> {
  if (view.caller.within('delete', entry.type) === undefined) return entry
  const current = await visible(view, 'delete', entry)
  if (current !== undefined) return { ...entry, ifVersion: entry.ifVersion ?? current.versionId }
  if (entry.ifVersion === undefined) return undefined
  throw new OperationError('version-conflict', `${entry.type}/${entry.id} is not at the expected version.`)
}
