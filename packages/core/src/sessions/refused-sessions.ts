import type { SessionRecord } from '../storage/index.js'

/** What an end is about: one session, or all of a user but one. */
export type EndedSessions = Pick<SessionRecord, 'loginId' | 'expiresAt'> | EndedUser

/** The sessions of a user, by subject. */
export interface EndedUser {
  readonly allOf: string
  /** Login id of the session that continues. */
  readonly except?: string | undefined
}

/** Sessions that this process refuses because their end could not be stored. */
export interface RefusedSessions {
  /** Refuses the sessions from now on; `store` is tried again in the background until it succeeds. */
  add(ended: EndedSessions, store: () => Promise<unknown>): void
  has(session: Pick<SessionRecord, 'loginId' | 'sub'>): boolean
  /** Stores once more what is not stored yet, and tries no more after that. @throws as the store. */
  close(): Promise<void>
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
  const forgetExpired = (): void => {
    for (const [loginId, expiresAt] of expiries) {
      if (expiresAt >= now() - KEEP_EXPIRED_MS) continue
      expiries.delete(loginId)
      ends.forget(loginId)
    }
  }
  return {
    add(ended, store) {
      forgetExpired()
      if (!('allOf' in ended)) {
        expiries.set(ended.loginId, ended.expiresAt)
        ends.add(ended.loginId, store)
        return
      }
      const key = JSON.stringify([ended.allOf, ended.except])
      users.set(key, ended)
      ends.add(key, async () => {
        await store()
        users.delete(key)
      })
    },
    has: ({ loginId, sub }) => expiries.has(loginId) || users.values().some((user) => user.allOf === sub && user.except !== loginId),
    close: () => ends.close(),
  }
}

/** Changes that could not be stored, by a key of each. */
interface LaterStored {
  add(key: string, store: () => Promise<unknown>): void
  forget(key: string): void
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
    async close() {
      isClosed = true
      clearTimeout(timer)
      const tried = await Promise.allSettled(Array.from(unstored, ([key, store]) => storeOne(key, store)))
      const failed = tried.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    },
  }
}
