import { createHandler, OPERATIONS, type Handler } from '@fhir-ops/handler'
import { loadR4, type Release } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import type { Operation } from 'fhir-ops/operation'
import { createSessions } from 'fhir-ops/sessions'
import { resourcesIn } from '../fhir/resources.js'
import type { Call } from './call.js'
import type { WorkerMessage, WorkerRequest } from './messages.js'

/** No address on any network: the handler is a function in this worker. */
const BASE = 'https://playground.invalid'

const sessions = createSessions({ store: memorySessionStore() })
const release = loadR4()

/** The handlers that were used last, by the content that they serve. */
const handlers = new Map<string, Promise<Handler>>()
const MOST_HANDLERS = 4

async function start(): Promise<void> {
  const started = performance.now()
  await handlerFor('', false)
  say({ kind: 'ready', ms: performance.now() - started })
}

async function answer({ id, call }: WorkerRequest): Promise<void> {
  try {
    const handler = await handlerFor(call.stored ?? '', needsCql(call))
    const started = performance.now()
    const response = await handler(requestOf(call))
    const type = response.headers.get('content-type') ?? ''
    say({ kind: 'answer', id, status: response.status, type, text: await response.text(), ms: performance.now() - started })
  } catch (error) {
    say({ kind: 'failed', id, message: messageOf(error) })
  }
}

function needsCql({ path, stored = '' }: Call): boolean {
  return /^\/(\$cql|Library\/)/.test(path) || (path.startsWith('/Measure/') && stored.includes('"text/cql'))
}

function handlerFor(stored: string, withCql: boolean): Promise<Handler> {
  const key = `${withCql ? 'cql' : ''}\n${stored}`
  const known = handlers.get(key)
  if (known !== undefined) return known
  const made = handlerOver(stored, withCql)
  handlers.set(key, made)
  for (const oldest of handlers.keys()) if (handlers.size > MOST_HANDLERS) handlers.delete(oldest)
  return made
}

/** The time of an operation: it has the thread to itself, and the first one of a slow machine also loads what it needs. */
const PATIENCE_MS = 60_000

async function handlerOver(stored: string, withCql: boolean): Promise<Handler> {
  const { indexer, ...definitions } = await release
  const storage = memoryStorage(stored === '' ? [] : resourcesIn(stored), { indexer })
  const context = createContext({ storage, ...definitions, limits: { operationTimeoutMs: PATIENCE_MS } })
  const operations = withCql ? await operationsWithCql(definitions.types) : OPERATIONS
  return createHandler({ context, sessions, operations, baseUrl: BASE, auth: 'off', defaultPolicy: 'deny' })
}

let cqlOperations: Promise<readonly Operation[]> | undefined

/** CQL and its translator are large, so they are loaded with the first call that needs them. */
function operationsWithCql(model: Release['types']): Promise<readonly Operation[]> {
  cqlOperations ??= import('./cql-operations.js').then(({ withCql }) => withCql(model))
  return cqlOperations
}

function requestOf({ method, path, body }: Call): Request {
  const url = `${BASE}/fhir/R4${path}`
  return body === undefined
    ? new Request(url, { method })
    : new Request(url, { method, body: body.text, headers: { 'Content-Type': body.type } })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function say(message: WorkerMessage): void {
  self.postMessage(message)
}

self.addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => void answer(data))
start().catch((error: unknown) => say({ kind: 'failed', id: undefined, message: messageOf(error) }))
