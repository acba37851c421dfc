import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getSystemErrorMessage } from 'node:util'
import { cqlChecker, cqlLanguage, cqlOperations } from '@fhir-ops/cql'
import { openWorkerTranslator } from '@fhir-ops/cql/node'
import type { CqlTranslator } from '@fhir-ops/cql/translator'
import { createHandler, OPERATIONS, type HandlerOptions, type TokenVerifier, type WriteChecks } from '@fhir-ops/handler'
import { configureServer, startingListener, toNodeListener } from '@fhir-ops/handler/node'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { createPlayground } from '@fhir-ops/playground'
import { measureOperations } from 'fhir-ops/evaluate'
import type { Operation } from 'fhir-ops/operation'
import { createBots, type BotSchemas } from 'fhir-ops/execute'
import { OperationError } from 'fhir-ops/errors'
import { openAuditStore, createSessions, type AuditStore, type Sessions } from 'fhir-ops/sessions'
import { callerTokens, operationsOf, type DelegationOptions } from './delegation.js'
import { devTokenVerifier } from './demo-user.js'
import { openEngine, type Engine, type EngineOptions } from './engine.js'
import { identityOf, type IdentityOptions } from './identity.js'
import type { Io } from './io.js'
import { mcpListener } from './mcp-listener.js'

/** What `fhir-ops serve` is started with. */
export interface ServeOptions extends IdentityOptions, DelegationOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Address that clients know, where it is another one, such as that of a proxy. */
  readonly baseUrl?: string
  readonly storage: string
  readonly load: readonly string[]
  /** Index the words of resources, and search by them. */
  readonly words?: boolean
  /** File with findings of validation that are accepted. */
  readonly suppress?: string
  /** What is checked of resources before they are stored. */
  readonly validateWrites?: WriteChecks
  /** Text that is accepted as a token with every scope. */
  readonly devToken?: string
  /** Opens the FHIR part to everybody. */
  readonly open?: boolean
  /** Serves the playground at the base address. */
  readonly ui?: boolean
  /** Serves the Model Context Protocol at `/mcp`. */
  readonly mcp?: boolean
  /** Origins whose pages may call the service; `*` for all. */
  readonly cors?: readonly string[]
  /** Lets these origins, given by name, send credentials of the browser. */
  readonly corsCredentials?: boolean
  /** Networks of proxies whose `X-Forwarded-For` names the caller's address; default none. */
  readonly trustProxy?: readonly string[]
  readonly botTimeout?: number
  readonly maxExpansion?: number
  /** What is written to `io.err` as JSON lines: failures (default), or also every request and every audit event. */
  readonly log?: 'failures' | 'all'
  /** Stores audit events as AuditEvents. */
  readonly audit?: boolean
}

/** A server that listens. */
export interface RunningServer {
  readonly url: string
  readonly engine: Engine
  /** Refuses new requests, finishes or cancels those under way, closes the storage. */
  readonly close: () => Promise<void>
}

const DAY_MS = 86_400_000
/** How often Node looks for clients that are late; by itself every 30 seconds. */
const CHECK_MS = 1_000
/** How long a stopping server lets answers out that are ready. */
const LINGER_MS = 500
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

/**
 * Listens, opens the storage and loads content; until that is done, requests are answered with 503.
 *
 * @throws {OperationError} `parameter-value` for an open door on another interface than loopback; `unavailable` when the port is taken.
 */
export async function serve(options: ServeOptions, io: Io): Promise<RunningServer> {
  checkCors(options)
  if ((options.open || options.devToken !== undefined) && !LOOPBACK.has(options.host)) {
    throw new OperationError(
      'parameter-value',
      `--no-auth and --dev-token are allowed on loopback interfaces only, not on ${options.host}.`,
    )
  }
  // Not imported: then Node loads HTTP/2 and its HTTP client with it, which takes ten times as long as the server alone.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = configureServer(createServer({ connectionsCheckingInterval: CHECK_MS }))
  server.on('request', startingListener())
  const url = await listening(server, options)
  try {
    return await answering({ options, server, url, io })
  } catch (error) {
    server.close()
    throw error
  }
}

function checkCors({ cors = [], corsCredentials = false }: ServeOptions): void {
  if (!corsCredentials || (cors.length > 0 && !cors.includes('*'))) return
  throw new OperationError('parameter-value', '--cors-credentials needs --cors with origins by name, not *.')
}

interface Listening {
  readonly options: ServeOptions
  readonly server: Server
  readonly url: string
  readonly io: Io
}

async function answering({ options, server, url, io }: Listening): Promise<RunningServer> {
  const { baseUrl = url, forwardToken = false } = options
  const callers = forwardToken ? callerTokens() : undefined
  const operations = operationsOf(options, callers?.current)
  const identity = await identityOf(options, io)
  const engine = await openEngine({ ...engineOptions(options, baseUrl), callerToken: callers?.current }, io)
  const translator = openWorkerTranslator({ model: engine.ctx.types })
  const runtime = openBotSandbox()
  const { botSchemas } = await import('@fhir-ops/bot-sandbox/schemas')
  const audit = auditing(options, engine, io)
  const sessions = createSessions({ store: engine.sessionStore, onAudit: audit.onAudit })
  const purging = setInterval(() => void purge(sessions, io), DAY_MS).unref()
  const handler = createHandler({
    ...identity.options,
    operations: withCql(operations.operations ?? OPERATIONS, translator),
    ...handlerOptions({ options, engine, io, baseUrl, runtime, sessions, schemas: botSchemas() }),
    context: { ...engine.ctx, checkLibrary: cqlChecker({ translator }) },
    verifiers: [...devTokens(options), ...(identity.options.verifiers ?? [])],
    readiness: () => Promise.all([identity.ready(), engine.ctx.storage.read('Basic', 'ready')]),
  })
  const auth = options.open ? 'off' : 'required'
  const mcp = options.mcp === true ? await mcpListener({ handler, context: engine.ctx, baseUrl, auth }) : undefined
  server.removeAllListeners('request')
  const listener = toNodeListener(handler)
  const service = callers?.within(listener) ?? listener
  const page = options.ui === true ? createPlayground({ path: new URL(`${baseUrl.replace(/\/$/, '')}/`).pathname }) : undefined
  server.on('request', (message, response) => {
    if (page?.(message, response) !== true && mcp?.(message, response) !== true) service(message, response)
  })
  return {
    url,
    engine,
    async close() {
      const ended = new Promise<unknown>((resolve) => server.close(resolve))
      clearInterval(purging)
      await handler.close()
      const linger = setTimeout(() => server.closeAllConnections(), LINGER_MS)
      await ended
      clearTimeout(linger)
      try {
        await sessions.close()
      } finally {
        await audit.close()
        await runtime.close()
        await translator.close()
        await engine.close()
      }
    },
  }
}

/** The operations with CQL: those of CQL itself, and measures whose criteria are in it. */
function withCql(operations: readonly Operation[], translator: CqlTranslator): readonly Operation[] {
  const measures = measureOperations({ languages: [cqlLanguage({ translator })] })
  const others = operations.filter((operation) => !measures.some(({ name }) => name === operation.name))
  return [...others, ...measures, ...cqlOperations({ translator })]
}

function engineOptions({ storage, load, words, suppress, maxExpansion }: ServeOptions, baseUrl: string): EngineOptions {
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

function devTokens({ devToken }: ServeOptions): readonly TokenVerifier[] {
  return devToken === undefined ? [] : [devTokenVerifier(devToken)]
}

interface Parts {
  readonly options: ServeOptions
  readonly engine: Engine
  readonly io: Io
  readonly baseUrl: string
  readonly runtime: ReturnType<typeof openBotSandbox>
  readonly sessions: Sessions
  readonly schemas: BotSchemas
}

function handlerOptions({ options, engine, io, baseUrl, runtime, sessions, schemas }: Parts): HandlerOptions {
  const botLimits = options.botTimeout === undefined ? {} : { limits: { timeoutMs: options.botTimeout } }
  return {
    context: engine.ctx,
    indexer: engine.indexer,
    sessions,
    bots: createBots({ runtime, schemas, ...botLimits, onLog: (entry) => io.err(JSON.stringify(entry)) }),
    baseUrl,
    auth: options.open ? 'off' : 'required',
    defaultPolicy: 'deny',
    ...(options.cors !== undefined && { cors: { origins: options.cors, ...(options.corsCredentials === true && { credentials: true }) } }),
    ...(options.trustProxy !== undefined && { trustProxy: options.trustProxy }),
    ...(options.validateWrites !== undefined && { validateWrites: options.validateWrites }),
    log: (entry) => {
      if (options.log === 'all' || entry.level === 'error') io.err(JSON.stringify(entry))
    },
  }
}

/** Where audit events go: to the log, to the storage, to both or nowhere. */
function auditing({ log, audit }: ServeOptions, { ctx, indexer }: Engine, io: Io): AuditStore {
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

/** Forgets old sessions. A failure is reported, and the next day tries again. */
async function purge(sessions: Sessions, io: Io): Promise<void> {
  await sessions.purge().catch((error: unknown) => io.err(`old sessions could not be deleted: ${String(error)}`))
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
