import { statSync } from 'node:fs'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { OperationError } from 'fhir-ops/errors'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import type { OperationContext } from 'fhir-ops/context'
import type { ConceptStore, Indexer, SessionStore, Storage } from 'fhir-ops/storage'
import type { PostgresDatabase } from '@fhir-ops/postgres'
import { unreadable } from './files.js'

/** Which storage to open, and for what. */
export interface StorageOptions {
  /** `memory`, `sqlite:FILE`, `postgres:URL` or `http:URL`. */
  readonly storage: string
  /** Creates a SQLite file that does not exist; also done if there is something to load into it. Otherwise, a missing file is refused. */
  readonly create?: boolean
  /** True if nothing is searched before the storage is closed: an empty database gets its indexes only then (`openSqliteToFill`, `openPostgresToFill`). */
  readonly toFill?: boolean
  /** Returns the token of the caller whose request is being served; an upstream server is called with it. */
  readonly callerToken?: (() => string | undefined) | undefined
  /** Returns the signal of that caller; calls to an upstream server end when the caller has gone. */
  readonly callerSignal?: (() => AbortSignal | undefined) | undefined
  /** Files and folders to load first. */
  readonly load?: readonly string[]
}

/** A storage, together with its other stores. */
export interface OpenedStorage {
  readonly storage: Storage
  readonly sessions: SessionStore
  readonly concepts?: ConceptStore
  readonly close: () => Promise<void>
}

/** What commands work with: a context with a storage and the R4 definitions, and the store of sessions. */
export interface Engine {
  readonly ctx: OperationContext
  readonly indexer: Indexer
  readonly sessionStore: SessionStore
  readonly close: () => Promise<void>
}

/** Opens the storage that the option names, loading only its adapter. @throws {OperationError} `parameter-value` if it names none. */
export async function openStorage({
  storage: option,
  load: toLoad = [],
  create = toLoad.length > 0,
  toFill = false,
  callerToken,
  callerSignal,
}: StorageOptions): Promise<OpenedStorage> {
  if (option === 'memory') return beside(memoryStorage())
  const file = sqliteFile(option)
  if (file !== undefined) {
    if (!create) checkExists(file)
    const { openSqlite, openSqliteToFill } = await import('@fhir-ops/sqlite')
    return await named(file, () => (toFill ? openSqliteToFill(file) : openSqlite(file)))
  }
  const database = postgresUrl(option)
  if (database !== undefined) return openPostgresUrl(database, { toFill })
  const upstream = upstreamAddress(option)
  if (upstream !== undefined) {
    const { httpStorage } = await import('@fhir-ops/http')
    return beside(httpStorage({ baseUrl: upstream, callerToken, callerSignal }))
  }
  // Only a file name is repeated, because another value may contain a password.
  const meant = /^[\w./-]+\.(?:db|sqlite3?)$/.test(option) ? ` Did you mean sqlite:${option}?` : ''
  throw new OperationError(
    'parameter-value',
    `--storage must be memory, sqlite:FILE, postgres:URL, or http:URL without user and query.${meant}`,
  )
}

/** Returns the file in `sqlite:FILE`, for commands that support no other storage. @throws {OperationError} `parameter-value` if it does not exist. */
export function existingSqliteFile(option: string): string {
  const file = sqliteFile(option)
  if (file === undefined) throw new OperationError('parameter-value', '--storage must be sqlite:FILE.')
  checkExists(file)
  return file
}

function checkExists(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found?.isFile() === true) return
  if (found?.isDirectory() === true) throw new OperationError('parameter-value', `${file} is a folder: name a file in it.`)
  throw new OperationError('parameter-value', `There is no file ${file}. \`fhir-ops load RESOURCES --storage sqlite:FILE\` makes one.`)
}

/** Returns the file in `sqlite:FILE`. */
export function sqliteFile(option: string): string | undefined {
  return option.startsWith('sqlite:') && option.length > 'sqlite:'.length ? option.slice('sqlite:'.length) : undefined
}

/** Runs work on a file or a database, and adds its name to errors. The storage does not name it, because its messages also reach callers over HTTP. */
export async function named<T>(place: string | ((error: OperationError) => string), work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof OperationError)) throw cause
    throw new OperationError(cause.code, `${typeof place === 'string' ? place : place(cause)}: ${cause.message}`, { cause })
  }
}

/** Adds sessions to a storage without its own; they live as long as the process. */
function beside(storage: Storage): OpenedStorage {
  return { storage, sessions: memorySessionStore(), close: () => storage.close() }
}

/** Returns the URL in `postgres:URL`, or the option itself if it is such a URL. */
export function postgresUrl(option: string): string | undefined {
  return /^(?:postgres:)?(postgres(?:ql)?:\/\/.+)$/.exec(option)?.[1]
}

/** Opens the database of a URL; what the URL omits has the driver's defaults. */
async function openPostgresUrl(url: string, { toFill }: { readonly toFill: boolean }): Promise<PostgresDatabase> {
  const [{ openPostgres, openPostgresToFill }, { default: pg }] = await Promise.all([import('@fhir-ops/postgres'), import('pg')])
  const sockets = new Set<Socket>()
  const pool = new pg.Pool({ connectionString: withAbsoluteFiles(url), stream: () => socketIn(sockets) })
  try {
    return await named(hostAndDatabase(url), () => (toFill ? openPostgresToFill(pool) : openPostgres(pool)))
  } catch (error) {
    await pool.end()
    // The driver leaves a connection open that it fails to log in on, as without a password; the process would wait for the server to close it.
    for (const socket of sockets) socket.destroy()
    throw wrongUrl(error) ?? error
  }
}

/** Makes the files of certificates in a URL absolute: the driver reads them for each connection, when a server has left its first folder. */
function withAbsoluteFiles(url: string): string {
  return url.replaceAll(/([?&]ssl(?:cert|key|rootcert)=)([^&#]+)/g, (_, name: string, file: string) => {
    const path = new URLSearchParams(`file=${file}`).get('file') ?? file
    return name + encodeURIComponent(resolve(path))
  })
}

function socketIn(sockets: Set<Socket>): Socket {
  const socket = new Socket()
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
  return socket
}

/** Converts errors of reading the URL, and files that it names, which the driver does only when it connects. */
function wrongUrl(error: unknown): OperationError | undefined {
  let cause = error
  while (cause instanceof OperationError) cause = cause.cause
  if (!(cause instanceof Error && 'code' in cause)) return undefined
  if (cause.code === 'ERR_INVALID_URL')
    return new OperationError(
      'parameter-value',
      '--storage is not a valid postgres:URL: in user and password, special characters are percent-encoded (/ as %2F), and a port is at most 65535.',
    )
  return 'syscall' in cause && cause.syscall === 'open' && 'path' in cause ? unreadable(String(cause.path), cause) : undefined
}

/** Returns the name of a storage for messages; `undefined` if it has none. */
export function placeOfStorage(option: string): string | undefined {
  const database = postgresUrl(option)
  return sqliteFile(option) ?? (database === undefined ? upstreamAddress(option) : hostAndDatabase(database))
}

/** Returns the address in `http:URL`, or the option itself if it is such an address. */
function upstreamAddress(option: string): string | undefined {
  const address = option.replace(/^http:(?=https?:)/, '')
  return isPlainAddress(address) ? address : undefined
}

/** Returns host and database of a URL, without user and password. */
function hostAndDatabase(url: string): string {
  const { host = '', pathname = '' } = URL.parse(url) ?? {}
  return `postgres://${host}${pathname}`
}

/** True for an http or https address without user, query and fragment, to which paths can be appended. */
export function isPlainAddress(text: string): boolean {
  const url = URL.parse(text)
  // The parser treats `http:ftp://x` as `http://ftp//x`.
  return url !== null && /^https?:\/\//i.test(text) && [url.username, url.password, url.search, url.hash].join('') === ''
}
