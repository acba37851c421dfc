import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHandler, type HandlerOptions } from '@fhir-ops/handler'
import { configureServer, toNodeListener } from '@fhir-ops/handler/node'
import { botSandbox } from '@fhir-ops/bot-sandbox'
import { createBots } from 'fhir-ops/execute'
import { OperationError } from 'fhir-ops/errors'
import { createSessions } from 'fhir-ops/sessions'
import { devTokenVerifier } from './dev-token.js'
import { openEngine, type Engine } from './engine.js'
import type { Io } from './io.js'

/** What `fhir-ops serve` is started with. */
export interface ServeOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  readonly storage: string
  readonly load: readonly string[]
  /** Text that is accepted as a token with every scope. */
  readonly devToken?: string
  /** Opens the FHIR part to everybody. */
  readonly open?: boolean
  readonly botTimeout?: number
  readonly maxExpansion?: number
}

/** A server that listens. */
export interface RunningServer {
  readonly url: string
  readonly engine: Engine
  /** Refuses new requests, finishes or cancels those under way, closes the storage. */
  readonly close: () => Promise<void>
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

/** Opens the storage, loads content and listens. @throws {OperationError} `parameter-value` for an open door on another interface than loopback. */
export async function serve(options: ServeOptions, io: Io): Promise<RunningServer> {
  if ((options.open || options.devToken !== undefined) && !LOOPBACK.has(options.host)) {
    throw new OperationError('parameter-value', `--no-auth and --dev-token are for loopback only, not for ${options.host}.`)
  }
  const limits = options.maxExpansion === undefined ? {} : { limits: { maxExpansion: options.maxExpansion } }
  const engine = await openEngine({ storage: options.storage, load: options.load, ...limits }, io)
  try {
    return await listen(options, engine, io)
  } catch (error) {
    await engine.close()
    throw error
  }
}

async function listen(options: ServeOptions, engine: Engine, io: Io): Promise<RunningServer> {
  const server = createServer()
  configureServer(server)
  const url = await listening(server, options)
  const runtime = botSandbox()
  const handler = createHandler(handlerOptions({ options, engine, io, url, runtime }))
  server.on('request', toNodeListener(handler))
  return {
    url,
    engine,
    async close() {
      server.close()
      await handler.close()
      server.closeAllConnections()
      await runtime.close()
      await engine.close()
    },
  }
}

interface Parts {
  readonly options: ServeOptions
  readonly engine: Engine
  readonly io: Io
  readonly url: string
  readonly runtime: ReturnType<typeof botSandbox>
}

function handlerOptions({ options, engine, io, url, runtime }: Parts): HandlerOptions {
  const botLimits = options.botTimeout === undefined ? {} : { limits: { timeoutMs: options.botTimeout } }
  return {
    context: engine.ctx,
    indexer: engine.indexer,
    sessions: createSessions({ store: engine.sessionStore }),
    bots: createBots({ runtime, ...botLimits, onLog: (entry) => io.err(JSON.stringify(entry)) }),
    verifiers: options.devToken === undefined ? [] : [devTokenVerifier(options.devToken)],
    baseUrl: url,
    auth: options.open ? 'off' : 'required',
    defaultPolicy: 'deny',
    log: (entry) => {
      if (entry.level === 'error') io.err(JSON.stringify(entry))
    },
  }
}

async function listening(server: Server, { host, port }: ServeOptions): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: Error) =>
      reject(new OperationError('unavailable', `${host}:${port} cannot be listened on: ${codeOf(cause)}.`, { cause })),
    )
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return `http://${host.includes(':') ? `[${host}]` : host}:${isAddress(address) ? address.port : port}`
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null
}

function codeOf(error: Error): string {
  return 'code' in error && error.code === 'EADDRINUSE' ? 'the port is in use' : error.message
}
