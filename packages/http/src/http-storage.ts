import { OperationError } from 'fhir-ops/errors'
import { createPace, createScheduler } from 'fhir-ops/internal/context'
import { checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'
import { checkEntries, checkQuery } from 'fhir-ops/internal/storage'
import { isResourceId, isResourceType, type Capabilities, type ResourceHistory, type Storage, type ReadResult } from 'fhir-ops/storage'
import { jsonOf, unavailable } from './answer.js'
import { createBreaker, createUpstream } from './upstream.js'
import { historyUpstream, versionUpstream } from './history.js'
import { HTTP_OPTIONS, settingsOf, type HttpSettings, type HttpStorageOptions } from './options.js'
import { countUpstream, searchUpstream, type Reach } from './search.js'
import { resourceFrom } from './stored-from.js'
import { writeTogether, writeUpstream } from './write.js'

const CAPABILITIES: Omit<Capabilities, 'atomic'> = { counts: true, preconditions: true, sorts: true }

const SHAPE: InputShape = inputShape<HttpStorageOptions>(HTTP_OPTIONS)

/**
 * Creates a storage backed by another FHIR R4 server. Searches are sent with the FHIR search parameters from which they were made
 * (`SearchQuery.parameters`). The upstream is asked to refuse what it does not understand, and an answer that ignored a parameter is an error. Several
 * entries of a write are sent one after the other, so if one is refused, the previous ones remain; with `transactions`, they are sent together.
 *
 * @throws {TypeError} if `baseUrl` is not an http or https address, or has credentials, a query or a fragment; for an option that is unknown or of
 *   another type.
 */
export function httpStorage(options: HttpStorageOptions): Storage {
  checkOptions('httpStorage', SHAPE, options)
  const settings = settingsOf(options)
  const scheduler = createScheduler()
  const reachOf = (own: HttpSettings): (() => Reach) => {
    const upstream = createUpstream(own)
    return () => ({ upstream, settings: own, pace: createPace({ scheduler, signal: own.signal() }) })
  }
  const reach = reachOf(settings)
  // Writes ignore the caller's signal: if one ended half-way, nobody would know whether it took effect.
  const reachToWrite = reachOf({ ...settings, signal: () => undefined })
  const writeIn = settings.transactions ? writeTogether : writeUpstream
  const guarded = createGuard()
  const history: ResourceHistory = {
    version: async (type, id, versionId) => guarded.run(async () => versionUpstream(reach(), { type, id, versionId })),
    page: async (query) => guarded.run(async () => historyUpstream(reach(), query)),
  }
  return {
    capabilities: { ...CAPABILITIES, atomic: settings.transactions },
    ...(options.history === true && { history }),
    read: async (type, id) => guarded.run(async () => readResource(reach(), type, id)),
    async search(query) {
      checkQuery(query)
      return guarded.run(async () => (isResourceType(query.type) ? searchUpstream(reach(), query) : { items: [] }))
    },
    async count(query) {
      checkQuery(query)
      return guarded.run(async () => (isResourceType(query.type) ? countUpstream(reach(), query) : 0))
    },
    async write(entries) {
      checkEntries(entries)
      return guarded.run(async () => writeIn(reachToWrite(), entries))
    },
    close: async () => guarded.close(),
  }
}

async function readResource({ upstream, pace }: Reach, type: string, id: string): Promise<ReadResult> {
  if (!isResourceType(type) || !isResourceId(id)) return undefined
  const answer = await upstream.read(type, id)
  if (answer.status === 404 || answer.status === 410) return undefined
  if (answer.status !== 200) throw unavailable('refused a read')
  await jsonOf(answer, pace)
  return resourceFrom(answer.text, { type, id, headers: answer.headers }, pace)
}

interface Guard {
  run<T>(call: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Counts the failures of the upstream. After `close`, which waits for running calls, it refuses new ones. */
function createGuard(): Guard {
  const breaker = createBreaker(() => performance.now())
  const underWay = new Set<Promise<unknown>>()
  let open = true
  return {
    async run(call) {
      if (!open) throw new OperationError('storage-unavailable', 'The storage is closed.')
      const running = breaker.run(call)
      underWay.add(running)
      try {
        return await running
      } finally {
        underWay.delete(running)
      }
    },
    async close() {
      open = false
      await Promise.allSettled(underWay)
    },
  }
}
