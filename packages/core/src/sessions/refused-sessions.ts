import { quoted } from '../errors/index.js'
import type { SessionRecord } from '../storage/index.js'

/** The sessions that are ended: one session, or all sessions of a user except one. */
export type EndedSessions = Pick<SessionRecord, 'loginId' | 'expiresAt'> | EndedUser

/** The sessions of a user, by subject. */
interface EndedUser {
  readonly allOf: string
  /** Login id of the session that continues. */
  readonly except?: string | undefined
}

/** Sessions that this process refuses because their end is being stored, or could not be stored. */
export interface RefusedSessions {
  /** Refuses the sessions until the returned function is called, so that a store that never answers does not keep a session alive. */
  hold(ended: EndedSessions): () => void
  /** Refuses the sessions from now on, and retries `store` in the background until it succeeds. */
  add(ended: EndedSessions, store: () => Promise<unknown>): void
  has(session: Pick<SessionRecord, 'loginId' | 'sub'>): boolean
  /** Waits for ends that are being stored, tries once more to store the remaining ones, and then stops retrying. @throws as the store. */
  close(): Promise<void>
  /** Describes the sessions whose ends are not stored. */
  unstored(): readonly string[]
}

/** How long an expired session is kept, in milliseconds, so that setting back a clock does not revive it. */
export const KEEP_EXPIRED_MS: number = 30 * 24 * 3_600_000

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5_000

/** Creates the set of refused sessions. A single session is refused until it would be purged, those of a user until their end is stored. */
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

/** Changes that could not be stored, by key. */
interface LaterStored {
  add(key: string, store: () => Promise<unknown>): void
  forget(key: string): void
  keys(): Iterable<string>
  /** @throws as the store. */
  close(): Promise<void>
}

/** Retries changes in the background until they are stored. */
function storedLater(): LaterStored {
  const unstored = new Map<string, () => Promise<unknown>>()
  /** Changes that are being retried. An attempt may never end. */
  const underWay = new Set<() => Promise<unknown>>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let waitMs = FIRST_RETRY_MS
  let isClosed = false
  const storeOne = async (key: string, store: () => Promise<unknown>): Promise<void> => {
    await store()
    // Another change with the same key may have been added meanwhile.
    if (unstored.get(key) === store) unstored.delete(key)
  }
  /** Attempts do not wait for each other, because a failure may concern only one change. */
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
