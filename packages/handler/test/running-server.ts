import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions, type AuditEvent, type Sessions } from 'fhir-ops/sessions'
import type { Storage } from 'fhir-ops/storage'
import { createHandler, type Handler, type HandlerOptions, type LogEntry } from '../src/index.js'
import { configureServer, toNodeListener } from '../src/node/index.js'

/** Every scope that the library's own tokens can have. */
export const FULL_SCOPES = ['openid', 'profile', 'email', 'system/*.cruds', 'system/Bot.cruds'] as const

export const USER = {
  sub: 'ann',
  name: 'Ann Example',
  given_name: 'Ann',
  family_name: 'Example',
  preferred_username: 'ann',
  email: 'ann@example.org',
} as const

export interface RunningServer {
  readonly base: string
  readonly port: number
  readonly handler: Handler
  readonly sessions: Sessions
  readonly storage: Storage
  readonly server: Server
  readonly audit: AuditEvent[]
  readonly logs: LogEntry[]
  /** A token with every scope. */
  readonly token: string
  stop(): Promise<void>
}

export interface ServerSetup extends Partial<HandlerOptions> {
  readonly storage?: Storage
}

const DEFAULT_TIMEOUT_MS = 5_000

/** Raises the default time limit, which a first validation may exceed where many tests run at the same time. A limit of a test's own stays. */
function unhurried(context: OperationContext): OperationContext {
  const { limits } = context
  return limits.operationTimeoutMs === DEFAULT_TIMEOUT_MS ? { ...context, limits: { ...limits, operationTimeoutMs: 60_000 } } : context
}

/** Starts a handler over memory on a free port of the loopback interface. */
export async function startServer(setup: ServerSetup = {}): Promise<RunningServer> {
  const { storage = memoryStorage(), context = createContext({ storage }), ...options } = setup
  const audit: AuditEvent[] = []
  const logs: LogEntry[] = []
  const sessions = options.sessions ?? createSessions({ store: memorySessionStore(), onAudit: (event) => void audit.push(event) })
  const server = configureServer(createServer())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const base = `http://127.0.0.1:${port}`
  const handler = createHandler({
    context: unhurried(context),
    baseUrl: base,
    defaultPolicy: 'deny',
    log: (entry) => void logs.push(entry),
    ...options,
    sessions,
  })
  server.on('request', toNodeListener(handler))
  const { token } = await sessions.create({ user: USER, scopes: FULL_SCOPES })
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { base, port, handler, sessions, storage, server, audit, logs, token, stop }
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; `undefined` when it is none. */
  readonly json: unknown
}

export interface Sending {
  readonly method?: string
  readonly headers?: Record<string, string | string[]> | readonly string[]
  readonly body?: string | Uint8Array
}

/** Sends one request with exactly these headers, over a connection of its own. */
export function send(url: string, { method = 'GET', headers = {}, body }: Sending = {}): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const { hostname, port } = new URL(url)
  const path = url.slice(url.indexOf('/', 8))
  const outgoing = request({ hostname, port, path, method, headers: headers as Record<string, string>, agent: false }, (incoming) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('error', reject)
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: jsonOf(text) })
    })
  })
  outgoing.on('error', reject)
  outgoing.end(body)
  return promise
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends a request below the FHIR base, with the token that has every scope. */
export function askFhir({ base, token }: RunningServer, path: string, sending: Sending = {}): Promise<Reply> {
  const headers = { ...fhirHeaders(token), ...(sending.headers as Record<string, string>) }
  return send(`${base}/fhir/R4${path}`, { ...sending, headers })
}

/** Headers of a request with a FHIR body. */
export function fhirHeaders(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' }
}

/** A member deep inside JSON: `at(reply.json, 'issue', 0, 'code')`; `undefined` where there is none. */
export function at(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined), json)
}

/** Asks who the token is of. */
export function userInfo({ base }: RunningServer, token: string, scheme = 'Bearer'): Promise<Reply> {
  return send(`${base}/oauth2/userinfo`, { headers: { authorization: `${scheme} ${token}` } })
}
