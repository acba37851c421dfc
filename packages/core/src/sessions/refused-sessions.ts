import { quoted } from '../errors/index.js'
import type { SessionRecord } from '../storage/index.js'

/** What an end is about: one session, or all of a user but one. */
export type EndedSessions = Pick<SessionRecord, 'loginId' | 'expiresAt'> | EndedUser

/** The sessions of a user, by subject. */
export interface EndedUser {
  readonly allOf: string
  /** Login id of the session that continues. */
  readonly except?: string | undefined
}

/** Sessions that this process refuses because their end is being stored, or could not be. */
export interface RefusedSessions {
  /** Refuses the sessions until the function that is returned is called: a store that never answers must not keep a session alive. */
  hold(ended: EndedSessions): () => void
  /** Refuses the sessions from now on; `store` is tried again in the background until it succeeds. */
  add(ended: EndedSessions, store: () => Promise<unknown>): void
  has(session: Pick<SessionRecord, 'loginId' | 'sub'>): boolean
  /** Waits for ends that are being stored, stores once more what is not stored yet, and tries no more after that. @throws as the store. */
  close(): Promise<void>
  /** Whose ends are not stored, in words. */
  unstored(): readonly string[]
}

/** How long an expired session is kept, in milliseconds: a clock that is set back must not revive one. */
export const KEEP_EXPIRED_MS: number = 30 * 24 * 3_600_000

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5_000

/** A session is refused until it would be purged; those of a user until their end is stored. */
export function refusedSessions(now: () => number): RefusedSessions {
  const expiries = new Map<string, number>()
  const users = new Map<string, EndedUser>()
  const ends = storedLater()
  const held = new Map<Promise<void>, EndedSessions>()
  const forgetExpired = (): void => {
    for (const [loginId, expiresAt] of expiries) {
      if (expiresAt >= now() - KEEP_EXPIRED_MS) continue
      expiries.delete(loginId)
      ends.forget(keyOf({ loginId, expiresAt }))
    }
  }
  return {
    hold(ended) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held.set(promise, ended)
      return () => {
        held.delete(promise)
        resolve()
      }
    },
    add(ended, store) {
      forgetExpired()
      if (!('allOf' in ended)) {
        expiries.set(ended.loginId, ended.expiresAt)
        ends.add(keyOf(ended), store)
        return
      }
      const key = keyOf(ended)
      users.set(key, ended)
      ends.add(key, async () => {
        await store()
        users.delete(key)
      })
    },
    has: (session) =>
      expiries.has(session.loginId) ||
      users.values().some((user) => isAmong(session, user)) ||
      held.values().some((ended) => isAmong(session, ended)),
    async close() {
      await Promise.all(held.keys())
      await ends.close()
    },
    unstored: () => [...new Set([...ends.keys(), ...held.values().map(keyOf)])],
  }
}

function isAmong({ loginId, sub }: Pick<SessionRecord, 'loginId' | 'sub'>, ended: EndedSessions): boolean {
  return 'allOf' in ended ? ended.allOf === sub && ended.except !== loginId : ended.loginId === loginId
}

function keyOf(ended: EndedSessions): string {
  if (!('allOf' in ended)) return `session ${ended.loginId}`
  return `sessions of ${quoted(ended.allOf)}${ended.except === undefined ? '' : ` but ${ended.except}`}`
}

/** Changes that could not be stored, by a key of each. */
interface LaterStored {
  add(key: string, store: () => Promise<unknown>): void
  forget(key: string): void
  keys(): Iterable<string>
  /** @throws as the store. */
  close(): Promise<void>
}

/** Tries each again, in the background, until it is stored. */
function storedLater(): LaterStored {
  const unstored = new Map<string, () => Promise<unknown>>()
  /** Those that are being tried. One may take forever. */
  const underWay = new Set<() => Promise<unknown>>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let waitMs = FIRST_RETRY_MS
  let isClosed = false
  const storeOne = async (key: string, store: () => Promise<unknown>): Promise<void> => {
    await store()
    // Another change of the same may have been added meanwhile.
    if (unstored.get(key) === store) unstored.delete(key)
  }
  /** None waits for another: what is wrong with one may be its own. */
  const tryAgain = (key: string, store: () => Promise<unknown>): void => {
    underWay.add(store)
    const again = (): void => {
      underWay.delete(store)
      if (unstored.size === 0) waitMs = FIRST_RETRY_MS
      else if (!isClosed) retry()
    }
    storeOne(key, store).then(again, again)
  }
  const retry = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      waitMs = Math.min(waitMs * 2, LAST_RETRY_MS)
      for (const [key, store] of unstored) if (!underWay.has(store)) tryAgain(key, store)
    }, waitMs)
  }
  return {
    add(key, store) {
      unstored.set(key, store)
      retry()
    },
    forget: (key) => void unstored.delete(key),
    keys: () => unstored.keys(),
    async close() {
      isClosed = true
      clearTimeout(timer)
      const tried = await Promise.allSettled(Array.from(unstored, ([key, store]) => storeOne(key, store)))
      const failed = tried.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    },
  }
}
