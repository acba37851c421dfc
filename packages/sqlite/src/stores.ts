import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createResourceCache, resourceOf, type LookUp } from '@fhir-ops/sql'
import { AMOUNT, CLOCK, FLAG, type MemberKind, checkOptions, having, inputShape, type InputShape } from 'fhir-ops/internal/input'
import {
  checkEntries,
  checkQuery,
  checkRead,
  checkScan,
  conditionalPuts,
  type HistoryItem,
  type ScanItem,
  type StagedSystem,
} from 'fhir-ops/internal/storage'
import type {
  Capabilities,
  ReadResult,
  ResourceHistory,
  SearchPage,
  SessionStore,
  Storage,
  StoredResource,
  ConceptStore,
  SystemToStore,
} from 'fhir-ops/storage'
import { OperationError } from 'fhir-ops/errors'
import { type Executor, inThread } from './commands/command.js'
import { readChanges } from './sets/change-log.js'
import { readHistory, readVersion, versionOf, type VersionRow } from './commands/history.js'
import { packedEntry, writeEntries } from './commands/write-entries.js'
import { readResource } from './commands/resource-row.js'
import { scanPage, type ScanRow } from './search/scan.js'
import { countMatches, lookUpPage, searchPage, type PageRows } from './search/search-page.js'
import {
  addSession,
  changeSession,
  endOthers,
  purgeSessions,
  readSession,
  sessionsOf,
  useOnce,
  changeUser,
  putUser,
  readUser,
} from './commands/session-commands.js'
import { hasSystem, listSystems, publishSystem, putSection, readSection, removeSystem, stageSystem } from './commands/concept-commands.js'
import { sqliteDriver, type SqliteConnection, type SqliteDriver } from './database/driver.js'
import { migrate } from './database/migrations.js'

const CAPABILITIES: Capabilities = {
  atomic: true,
  counts: true,
  preconditions: true,
  sorts: true,
  contained: true,
  conditionalWrites: true,
}

/** Options of `sqliteStorage`. */
export interface SqliteStorageOptions {
  /** Clock for `lastUpdated`. Default: the system clock. */
  readonly now?: () => Date
  /**
   * Size of the cache of parsed resources, in characters of their text, so that a large definition is not parsed for every request. A cached resource
   * is used only while the database confirms that it is current. Long versions on pages of histories have a cache of the same size. Default 32 million;
   * 0 disables both caches.
   */
  readonly cacheCharacters?: number
  /** Stores replaced and deleted versions. Default true; with false, `history` is absent and no versions are stored from now on. */
  readonly history?: boolean
}

/** Expected types of the options. */
export const STORAGE_OPTIONS: { readonly [K in keyof SqliteStorageOptions]-?: MemberKind } = {
  now: CLOCK,
  cacheCharacters: AMOUNT,
  history: FLAG,
}

const DEFAULT_CACHE = 32_000_000
/** Texts of at least this many bytes are not sent from the thread that searches: each page would have its own copy. */
const LONG = 256 * 1024

/** Creates the storage over an executor. */
export function storageOn(executor: Executor, options: SqliteStorageOptions): Storage {
  const { now = () => new Date(), cacheCharacters = DEFAULT_CACHE, history = true } = options
  const cache = createResourceCache({ maxCharacters: cacheCharacters })
  const readNow = (type: string, id: string): ReadResult => {
    const { versionOf, resource } = cache.lookUp(type)
    const row = executor.callNow(readResource, { type, id, known: versionOf(id) })
    return row && resource(row)
  }
  return {
    capabilities: CAPABILITIES,
    ...(history && { history: historyOn(executor, cacheCharacters) }),
    async read(type, id): Promise<ReadResult> {
      checkRead(type, id)
      return readNow(type, id)
    },
    async search(asked) {
      checkQuery(asked)
      // Removes the FHIR parameters, which are for other adapters, so that they are not sent to the thread.
      const { parameters: _ofFhir, ...query } = asked
      const { type } = query
      const { versionOf, resource } = cache.lookUp(type)
      const lookedUp = await executor.call(lookUpPage, { query, versionOf })
      if (lookedUp !== undefined) return pageOf(lookedUp, resource)
      const page = await executor.call(searchPage, { ...query, leaveOutFrom: LONG })
      const whole = completedPage(page, type, (id) => readNow(type, id))
      // Other results of long searches are not cached, because they would displace what is often looked up.
      return whole ?? pageOf(await executor.call(searchPage, query), (row) => resourceOf(type, row))
    },
    async scan(asked) {
      checkScan(asked)
      const { parameters: _ofFhir, ...query } = asked
      const { items, ...page } = await executor.call(scanPage, query)
      return { ...page, items: items.map((item) => scanItemOf(query.type, item)) }
    },
    async count(asked) {
      checkQuery(asked)
      return executor.call(countMatches, { type: asked.type, where: asked.where })
    },
    async write(entries) {
      checkEntries(entries, CAPABILITIES)
      const packed = { entries: entries.map(packedEntry), conditions: conditionalPuts(entries) }
      return executor.call(writeEntries, { ...packed, now: now().getTime(), history })
    },
    revision: executor.revision,
    changes: async (since) => executor.callNow(readChanges, since),
    close: async () => executor.close(),
  }
}

/** @param maxCharacters Maximum length of the long versions that are cached, because they never change and every page would have its own copy. */
function historyOn(executor: Executor, maxCharacters: number): ResourceHistory {
  const long = maxCharacters === 0 ? undefined : new LRUCache<string, HistoryItem>({ maxSize: maxCharacters })
  const longVersion = ({ type, id, version }: VersionRow): HistoryItem | undefined => {
    const key = `${type}/${id}/${version}`
    const known = long?.get(key)
    if (known !== undefined) return known
    const row = executor.callNow(readVersion, { type, id, versionId: String(version) })
    const item = row && versionOf(row)
    if (item !== undefined) long?.set(key, item, { size: row?.text?.length ?? 1 })
    return item
  }
  return {
    async version(type, id, versionId) {
      const row = await executor.call(readVersion, { type, id, versionId })
      return row && versionOf(row)
    },
    async page(query) {
      const { rows, ...page } = await executor.call(readHistory, { ...query, leaveOutFrom: LONG })
      const items = rows.flatMap((row) => (row.isLeftOut === true ? longVersion(row) : versionOf(row)) ?? [])
      if (items.length === rows.length) return { ...page, items }
      // A writer that stores no history has replaced a version meanwhile.
      const whole = await executor.call(readHistory, query)
      return { ...whole, items: whole.rows.map(versionOf) }
    },
  }
}

function scanItemOf(scannedType: string, { row, referring }: ScanRow): ScanItem {
  return { stored: resourceOf(scannedType, row), referring: referring.map(([type, other]) => resourceOf(type, other)) }
}

function pageOf({ rows, next }: PageRows, resource: LookUp['resource']): SearchPage {
  return { items: rows.map(resource), ...(next !== undefined && { next }) }
}

/** Adds the texts that were left out, which pages share. Returns `undefined` if one of these resources was changed in the meantime. */
function completedPage({ rows, next }: PageRows, type: string, read: (id: string) => ReadResult): SearchPage | undefined {
  const items: StoredResource[] = []
  for (const row of rows) {
    const stored = row.text === undefined ? read(row.id) : resourceOf(type, row)
    if (stored?.versionId !== String(row.version)) return undefined
    items.push(stored)
  }
  return { items, ...(next !== undefined && { next }) }
}

/** Creates the store of users and sessions over an executor. */
export function sessionStoreOn(executor: Executor): SessionStore {
  return {
    user: async (sub) => executor.call(readUser, sub),
    putUser: async (sub, claims) => executor.call(putUser, { sub, claims }),
    setUserState: async (sub, state, at) => executor.call(changeUser, { sub, state, at }),
    raiseEpoch: async (sub, at) => executor.call(changeUser, { sub, at }),
    addSession: async (session) => void (await executor.call(addSession, session)),
    session: async (loginId) => executor.call(readSession, { loginId }),
    sessionByDigest: async (digest) => executor.call(readSession, { digest }),
    sessionsOf: async (sub, limit, wanted) => executor.call(sessionsOf, { sub, limit, ...wanted }),
    changeSession: async (loginId, from, change) => executor.call(changeSession, { loginId, from, change }),
    endOthers: async (sub, except) => executor.call(endOthers, { sub, except }),
    useOnce: async (key, time) => executor.call(useOnce, { key, ...time }),
    purge: async (expiredBefore) => executor.call(purgeSessions, expiredBefore),
  }
}

/** Creates the store of imported code systems over an executor. Sections are read in the calling thread. */
export function conceptStoreOn(executor: Executor): ConceptStore {
  return {
    systems: async () => executor.call(listSystems, null),
    async open(key) {
      if (!(await executor.call(hasSystem, key))) {
        throw new OperationError('storage-unavailable', 'The version of the code system was removed.')
      }
      return { section: (name) => executor.callNow(readSection, { key, name }) }
    },
    stage: async (system) => beginImport(executor, system),
    remove: async (key) => void (await executor.call(removeSystem, key)),
    revision: executor.revision,
  }
}

async function beginImport(executor: Executor, system: SystemToStore): Promise<StagedSystem> {
  const stored = { ...system, key: randomUUID() }
  await executor.call(stageSystem, stored)
  return {
    put: async (name, bytes) => void (await executor.call(putSection, { key: stored.key, name, bytes })),
    async publish() {
      await executor.call(publishSystem, stored)
      return stored
    },
    discard: async () => void (await executor.call(removeSystem, stored.key)),
  }
}

const SHAPE: InputShape = inputShape<SqliteStorageOptions>(STORAGE_OPTIONS)

/**
 * Creates a storage in a SQLite database over the caller's connection (`node:sqlite` or better-sqlite3). Every call runs synchronously in the calling
 * thread and blocks it; a write blocks until it is flushed. For servers, `openSqlite` is the better choice. The durability of writes depends on the
 * connection's `journal_mode` and `synchronous`. `close` closes the connection.
 *
 * @throws {OperationError} `storage-damaged` if the database is not SQLite, or was not created by this adapter.
 * @throws {TypeError} for anything but such a connection, and for an option that is unknown or of another type.
 */
export function sqliteStorage(connection: SqliteConnection, options: SqliteStorageOptions = {}): Storage {
  checkOptions('sqliteStorage', SHAPE, options)
  return storageOn(inThread(migrated(connection)), options)
}

/** Creates a store of users and sessions in a SQLite database over the caller's connection; otherwise as `sqliteStorage`. */
export function sqliteSessionStore(connection: SqliteConnection): SessionStore {
  return sessionStoreOn(inThread(migrated(connection)))
}

/** Creates a store of imported code systems in a SQLite database over the caller's connection; otherwise as `sqliteStorage`. */
export function sqliteConceptStore(connection: SqliteConnection): ConceptStore {
  return conceptStoreOn(inThread(migrated(connection)))
}

const CONNECTION = having('an open SQLite database', ['exec', 'prepare', 'function', 'close'])

function migrated(connection: SqliteConnection): SqliteDriver {
  if (!CONNECTION.is(connection)) throw new TypeError(`The connection must be ${CONNECTION.words}. openSqlite takes the path of a file.`)
  const db = sqliteDriver(connection)
  migrate(db)
  return db
}
