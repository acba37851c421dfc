import { createPace, type Pace } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import { puttingResource } from 'fhir-ops/internal/storage'
import { memoryStorage } from 'fhir-ops/memory'
import { wrappedStorage, type Condition, type EntryTest, type Indexer, type Storage } from 'fhir-ops/storage'

/** A definition, with the id under which it is read. */
export interface ShelvedDefinition {
  readonly id: string
  readonly url: string
  /** Holds the resource, which is parsed on first use. */
  readonly source: { readonly resource: JsonObject }
}

/** Options of `shelfStorage`. */
export interface ShelfStorageOptions {
  readonly type: string
  readonly scheduler: OperationContext['scheduler']
  readonly indexer: Indexer
  /** Time at which the definitions count as stored, as an instant. */
  readonly startedAt: string
}

/**
 * A storage of definitions that can be read and searched. A definition is parsed and indexed when a query first asks for something it may match: doing
 * this for all definitions of a type takes half a second and tens of megabytes, and most queries name an id or a url.
 */
export function shelfStorage(
  definitions: readonly ShelvedDefinition[],
  { type, scheduler, indexer, startedAt }: ShelfStorageOptions,
): Storage {
  const storage = memoryStorage([], { now: () => new Date(startedAt), history: false })
  const waiting = new Map(definitions.map((definition) => [definition.id, definition]))
  const byUrl = Map.groupBy(
    definitions.map(({ id, url }) => ({ id, url })),
    ({ url }) => url,
  )
  const putting = new Map<string, Promise<void>>()
  const put = async (pace: Pace, { id, source: { resource } }: ShelvedDefinition): Promise<void> => {
    await storage.write([await pace.run(puttingResource({ type, id, source: resource }, indexer))])
    waiting.delete(id)
  }
  const ready = async (ids: Iterable<string>): Promise<void> => {
    // Other requests may wait for this too, so it has no time limit, but it lets them run.
    const pace = createPace({ scheduler })
    for (const id of ids) {
      const definition = waiting.get(id)
      if (definition === undefined) continue
      await pace.step()
      const work = putting.get(id) ?? put(pace, definition).finally(() => putting.delete(id))
      putting.set(id, work)
      await work
    }
  }
  const readyFor = (where: Condition): Promise<void> =>
    ready((isOfOneResource(where) ? idsFor(where, (url) => byUrl.get(url)?.map(({ id }) => id) ?? []) : undefined) ?? [...waiting.keys()])
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
      await readyFor(query.where)
      return storage.search(query)
    },
    async count(query) {
      await readyFor(query.where)
      return storage.count(query)
    },
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
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
