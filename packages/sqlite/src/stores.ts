import type { Capabilities, SessionStore, Storage } from 'fhir-ops/storage'
import type { Executor } from './command.js'
import { readResource, resourceOf } from './resource-row.js'
import { countMatches, searchPage } from './search-page.js'
import { addSession, changeSession, endOthers, purgeSessions, readSession, sessionsOf } from './session-commands.js'
import { changeUser, putUser, readUser } from './user-commands.js'
import { writeEntries } from './write-entries.js'

const CAPABILITIES: Capabilities = { atomic: true, counts: true, preconditions: true, sorts: true }

/** The resources behind an executor. */
export function storageOn(executor: Executor, now: () => Date): Storage {
  return {
    capabilities: CAPABILITIES,
    async read(type, id) {
      const row = await executor.call(readResource, { type, id })
      return row && resourceOf(type, row)
    },
    async search({ type, where, sort, limit, after }) {
      const query = { type, where, ...(sort && { sort }), ...(limit !== undefined && { limit }), ...(after !== undefined && { after }) }
      const { rows, next } = await executor.call(searchPage, query)
      return { items: rows.map((row) => resourceOf(type, row)), ...(next !== undefined && { next }) }
    },
    count: async ({ type, where }) => executor.call(countMatches, { type, where }),
    write: async (entries) => executor.call(writeEntries, { entries, now: now().getTime() }),
    close: async () => executor.close(),
  }
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
