import { OperationError } from 'fhir-ops/errors'
import { createPace, createScheduler, type Pace } from 'fhir-ops/internal/context'
import { checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'
import { checkEntries, checkQuery, checkRead } from 'fhir-ops/internal/storage'
import {
  isResourceId,
  isResourceType,
  type Capabilities,
  type ResourceHistory,
  type Storage,
  type ReadResult,
  checkAddress,
  checkLaidOut,
  type DeleteEntry,
  type PutEntry,
  type WriteEntry,
  type WriteResult,
} from 'fhir-ops/storage'
import { quoted } from 'fhir-ops/internal/errors'
import { objectAt, stringAt, type JsonObject, objectsAt } from 'fhir-ops/internal/json'
import { checkFhir, instantOf, isGone, jsonOf, resourceFrom, unavailable, versionOf, writtenVersion, type Answer } from './answer.js'
import { createBreaker, createUpstream } from './upstream.js'
import { historyUpstream, versionUpstream } from './history.js'
import { HTTP_OPTIONS, settingsOf, type HttpSettings, type HttpStorageOptions } from './options.js'
import { countUpstream, searchUpstream, type Reach } from './search.js'

const CAPABILITIES: Omit<Capabilities, 'atomic'> = { counts: true, preconditions: true, sorts: true, repeats: true }

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
    async read(type, id): Promise<ReadResult> {
      checkRead(type, id)
      return guarded.run(async () => readResource(reach(), type, id))
    },
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
  if (await isGone(answer, pace)) return undefined
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

/** Sends entries one after the other, without their index entries, because the upstream has its own index. */
async function writeUpstream(reach: Reach, entries: readonly WriteEntry[]): Promise<readonly WriteResult[]> {
  for (const entry of entries) checkEntry(entry)
  const results: WriteResult[] = []
  for (const entry of entries) results.push(await (entry.op === 'put' ? put(reach, entry) : remove(reach, entry)))
  return results
}

/** @throws {OperationError} for an entry that must not be sent. */
function checkEntry(entry: WriteEntry): void {
  checkAddress(entry.type, entry.id)
  checkLaidOut(entry)
  // Versions have the form of ids; any other text cannot be current, and must not be put into a header.
  if (typeof entry.ifVersion === 'string' && !isResourceId(entry.ifVersion)) throw conflict(entry)
}

async function put({ upstream, pace }: Reach, entry: PutEntry): Promise<WriteResult> {
  const { type, id, text, ifVersion } = entry
  const answer = await upstream.update(`${type}/${id}`, text, ifVersion)
  if (typeof ifVersion === 'string' && (await isGone(answer, pace))) throw conflict(entry)
  if (answer.status !== 200 && answer.status !== 201) throw refusal(answer, quoted(`${type}/${id}`))
  const meta = objectAt(await writtenOf(entry, answer, pace), 'meta')
  const versionId = writtenVersion(answer.headers.get('etag') ?? undefined, meta)
  if (versionId === undefined) throw unavailable('does not report the version that it wrote')
  const lastUpdated = instantOf(stringAt(meta, 'lastUpdated') ?? answer.headers.get('last-modified') ?? undefined)
  return { type, id, versionId, lastUpdated, created: answer.status === 201 }
}

async function remove({ upstream, pace }: Reach, entry: DeleteEntry): Promise<WriteResult> {
  const { type, id, ifVersion } = entry
  const answer = await upstream.remove(`${type}/${id}`, ifVersion)
  const wasGone = await isGone(answer, pace)
  if (wasGone && ifVersion !== undefined) throw conflict(entry)
  if (!wasGone && answer.status !== 200 && answer.status !== 204) throw refusal(answer, quoted(`${type}/${id}`))
  if (answer.status === 200) await checkFhir(answer, pace)
  const versionId = wasGone ? undefined : versionOf(answer.headers)
  const lastUpdated = instantOf(answer.headers.get('last-modified') ?? answer.headers.get('date') ?? undefined)
  return { type, id, lastUpdated, created: false, ...(versionId !== undefined && { versionId }) }
}

/** Returns the written resource, if the answer contains it; it may contain an outcome instead, or nothing. */
async function writtenOf({ type, id }: PutEntry, answer: Answer, pace: Pace): Promise<JsonObject | undefined> {
  if (answer.text === '') return undefined
  const written = await jsonOf(answer, pace)
  const writtenType = stringAt(written, 'resourceType')
  if (writtenType === 'OperationOutcome' && type !== writtenType) return undefined
  if (writtenType !== type || stringAt(written, 'id') !== id) throw unavailable('wrote another resource')
  return written
}

/** The error if the upstream refuses a write, or does not confirm it. @param what Noun phrase for the message. */
function refusal({ status }: Answer, what: string): OperationError {
  if (status < 400) return unavailable('does not report whether the write was done')
  if (status === 412) return new OperationError('version-conflict', `The current version of ${what} is not the expected one.`)
  if (status === 409) return new OperationError('conflict', `The upstream FHIR server sees a conflict in ${what}.`)
  if (status === 404 || status === 405) return new OperationError('not-supported', `The upstream FHIR server does not accept ${what}.`)
  return new OperationError('resource-invalid', `The upstream FHIR server refuses ${what}.`)
}

function conflict({ type, id }: WriteEntry): OperationError {
  return new OperationError('version-conflict', `The current version of ${quoted(`${type}/${id}`)} is not the expected one.`)
}

/** Sends the entries as one transaction, which the upstream executes in full or not at all. */
async function writeTogether({ upstream, pace }: Reach, entries: readonly WriteEntry[]): Promise<readonly WriteResult[]> {
  for (const entry of entries) checkEntry(entry)
  const addresses = entries.map(({ type, id }) => `${type}/${id}`)
  if (new Set(addresses).size < addresses.length) {
    throw new OperationError('not-supported', 'A transaction of the upstream FHIR server may contain each resource once.')
  }
  if (entries.length === 0) return []
  const answer = await upstream.transaction(`{"resourceType":"Bundle","type":"transaction","entry":[${entries.map(entryText).join(',')}]}`)
  if (answer.status !== 200) throw refusal(answer, 'a resource of the transaction')
  const parts = objectsAt(await jsonOf(answer, pace), 'entry')
  if (parts.length !== entries.length) throw unavailable('sent another number of answers than it was asked for')
  return entries.map((entry, at) => resultOf(entry, parts[at]))
}

/** Inserts the text of the resource unchanged, so that numbers keep their digits. */
function entryText(entry: WriteEntry): string {
  const { op, type, id, ifVersion } = entry
  const condition = ifVersion === undefined ? {} : ifVersion === null ? { ifNoneMatch: '*' } : { ifMatch: `W/"${ifVersion}"` }
  const request = JSON.stringify({ method: op === 'put' ? 'PUT' : 'DELETE', url: `${type}/${id}`, ...condition })
  return op === 'put' ? `{"request":${request},"resource":${entry.text}}` : `{"request":${request}}`
}

function resultOf({ type, id, op }: WriteEntry, part: JsonObject | undefined): WriteResult {
  const response = objectAt(part, 'response')
  const status = (stringAt(response, 'status') ?? '').slice(0, 3)
  if (!/^2\d\d$/.test(status)) throw unavailable('does not report the outcome of an entry')
  const meta = objectAt(objectAt(part, 'resource'), 'meta')
  const versionId = writtenVersion(stringAt(response, 'etag'), meta)
  if (op === 'put' && versionId === undefined) throw unavailable('does not report the version that it wrote')
  const lastUpdated = instantOf(stringAt(meta, 'lastUpdated') ?? stringAt(response, 'lastModified'))
  return { type, id, lastUpdated, created: op === 'put' && status === '201', ...(versionId !== undefined && { versionId }) }
}
