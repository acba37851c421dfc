import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse, Server } from 'node:http'
import { cqlChecker, cqlLanguage, cqlOperations } from '@fhir-ops/cql'
import { openWorkerTranslator } from '@fhir-ops/cql/node'
import type { CqlTranslator } from '@fhir-ops/cql/translator'
import { createHandler, type HandlerOptions, type TokenVerifier, type WriteChecks, OPERATIONS } from '@fhir-ops/handler'
import { toNodeListener, type NodeListener, configureServer, startingListener } from '@fhir-ops/handler/node'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { createPlayground } from '@fhir-ops/playground'
import { measureOperations } from 'fhir-ops/evaluate'
import type { Operation } from 'fhir-ops/operation'
import { createBots } from 'fhir-ops/execute'
import { openAuditStore, createSessions, type AuditStore, type Sessions } from 'fhir-ops/sessions'
import { delegated } from '@fhir-ops/http'
import { OperationError, outcomeOf } from 'fhir-ops/errors'
import { openEngine, type Engine, type EngineOptions } from '../engine.js'
import { type Io, wrongUse, interrupted } from '../io.js'
import { devTokenVerifier, identityOf, type IdentityOptions } from './identity.js'
import { MCP_PATH, mcpListener } from './mcp-listener.js'
import type { AddressInfo } from 'node:net'
import { getSystemErrorMessage } from 'node:util'
import { isPlainAddress } from '../storage.js'

/** Options of `fhir-ops serve`. */
export interface ServeOptions extends ServiceOptions {
  readonly host: string
  /** Port; 0 for a free one. */
  readonly port: number
}

/** A running server. */
export interface RunningServer {
  readonly url: string
  readonly engine: Engine
  /** Refuses new requests, finishes or cancels running ones, closes the storage. */
  readonly close: () => Promise<void>
}

/** How long a stopping server waits for finished answers to be sent, in milliseconds. */
const LINGER_MS = 500
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

/**
 * Starts to listen, then opens the storage and loads content; until that is done, requests are answered with 503.
 *
 * @throws {OperationError} `parameter-value` for unprotected access on an interface other than loopback; `unavailable` if the port is taken.
 */
export async function serve(options: ServeOptions, io: Io): Promise<RunningServer> {
  checkDoors(options)
  // Not imported, because Node would also load HTTP/2 and the HTTP client, which takes ten times as long as the server alone.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = configureServer(createServer())
  server.on('request', startingListener())
  const url = await listening(server, options)
  try {
    if (options.baseUrl === undefined && !isPlainAddress(url))
      throw new OperationError(
        'parameter-value',
        `${options.host} cannot be part of an address: give the address of the server as --base-url.`,
      )
    const service = await openService(options, url, io)
    server.removeAllListeners('request')
    server.on('request', options.open === true ? forThisMachine(service.listener, options, url) : service.listener)
    return { url, engine: service.engine, close: () => stopServer(server, service) }
  } catch (error) {
    server.close()
    throw error
  }
}

function checkDoors({ host, open = false, devToken, cors = [], corsCredentials = false, baseUrl }: ServeOptions): void {
  if (baseUrl !== undefined && /\/fhir\/R4\/?$/.test(baseUrl))
    throw new OperationError('parameter-value', '--base-url must be the address above /fhir/R4, which is added to it.')
  if (corsCredentials && (cors.length === 0 || cors.includes('*')))
    throw new OperationError('parameter-value', '--cors-credentials needs --cors with origins by name, not *.')
  if ((open || devToken !== undefined) && !LOOPBACK.has(host))
    throw new OperationError('parameter-value', `--no-auth and --dev-token are allowed on loopback interfaces only, not on ${host}.`)
}

/**
 * Refuses what the browser of whoever runs an open server sends for pages of others: by a name of theirs that leads here (DNS rebinding), or as a request
 * that browsers send to other origins without asking, such as a form. Pages of this machine may be at other ports: servers for development hand on requests.
 */
function forThisMachine(listener: NodeListener, { baseUrl = '', cors = [] }: ServeOptions, url: string): NodeListener {
  const origins = new Set([url, baseUrl].flatMap((one) => URL.parse(one)?.origin ?? []))
  const names = new Set([...origins].map((origin) => new URL(origin).hostname))
  const isNamed = (host: string): boolean => {
    const { hostname = '' } = URL.parse(`http://${host}`) ?? {}
    return names.has(hostname) || OF_THIS_MACHINE.test(hostname)
  }
  const isOwn = (origin: string, host: string): boolean =>
    cors.includes('*') ||
    cors.includes(origin) ||
    origins.has(origin) ||
    origin === `http://${host}` ||
    OF_THIS_MACHINE.test(URL.parse(origin)?.hostname ?? '')
  return (message, response) => {
    const { host, origin } = message.headers
    const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(message.method ?? '')
    const isForeign = (host !== undefined && !isNamed(host)) || (!isRead && origin !== undefined && !isOwn(origin, host ?? ''))
    return isForeign ? refuseForeign(message, response) : listener(message, response)
  }
}

const OF_THIS_MACHINE = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/

const ONLY_HERE = 'A server without authentication answers only to this machine: see --base-url and --cors.'

function refuseForeign(message: IncomingMessage, response: ServerResponse): void {
  response.writeHead(403, {
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'Content-Type': 'application/fhir+json; charset=utf-8',
    Connection: 'close',
  })
  const outcome = outcomeOf(new OperationError('forbidden', ONLY_HERE), randomUUID())
  response.end(message.method === 'HEAD' ? undefined : JSON.stringify(outcome))
}

async function listening(server: Server, { host, port }: ServeOptions): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: Error) =>
      reject(new OperationError('unavailable', `${host}:${port} cannot be opened: ${reasonOf(cause)}.`, { cause })),
    )
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return `http://${host.includes(':') ? `[${host}]` : host}:${isAddress(address) ? address.port : port}`
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}

function reasonOf(error: Error): string {
  if (!('code' in error && 'errno' in error && typeof error.errno === 'number')) return error.message
  if (error.code === 'EADDRINUSE') return 'the port is in use (--port selects another one, 0 a free one)'
  if (error.code === 'EACCES') return 'this user may not open the port (--port selects another one, from 1024 up)'
  return error.code === 'ENOTFOUND' ? 'there is no such host' : getSystemErrorMessage(error.errno)
}

/** Waits for running requests, then closes what they used. */
async function stopServer(server: Server, service: Service): Promise<void> {
  const ended = new Promise<unknown>((resolve) => server.close(resolve))
  await service.finish()
  const linger = setTimeout(() => server.closeAllConnections(), LINGER_MS)
  await ended
  clearTimeout(linger)
  await service.close()
}

/** Runs a server until the first SIGINT or SIGTERM, then stops it in order. @param announce Announces that it listens. */
export async function untilInterrupted(server: RunningServer, io: Io, announce: () => Promise<void> | void): Promise<void> {
  // Registered before the announcement, because whoever started the server may stop it as soon as it announces that it listens.
  const end = interrupted()
  io.leaveFolder?.()
  await announce()
  await end
  // Printed because stopping may take some seconds.
  io.err('stopping')
  await server.close()
}

/** Options of the service. */
interface ServiceOptions extends IdentityOptions, DelegationOptions {
  /** Address that clients use, if it differs from the one listened on, such as that of a proxy. */
  readonly baseUrl?: string
  readonly storage: string
  readonly load: readonly string[]
  /** Indexes the words in resources, so that they can be searched. */
  readonly words?: boolean
  /** File with accepted findings of validation. */
  readonly suppress?: string
  /** Checks on resources before they are stored. */
  readonly validateWrites?: WriteChecks
  /** Text that is accepted as a token with every scope. */
  readonly devToken?: string
  /** Opens the FHIR API to everybody. */
  readonly open?: boolean
  /** Serves the playground at the base address. */
  readonly ui?: boolean
  /** Loads the translator of CQL before the service is ready. */
  readonly preloadCql?: boolean
  /** Serves the Model Context Protocol at `/mcp`. */
  readonly mcp?: boolean
  /** Origins whose pages may call the service; `*` for all. */
  readonly cors?: readonly string[]
  /** Allows these origins, which must be listed by name, to send the browser's credentials. */
  readonly corsCredentials?: boolean
  /** Networks of proxies whose `X-Forwarded-For` names the caller's address. Default none. */
  readonly trustProxy?: readonly string[]
  /** Reads bodies in gzip. */
  readonly gzipRequests?: boolean
  readonly botTimeout?: number
  readonly maxExpansion?: number
  /** What is written to `io.err` as JSON lines: only failures (default), or also every request and every audit event. */
  readonly log?: 'failures' | 'all'
  /** Stores audit events as AuditEvent resources. */
  readonly audit?: boolean
}

/** Answers the requests that a server receives. */
interface Service {
  readonly listener: NodeListener
  readonly engine: Engine
  /** Refuses new requests, finishes or cancels running ones. */
  readonly finish: () => Promise<void>
  /** Closes the storage and everything else that requests used, after they have finished. */
  readonly close: () => Promise<void>
}

const DAY_MS = 86_400_000

/** Opens the storage, loads content, and creates the handler and everything served next to it. @param url Address on which the server listens. */
async function openService(options: ServiceOptions, url: string, io: Io): Promise<Service> {
  const parts = closedTogether()
  try {
    return await serviceOf(options, url, io, parts)
  } catch (error) {
    await parts.close()
    throw error
  }
}

/** A storage on another server. */
const UPSTREAM = /^https?:/

async function serviceOf(options: ServiceOptions, url: string, io: Io, parts: Parts): Promise<Service> {
  const { baseUrl = url, forwardToken = false } = options
  const callers = forwardToken || UPSTREAM.test(options.storage) ? currentCallers() : undefined
  const callerToken = forwardToken ? callers?.token : undefined
  const delegating = (operations: readonly Operation[]): readonly Operation[] => operationsOf(options, operations, callerToken)
  // Wrong options are reported before anything is loaded.
  delegating(OPERATIONS)
  const identity = await identityOf(options, io)
  const engine = parts.add(await openEngine({ ...engineOptions(options, baseUrl), callerToken, callerSignal: callers?.signal }, io))
  const translator = parts.add(openWorkerTranslator({ model: engine.ctx.types }))
  if (options.preloadCql === true) await translator.ready()
  const runtime = parts.add(openBotSandbox())
  const { botSchemas } = await import('@fhir-ops/bot-sandbox/schemas')
  const audit = parts.add(auditing(options, engine, io))
  const sessions = parts.add(createSessions({ store: engine.sessionStore, onAudit: audit.onAudit }))
  const botLimits = options.botTimeout === undefined ? {} : { limits: { timeoutMs: options.botTimeout } }
  const handler = createHandler({
    ...identity.options,
    ...handlerOptions(options, io),
    context: { ...engine.ctx, checkLibrary: cqlChecker({ translator }) },
    indexer: engine.indexer,
    baseUrl,
    sessions,
    operations: delegating(withCql(OPERATIONS, translator)),
    bots: createBots({ runtime, schemas: botSchemas(), ...botLimits, onLog: (entry) => io.err(JSON.stringify(entry)) }),
    verifiers: [...devTokens(options), ...(identity.options.verifiers ?? [])],
    readiness: () => Promise.all([identity.ready(), engine.ctx.storage.read('Basic', 'ready')]),
  })
  const fhir = callers?.within(toNodeListener(handler)) ?? toNodeListener(handler)
  const onError = ({ stack }: Error): void => io.err(JSON.stringify({ level: 'error', route: MCP_PATH, stack }))
  const mcp =
    options.mcp === true ? await mcpListener({ handler, context: engine.ctx, baseUrl, auth: authOf(options), onError }) : undefined
  const page = options.ui === true ? createPlayground({ path: new URL(`${baseUrl.replace(/\/$/, '')}/`).pathname }) : undefined
  const purging = setInterval(() => void purge(sessions, io), DAY_MS).unref()
  return {
    engine,
    listener: (message, response) => {
      if (page?.(message, response) !== true && mcp?.(message, response) !== true) fhir(message, response)
    },
    async finish() {
      clearInterval(purging)
      await handler.close()
    },
    close: parts.close,
  }
}

interface Parts {
  /** Registers a part, which is closed with the others, and returns it. */
  readonly add: <T extends { readonly close: () => Promise<void> }>(part: T) => T
  /** Closes all parts, the last opened first. @throws the first error of a part. */
  readonly close: () => Promise<void>
}

function closedTogether(): Parts {
  const parts: { readonly close: () => Promise<void> }[] = []
  return {
    add(part) {
      parts.unshift(part)
      return part
    },
    async close() {
      const failures: unknown[] = []
      for (const part of parts) await part.close().catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
  }
}

function engineOptions({ storage, load, words, suppress, maxExpansion }: ServiceOptions, baseUrl: string): EngineOptions {
  return {
    storage,
    create: true,
    load,
    words,
    base: `${baseUrl.replace(/\/$/, '')}/fhir/R4`,
    ...(maxExpansion !== undefined && { limits: { maxExpansion } }),
    ...(suppress !== undefined && { suppress }),
  }
}

/** Returns the operations including those of CQL, and those of measures with CQL as a language of criteria. */
function withCql(operations: readonly Operation[], translator: CqlTranslator): readonly Operation[] {
  const measures = measureOperations({ languages: [cqlLanguage({ translator })] })
  const others = operations.filter((operation) => !measures.some(({ name }) => name === operation.name))
  return [...others, ...measures, ...cqlOperations({ translator })]
}

/** Converts the command's options to options of the handler. */
function handlerOptions(
  options: ServiceOptions,
  io: Io,
): Pick<HandlerOptions, 'auth' | 'defaultPolicy' | 'cors' | 'trustProxy' | 'validateWrites' | 'gzipRequests' | 'log'> {
  const { cors, corsCredentials = false, trustProxy, validateWrites, gzipRequests, log } = options
  return {
    auth: authOf(options),
    defaultPolicy: 'deny',
    ...(cors !== undefined && { cors: { origins: cors, ...(corsCredentials && { credentials: true }) } }),
    ...(trustProxy !== undefined && { trustProxy }),
    ...(validateWrites !== undefined && { validateWrites }),
    ...(gzipRequests !== undefined && { gzipRequests }),
    log: (entry) => {
      if (log === 'all' || entry.level === 'error') io.err(JSON.stringify(entry))
    },
  }
}

function authOf({ open = false }: ServiceOptions): 'required' | 'off' {
  return open ? 'off' : 'required'
}

function devTokens({ devToken }: ServiceOptions): readonly TokenVerifier[] {
  return devToken === undefined ? [] : [devTokenVerifier(devToken)]
}

/** Returns the destination of audit events: the log, the storage, both or neither. */
function auditing({ log, audit }: ServiceOptions, { ctx, indexer }: Engine, io: Io): AuditStore {
  const onFailure = (_error: unknown, lost: number): void => io.err(JSON.stringify({ level: 'error', lostAuditEvents: lost }))
  const store = audit === true ? openAuditStore({ storage: ctx.storage, indexer, onFailure }) : undefined
  return {
    onAudit(event) {
      if (log === 'all') io.err(JSON.stringify({ audit: event }))
      return store?.onAudit(event)
    },
    close: async () => store?.close(),
  }
}

/** Deletes old sessions. A failure is reported, and the next attempt is a day later. */
async function purge(sessions: Sessions, io: Io): Promise<void> {
  await sessions.purge().catch((error: unknown) => io.err(`old sessions could not be deleted: ${String(error)}`))
}

/** Options for delegating operations to another FHIR server. */
interface DelegationOptions {
  /** Operation names without the dollar sign. */
  readonly delegate?: readonly string[]
  /** Base of the other server. */
  readonly delegateTo?: string
  /** Code systems and canonicals for which the other server is asked directly. */
  readonly remote?: readonly string[]
  /** Calls it, and the server behind `--storage http:URL`, with the caller's token. */
  readonly forwardToken?: boolean
}

/**
 * Returns the operations to mount; delegated ones call the other server.
 *
 * @param callerToken Returns the token of the caller whose request is being served, if it is to be passed on.
 * @throws {OperationError} `parameter-value` for options without an effect, and for operations that cannot be delegated.
 */
function operationsOf(
  { delegate = [], delegateTo, remote = [] }: DelegationOptions,
  operations: readonly Operation[],
  callerToken?: () => string | undefined,
): readonly Operation[] {
  if ((delegateTo === undefined) !== (delegate.length === 0) || (remote.length > 0 && delegateTo === undefined)) {
    throw new OperationError('parameter-value', '--delegate and --delegate-to must be given together; --remote needs both.')
  }
  if (delegateTo === undefined) return operations
  try {
    return delegated(operations, { baseUrl: delegateTo, delegate, remote, callerToken })
  } catch (cause) {
    throw wrongUse(cause)
  }
}

/** The callers of current requests, for calls to an upstream server. */
interface Callers {
  /** Wraps a listener, so that each request is served in the context of its caller. */
  readonly within: (listener: NodeListener) => NodeListener
  /** Returns the token of the current request. */
  readonly token: () => string | undefined
  /** Returns a signal that is aborted when nobody waits for the answer to the current request any longer. */
  readonly signal: () => AbortSignal | undefined
}

/** Creates the context store for the callers of a server. */
function currentCallers(): Callers {
  const callers = new AsyncLocalStorage<{ readonly token: string | undefined; readonly signal: AbortSignal }>()
  return {
    within: (listener) => (request: IncomingMessage, response: ServerResponse) => {
      const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      callers.run({ token, signal: gone.signal }, () => listener(request, response))
    },
    token: () => callers.getStore()?.token,
    signal: () => callers.getStore()?.signal,
  }
}
