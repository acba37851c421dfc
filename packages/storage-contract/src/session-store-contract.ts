import type { SessionRecord, SessionStore } from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectKnown, titleOf, type Skips } from './storage-contract.js'

/** A sentence of the documentation of `SessionStore`, and the test that it holds. */
interface SessionStorePromise {
  readonly promise: string
  readonly check: (store: SessionStore) => Promise<void>
}

/** A session store under test. */
export interface OpenedSessionStore {
  readonly store: SessionStore
  /** Releases what the factory created. */
  readonly dispose?: () => Promise<void>
}

/** Opens an empty session store. */
export type SessionStoreFactory = () => OpenedSessionStore | Promise<OpenedSessionStore>

/** Registers one test for each promise of `SessionStore`; parameters as for `storageContract`. */
export function sessionStoreContract(name: string, factory: SessionStoreFactory, skips: Skips = {}): void {
  describe(`${name} keeps the session store contract`, () => {
    let opened: OpenedSessionStore
    beforeEach(async () => {
      opened = await factory()
    })
    afterEach(async () => {
      await opened.dispose?.()
    })
    for (const { promise, check } of PROMISES) {
      it.skipIf(Object.hasOwn(skips, promise))(titleOf(promise, skips), () => check(opened.store))
    }
    it('skips only promises that exist, each with a reason', () => expectKnown(skips, PROMISES))
  })
}

function session(loginId: string, changes: Partial<SessionRecord> = {}): SessionRecord {
  return {
    loginId,
    sub: 'ann',
    digest: `digest-${loginId}`,
    state: 'active',
    epoch: 0,
    scopes: ['openid', 'profile'],
    userAgent: 'curl/8',
    remoteHost: '192.0.2.1',
    authMethod: 'password',
    client: 'app',
    project: 'p1',
    createdAt: 1_000,
    lastUsedAt: 2_000,
    expiresAt: 9_000,
    ...changes,
  }
}

const MINIMAL: SessionRecord = {
  loginId: 'minimal',
  sub: 'ann',
  digest: 'd',
  state: 'active',
  epoch: 3,
  scopes: [],
  createdAt: 1,
  lastUsedAt: 1,
  expiresAt: 2,
}

const PROMISES: readonly SessionStorePromise[] = [
  {
    promise: 'an unknown user, session or digest is undefined',
    check: async (store) => {
      expect(await store.user('ann')).toBeUndefined()
      expect(await store.session('a')).toBeUndefined()
      expect(await store.sessionByDigest('a')).toBeUndefined()
      expect(await store.sessionByDigest('')).toBeUndefined()
      expect(await store.sessionsOf('ann', 10)).toEqual([])
      expect(await store.setUserState('ann', 'disabled', 1)).toBeUndefined()
      expect(await store.raiseEpoch('ann', 1)).toBeUndefined()
      expect(await store.changeSession('a', ['active'], { state: 'revoked' })).toBeUndefined()
      expect(await store.user('constructor')).toBeUndefined()
    },
  },
  {
    promise: 'putUser creates an active user of epoch 0',
    check: async (store) => {
      const claims = { name: 'Ann', address: { locality: 'Ulm' }, groups: ['a', 'b'] }
      const user = { sub: 'ann', claims, state: 'active', epoch: 0, epochRaisedAt: 0 }
      expect(await store.putUser('ann', claims)).toEqual(user)
      expect(await store.user('ann')).toEqual(user)
    },
  },
  {
    promise: 'putUser replaces claims and keeps state and epoch',
    check: async (store) => {
      await store.putUser('ann', { name: 'Ann', email: 'ann@example.org' })
      await store.setUserState('ann', 'disabled', 5)
      const user = { sub: 'ann', claims: { name: 'Anna' }, state: 'disabled', epoch: 1, epochRaisedAt: 5 }
      expect(await store.putUser('ann', { name: 'Anna' })).toEqual(user)
      expect(await store.user('ann')).toEqual(user)
    },
  },
  {
    promise: 'setUserState raises the epoch unless the user becomes active',
    check: async (store) => {
      await store.putUser('ann', {})
      expect(await store.setUserState('ann', 'disabled', 5)).toMatchObject({ state: 'disabled', epoch: 1, epochRaisedAt: 5 })
      expect(await store.setUserState('ann', 'active', 6)).toMatchObject({ state: 'active', epoch: 1, epochRaisedAt: 5 })
      expect(await store.setUserState('ann', 'deleted', 7)).toMatchObject({ state: 'deleted', epoch: 2, epochRaisedAt: 7 })
      expect(await store.user('ann')).toMatchObject({ state: 'deleted', epoch: 2 })
    },
  },
  {
    promise: 'raiseEpoch raises by one and keeps the state',
    check: async (store) => {
      await store.putUser('ann', {})
      await store.putUser('bob', {})
      expect(await store.raiseEpoch('ann', 5)).toMatchObject({ state: 'active', epoch: 1, epochRaisedAt: 5 })
      expect(await store.raiseEpoch('ann', 9)).toMatchObject({ epoch: 2, epochRaisedAt: 9 })
      expect(await store.user('bob')).toMatchObject({ epoch: 0 })
    },
  },
  {
    promise: 'concurrent raises all count',
    check: async (store) => {
      await store.putUser('ann', {})
      await Promise.all(Array.from({ length: 10 }, (_, at) => store.raiseEpoch('ann', at)))
      expect(await store.user('ann')).toMatchObject({ epoch: 10 })
    },
  },
  {
    promise: 'a session is found by login id and by digest, as it was added',
    check: async (store) => {
      await store.addSession(session('a'))
      await store.addSession(MINIMAL)
      expect(await store.session('a')).toEqual(session('a'))
      expect(await store.sessionByDigest('digest-a')).toEqual(session('a'))
      expect(await store.session('minimal')).toEqual(MINIMAL)
    },
  },
  {
    promise: 'knownByDigest, where there is one, gives the session with its user',
    check: async (store) => {
      await store.addSession(session('a'))
      await store.addSession(session('b', { sub: 'nobody' }))
      await store.putUser('ann', { name: 'Ann' })
      await store.setUserState('ann', 'disabled', 7)
      const found = await Promise.all(['digest-a', 'digest-b', 'digest-c'].map(async (digest) => store.knownByDigest?.(digest)))
      const expected = [
        { session: session('a'), user: await store.user('ann') },
        { session: session('b', { sub: 'nobody' }), user: undefined },
      ]
      expect(found).toEqual(store.knownByDigest === undefined ? [undefined, undefined, undefined] : [...expected, undefined])
    },
  },
  {
    promise: 'addSession refuses a login id or digest that exists',
    check: async (store) => {
      await store.addSession(session('a'))
      await expect(store.addSession(session('a', { digest: 'other' }))).rejects.toMatchObject({ code: 'conflict' })
      await expect(store.addSession(session('b', { digest: 'digest-a' }))).rejects.toMatchObject({ code: 'conflict' })
      expect(await store.session('b')).toBeUndefined()
      expect(await store.sessionByDigest('other')).toBeUndefined()
    },
  },
  {
    promise: 'sessionsOf gives every kept session of the user, newest first, then by login id, at most limit',
    check: async (store) => {
      await store.addSession(session('c', { createdAt: 5 }))
      await store.addSession(session('b', { createdAt: 7, state: 'revoked' }))
      await store.addSession(session('a', { createdAt: 5, expiresAt: 6 }))
      await store.addSession(session('x', { sub: 'bob' }))
      expect((await store.sessionsOf('ann', 10)).map(({ loginId }) => loginId)).toEqual(['b', 'a', 'c'])
      expect((await store.sessionsOf('ann', 2)).map(({ loginId }) => loginId)).toEqual(['b', 'a'])
    },
  },
  {
    promise: 'sessionsOf gives those in one state, and those that have not ended, when it is asked for them',
    check: async (store) => {
      await store.addSession(session('a', { createdAt: 1 }))
      await store.addSession(session('b', { createdAt: 2, state: 'revoked' }))
      await store.addSession(session('c', { createdAt: 3 }))
      expect((await store.sessionsOf('ann', 10, { state: 'active' })).map(({ loginId }) => loginId)).toEqual(['c', 'a'])
      expect((await store.sessionsOf('ann', 1, { state: 'active' })).map(({ loginId }) => loginId)).toEqual(['c'])
      expect((await store.sessionsOf('ann', 10, { state: 'revoked' })).map(({ loginId }) => loginId)).toEqual(['b'])
      await store.addSession(session('d', { createdAt: 4, expiresAt: 6 }))
      const lasting = { state: 'active', expiresAfter: 6 } as const
      expect((await store.sessionsOf('ann', 1, lasting)).map(({ loginId }) => loginId)).toEqual(['c'])
      expect((await store.sessionsOf('ann', 10, { expiresAfter: 5 })).map(({ loginId }) => loginId)).toEqual(['d', 'c', 'b', 'a'])
    },
  },
  {
    promise: 'changeSession moves the expiry',
    check: async (store) => {
      await store.addSession(session('a'))
      expect(await store.changeSession('a', ['active'], { expiresAt: 20_000 })).toEqual(session('a', { expiresAt: 20_000 }))
      expect(await store.session('a')).toMatchObject({ expiresAt: 20_000 })
    },
  },
  {
    promise: 'changeSession changes only a session in one of the given states',
    check: async (store) => {
      await store.addSession(session('a'))
      expect(await store.changeSession('a', ['disabled'], { state: 'deleted' })).toBeUndefined()
      expect(await store.changeSession('a', ['disabled', 'active'], { lastUsedAt: 3_000 })).toEqual(session('a', { lastUsedAt: 3_000 }))
      expect(await store.changeSession('a', ['active'], { state: 'revoked' })).toMatchObject({ state: 'revoked', lastUsedAt: 3_000 })
      expect(await store.changeSession('a', ['active'], { state: 'disabled' })).toBeUndefined()
      expect(await store.sessionByDigest('digest-a')).toMatchObject({ state: 'revoked' })
    },
  },
  {
    promise: 'of concurrent changes from one state one succeeds',
    check: async (store) => {
      await store.addSession(session('a'))
      const tries = await Promise.all(Array.from({ length: 5 }, () => store.changeSession('a', ['active'], { state: 'logged-out' })))
      expect(tries.filter((changed) => changed !== undefined)).toHaveLength(1)
    },
  },
  {
    promise: 'endOthers revokes the other active and disabled sessions of the user and counts them',
    check: async (store) => {
      await store.addSession(session('keep'))
      await store.addSession(session('a'))
      await store.addSession(session('b', { state: 'disabled' }))
      await store.addSession(session('out', { state: 'logged-out' }))
      await store.addSession(session('bob', { sub: 'bob' }))
      expect(await store.endOthers('ann', 'keep')).toBe(2)
      const states = await Promise.all(['keep', 'a', 'b', 'out', 'bob'].map(async (id) => (await store.session(id))?.state))
      expect(states).toEqual(['active', 'revoked', 'revoked', 'logged-out', 'active'])
      expect(await store.endOthers('ann', 'keep')).toBe(0)
    },
  },
  {
    promise: 'useOnce is true for one of all uses of a key that are remembered',
    check: async (store) => {
      const use = (key: string, now: number): Promise<boolean> => store.useOnce(key, { now, until: now + 100 })
      const uses = await Promise.all(Array.from({ length: 5 }, () => use('a', 1_000)))
      expect(uses.filter((isFirst) => isFirst)).toEqual([true])
      expect([await use('b', 1_050), await use('a', 1_099), await use('a', 1_100), await use('b', 1_149)]).toEqual([
        true,
        false,
        true,
        false,
      ])
    },
  },
  {
    promise: 'useOnce until now asks whether a key is used, and remembers nothing',
    check: async (store) => {
      const isUnused = (): Promise<boolean> => store.useOnce('a', { now: 1_000, until: 1_000 })
      expect([await isUnused(), await isUnused(), await store.useOnce('a', { now: 1_000, until: 1_100 }), await isUnused()]).toEqual([
        true,
        true,
        true,
        false,
      ])
    },
  },
  {
    promise: 'purge forgets what expired before and counts it',
    check: async (store) => {
      await store.addSession(session('a', { expiresAt: 10 }))
      await store.addSession(session('b', { expiresAt: 11 }))
      await store.addSession(session('c', { expiresAt: 9, state: 'revoked' }))
      expect(await store.purge(11)).toBe(2)
      expect(await store.session('a')).toBeUndefined()
      expect(await store.sessionByDigest('digest-c')).toBeUndefined()
      expect((await store.sessionsOf('ann', 9)).map(({ loginId }) => loginId)).toEqual(['b'])
      await store.addSession(session('a'))
    },
  },
]
