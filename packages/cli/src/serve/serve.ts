import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getSystemErrorMessage } from 'node:util'
import { configureServer, startingListener } from '@fhir-ops/handler/node'
import { OperationError } from 'fhir-ops/errors'
import type { Engine } from '../engine.js'
import { interrupted, type Io } from '../io.js'
import { isPlainAddress } from '../storage.js'
import { openService, type Service, type ServiceOptions } from './service.js'

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
    server.on('request', service.listener)
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
