import type { Capabilities, SearchPage, SessionStore, Storage } from 'fhir-ops/storage'
import type { Executor } from './command.js'
import { createResourceCache, type LookUp } from './resource-cache.js'
import { readResource, resourceOf } from './resource-row.js'
import { countMatches, lookUpPage, searchPage, type PageRows } from './search-page.js'
import { addSession, changeSession, endOthers, purgeSessions, readSession, sessionsOf } from './session-commands.js'
import { changeUser, putUser, readUser } from './user-commands.js'
import { writeEntries } from './write-entries.js'

const CAPABILITIES: Capabilities = { atomic: true, counts: true, preconditions: true, sorts: true }

/** Options of `sqliteStorage`. */
export interface SqliteStorageOptions {
  /** The clock of `lastUpdated`. */
  readonly now?: () => Date
  /**
   * Characters of text that are kept with what was parsed of it, so that a large definition is not parsed for every request. What is kept
   * is used only while the database says that it is current. Default 32 million; 0 keeps nothing.
   */
  readonly cacheCharacters?: number
}

const DEFAULT_CACHE = 32_000_000

/** The resources behind an executor. */
export function storageOn(executor: Executor, { now = () => new Date(), cacheCharacters = DEFAULT_CACHE }: SqliteStorageOptions): Storage {
  const cache = createResourceCache(cacheCharacters)
  return {
    capabilities: CAPABILITIES,
    async read(type, id) {
      const { versionOf, resource } = cache.lookUp(type)
      const row = await executor.call(readResource, { type, id, known: versionOf(id) })
      return row && resource(row)
    },
    async search({ type, where, sort, limit, after }) {
      const query = { type, where, ...(sort && { sort }), ...(limit !== undefined && { limit }), ...(after !== undefined && { after }) }
      const { versionOf, resource } = cache.lookUp(type)
      const lookedUp = await executor.call(lookUpPage, { query, versionOf })
      if (lookedUp !== undefined) return pageOf(lookedUp, resource)
      // What a long search finds would only drive out what is looked up often.
      return pageOf(await executor.call(searchPage, query), (row) => resourceOf(type, row))
    },
    count: async ({ type, where }) => executor.call(countMatches, { type, where }),
    write: async (entries) => executor.call(writeEntries, { entries, now: now().getTime() }),
    close: async () => executor.close(),
  }
}

function pageOf({ rows, next }: PageRows, resource: LookUp['resource']): SearchPage {
  return { items: rows.map(resource), ...(next !== undefined && { next }) }
}

/** The users and sessions behind an executor. */
export function sessionStoreOn(executor: Executor): SessionStore {
  return {
    user: async (sub) => executor.call(readUser, sub),
    putUser: async (sub, claims) => executor.call(putUser, { sub, claims }),
    setUserState: async (sub, state, at) => executor.call(changeUser, { sub, state, at }),
    raiseEpoch: async (sub, at) => executor.call(changeUser, { sub, at }),
    addSession: async (session) => void (await executor.call(addSession, session)),
    session: async (loginId) => executor.call(readSession, { loginId }),
    sessionByDigest: async (digest) => executor.call(readSession, { digest }),
    sessionsOf: async (sub, limit, state) => executor.call(sessionsOf, { sub, limit, state }),
    changeSession: async (loginId, from, change) => executor.call(changeSession, { loginId, from, change }),
    endOthers: async (sub, except) => executor.call(endOthers, { sub, except }),
    purge: async (expiredBefore) => executor.call(purgeSessions, expiredBefore),
  }
}
