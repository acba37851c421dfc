import { OperationError } from '../errors/index.js'
import { ownCopy } from '../json/index.js'
import type {
  ConceptStore,
  SessionRecord,
  SessionState,
  SessionStore,
  StagedSystem,
  StoredSystem,
  SystemSections,
  SystemToStore,
  UserRecord,
} from '../storage/index.js'

type UserStore = Pick<SessionStore, 'user' | 'putUser' | 'setUserState' | 'raiseEpoch'>

/** Keeps users and sessions in memory, for as long as the process runs. */
export function memorySessionStore(): SessionStore {
  return { ...userStore(), ...sessionsStore(), ...usedKeys() }
}

function userStore(): UserStore {
  const users = new Map<string, UserRecord>()
  const change = (sub: string, changed: (user: UserRecord) => UserRecord): UserRecord | undefined => {
    const user = users.get(sub)
    if (user !== undefined) users.set(sub, changed(user))
    return users.get(sub)
  }
  return {
    user: async (sub) => users.get(sub),
    async putUser(sub, claims) {
      const user = { ...(users.get(sub) ?? newUser(sub)), claims: ownCopy(claims) }
      users.set(sub, user)
      return user
    },
    setUserState: async (sub, state, at) => change(sub, (user) => ({ ...(state === 'active' ? user : epochRaised(user, at)), state })),
    raiseEpoch: async (sub, at) => change(sub, (user) => epochRaised(user, at)),
  }
}

function usedKeys(): Pick<SessionStore, 'useOnce'> {
  const used = new Map<string, number>()
  return {
    async useOnce(key, { now, until }) {
      for (const [old, end] of used) if (end <= now) used.delete(old)
      if (used.has(key)) return false
      used.set(key, until)
      return true
    },
  }
}

function sessionsStore(): Omit<SessionStore, keyof UserStore | 'useOnce'> {
  const sessions = new Map<string, SessionRecord>()
  const byDigest = new Map<string, string>()
  const ofUser = (sub: string, state?: SessionState): SessionRecord[] =>
    [...sessions.values()].filter((session) => session.sub === sub && (state === undefined || session.state === state))
  return {
    async addSession(session) {
      if (sessions.has(session.loginId) || byDigest.has(session.digest)) {
        throw new OperationError('conflict', 'This session exists already.')
      }
      sessions.set(session.loginId, ownCopy(session))
      byDigest.set(session.digest, session.loginId)
    },
    session: async (loginId) => sessions.get(loginId),
    sessionByDigest: async (digest) => sessions.get(byDigest.get(digest) ?? ''),
    sessionsOf: async (sub, limit, { state, expiresAfter = -Infinity } = {}) =>
      ofUser(sub, state)
        .filter((session) => session.expiresAt > expiresAfter)
        .sort(newestFirst)
        .slice(0, limit),
    async changeSession(loginId, from, change) {
      const session = sessions.get(loginId)
      if (session === undefined || !from.includes(session.state)) return undefined
      const changed = { ...session, ...change }
      sessions.set(loginId, changed)
      return changed
    },
    async endOthers(sub, except) {
      const ended = ofUser(sub).filter(({ loginId, state }) => loginId !== except && (state === 'active' || state === 'disabled'))
      for (const session of ended) sessions.set(session.loginId, { ...session, state: 'revoked' })
      return ended.length
    },
    async purge(expiredBefore) {
      const expired = [...sessions.values()].filter((session) => session.expiresAt < expiredBefore)
      for (const { loginId, digest } of expired) {
        sessions.delete(loginId)
        byDigest.delete(digest)
      }
      return expired.length
    },
  }
}

function newUser(sub: string): UserRecord {
  return { sub, claims: {}, state: 'active', epoch: 0, epochRaisedAt: 0 }
}

function epochRaised(user: UserRecord, at: number): UserRecord {
  return { ...user, epoch: user.epoch + 1, epochRaisedAt: at }
}

function newestFirst(a: SessionRecord, b: SessionRecord): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt
  return a.loginId < b.loginId ? -1 : 1
}

interface Published {
  readonly system: StoredSystem
  readonly sections: ReadonlyMap<string, Uint8Array>
}

interface Kept {
  readonly published: Map<string, Published>
  /** The sections of unfinished imports, by url and version. */
  readonly staged: Map<string, Map<string, Uint8Array>>
  changes: number
}

/** Keeps imported code systems in memory, for as long as the process runs. */
export function memoryConceptStore(): ConceptStore {
  const kept: Kept = { published: new Map(), staged: new Map(), changes: 0 }
  return {
    systems: async () => Array.from(kept.published.values(), ({ system }) => system).toSorted(byUrlAndVersion),
    open: async (key) => {
      const found = kept.published.get(key)
      if (found === undefined) throw new OperationError('storage-unavailable', 'The version of the code system was removed.')
      return sectionsOf(found.sections)
    },
    stage: async (system) => staged(kept, system),
    async remove(key) {
      if (kept.published.delete(key)) kept.changes++
    },
    revision: () => kept.changes,
  }
}

function staged(kept: Kept, system: SystemToStore): StagedSystem {
  const sections = new Map<string, Uint8Array>()
  const name = JSON.stringify([system.url, system.version])
  kept.staged.set(name, sections)
  const checkUnderWay = (): void => {
    if (kept.staged.get(name) === sections) return
    throw new OperationError('conflict', 'The import has ended, or another import of the same version has started.')
  }
  return {
    async put(section, bytes) {
      checkUnderWay()
      sections.set(section, bytes)
    },
    async publish() {
      checkUnderWay()
      kept.staged.delete(name)
      const before = [...kept.published.values()].find((other) => isSameVersion(other.system, system))
      if (before !== undefined) kept.published.delete(before.system.key)
      const stored = { ...system, key: crypto.randomUUID() }
      kept.published.set(stored.key, { system: stored, sections })
      kept.changes++
      return stored
    },
    async discard() {
      if (kept.staged.get(name) === sections) kept.staged.delete(name)
    },
  }
}

function sectionsOf(sections: ReadonlyMap<string, Uint8Array>): SystemSections {
  return {
    section(name) {
      const bytes = sections.get(name)
      if (bytes === undefined) throw new OperationError('storage-damaged', `The code system has no section ${name}.`)
      return bytes
    },
  }
}

function isSameVersion(a: SystemToStore, b: SystemToStore): boolean {
  return a.url === b.url && a.version === b.version
}

function byUrlAndVersion(a: SystemToStore, b: SystemToStore): number {
  return compare(a.url, b.url) || compare(a.version, b.version)
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
