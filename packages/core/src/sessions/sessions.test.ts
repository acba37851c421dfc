import { createHash } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { OperationError } from '../errors/index.js'
import { memorySessionStore } from '../memory/index.js'
import type { SessionStore } from '../storage/index.js'
import {
  createSessions,
  rejectionReason,
  toAuditEvent,
  type AuditEvent,
  type ForeignToken,
  type Principal,
  type Sessions,
} from './index.js'

const START = Date.UTC(2026, 0, 1)

interface World {
  readonly sessions: Sessions
  readonly store: SessionStore
  readonly events: AuditEvent[]
  readonly clock: { time: number }
}

function world(change: Partial<SessionStore> = {}, options: { sessionCacheMs?: number; closeMs?: number } = {}): World {
  const store = { ...memorySessionStore(), ...change }
  const events: AuditEvent[] = []
  const clock = { time: START }
  const sessions = createSessions({ store, now: () => new Date(clock.time), onAudit: (event) => void events.push(event), ...options })
  return { sessions, store, events, clock }
}

async function reasonOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  return rejectionReason(error)
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  return error instanceof OperationError ? error.code : undefined
}

const foreign = (change: Partial<ForeignToken> = {}): ForeignToken => ({
  issuer: 'https://issuer.example',
  sub: 'ann',
  sessionKey: 'jti:1',
  issuedAt: START,
  expiresAt: START + 60_000,
  scopes: ['openid'],
  claims: {},
  ...change,
})

describe('tokens', () => {
  it('are fo_ and 256 random bits, and a session id is not a part of them', async () => {
    const { sessions } = world()
    const made = await sessions.create({ user: 'ann' })
    expect(made.token).toMatch(/^fo_[A-Za-z0-9_-]{43}$/)
    expect(made.loginId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(made.expiresAt).toBe('2026-01-01T01:00:00.000Z')
  })

  it('have the SHA-256 that everybody computes', async () => {
    const { store, sessions } = world()
    const { token, loginId } = await sessions.create({ user: 'ann' })
    const digest = createHash('sha256').update(token).digest('hex')
    expect((await store.session(loginId))?.digest).toBe(digest)
  })

  it('are stored as a digest only', async () => {
    const { sessions, store } = world()
    const { token, loginId } = await sessions.create({ user: 'ann' })
    const record = await store.session(loginId)
    expect(record?.digest).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.stringify(record)).not.toContain(token.slice(3))
  })

  it('give the principal with scopes, project, client and all claims', async () => {
    const { sessions } = world()
    const { token, loginId } = await sessions.create({ user: { sub: 'ann', name: 'Ann' }, scopes: ['openid'], project: 'p', client: 'c' })
    expect(await sessions.verify(token)).toEqual({
      sub: 'ann',
      loginId,
      scopes: ['openid'],
      claims: { name: 'Ann' },
      expiresAt: START + 3_600_000,
      project: 'p',
      client: 'c',
    })
  })

  it.each(['', 'fo_', 'x', 'fo_' + 'a'.repeat(43), '__proto__', 'fo_' + 'a'.repeat(9_000)])(
    'that nobody made are refused: %.20s',
    async (token) => {
      const { sessions } = world()
      expect(await reasonOf(sessions.verify(token))).toBe('unknown')
    },
  )

  it('grant what they were made with, whatever becomes of the lists and claims that were given or returned', async () => {
    const { sessions } = world()
    const scopes = ['openid']
    const user = { sub: 'ann', address: { country: 'NL' } }
    const made = sessions.create({ user, scopes })
    scopes.push('system/*.cruds')
    const { token } = await made
    user.address.country = 'BE'
    const first = await sessions.verify(token)
    expect(first).toMatchObject({ scopes: ['openid'], claims: { address: { country: 'NL' } } })
    Reflect.apply(Array.prototype.push, first.scopes, ['system/*.cruds'])
    Reflect.set(Object(first.claims['address']), 'country', 'BE')
    for (const { scopes: listed } of await sessions.list('ann')) Reflect.apply(Array.prototype.push, listed, ['system/*.cruds'])
    expect(await sessions.verify(token)).toMatchObject({ scopes: ['openid'], claims: { address: { country: 'NL' } } })
  })

  it('are refused from the moment they expire', async () => {
    const { sessions, clock } = world()
    const { token } = await sessions.create({ user: 'ann', ttl: 10 })
    clock.time += 9_999
    await sessions.verify(token)
    clock.time += 1
    expect(await reasonOf(sessions.verify(token))).toBe('expired')
  })

  const ends: readonly [string, (w: World, loginId: string, token: string) => Promise<unknown>, string][] = [
    ['logout', async ({ sessions }, _id, token) => sessions.logout(await sessions.verify(token)), 'logged-out'],
    ['disable', ({ sessions }, id) => sessions.disable(id), 'disabled'],
    ['delete', ({ sessions }, id) => sessions.delete(id), 'deleted'],
    ['sign out everywhere', ({ sessions }) => sessions.signOutEverywhere('ann'), 'signed-out'],
    ['disable user', ({ sessions }) => sessions.disableUser('ann'), 'user-disabled'],
    ['delete user', ({ sessions }) => sessions.deleteUser('ann'), 'user-deleted'],
  ]
  it.each(ends)('are refused by the next call after: %s', async (_name, end, reason) => {
    for (const sessionCacheMs of [0, 5_000]) {
      const w = world({}, { sessionCacheMs })
      const { token, loginId } = await w.sessions.create({ user: 'ann' })
      await w.sessions.verify(token)
      await end(w, loginId, token)
      expect(await reasonOf(w.sessions.verify(token))).toBe(reason)
    }
  })

  it.each(ends)('all get the same error after: %s', async (_name, end) => {
    const w = world()
    const { token, loginId } = await w.sessions.create({ user: 'ann' })
    await end(w, loginId, token)
    const [ended, unknown]: unknown[] = await Promise.all(
      [w.sessions.verify(token), w.sessions.verify('x')].map((p) => p.catch((e: unknown) => e)),
    )
    expect((ended as OperationError).message).toBe((unknown as OperationError).message)
    expect((ended as OperationError).code).toBe('token-invalid')
  })

  it('what was read before an end and arrives after it is not remembered', async () => {
    const store = memorySessionStore()
    const [reading, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let slow = false
    const user: SessionStore['user'] = async (sub) => {
      const found = await store.user(sub)
      reading.resolve()
      if (slow) await gate.promise
      return found
    }
    const { sessions } = world({ ...store, user }, { sessionCacheMs: 5_000 })
    const { token, loginId } = await sessions.create({ user: { sub: 'ann' } })
    slow = true
    const early = sessions.verify(token)
    await reading.promise
    await sessions.disable(loginId)
    gate.resolve()
    await early
    expect(await reasonOf(sessions.verify(token))).toBe('disabled')
  })

  it('of a user who does not exist any more are refused', async () => {
    const { sessions, store } = world()
    const { token } = await sessions.create({ user: 'ann' })
    const without = createSessions({ store: { ...store, user: async () => undefined }, now: () => new Date(START) })
    expect(await reasonOf(without.verify(token))).toBe('user-unknown')
  })

  it('a disabled session works again once enabled', async () => {
    const { sessions } = world()
    const { token, loginId } = await sessions.create({ user: 'ann' })
    expect([await sessions.disable(loginId), await sessions.disable(loginId)]).toEqual([true, false])
    expect([await sessions.enable(loginId), await sessions.enable(loginId)]).toEqual([true, false])
    expect((await sessions.verify(token)).sub).toBe('ann')
  })
})

describe('logout', () => {
  it('a second one is a refused token and no second event', async () => {
    const { sessions, events } = world()
    const principal = await sessions.verify((await sessions.create({ user: 'ann' })).token)
    await sessions.logout(principal, { requestId: 'r1', remoteHost: '::1' })
    expect(await codeOf(sessions.logout(principal))).toBe('token-invalid')
    expect(events.filter(({ type }) => type === 'logout')).toEqual([
      {
        type: 'logout',
        outcome: 'success',
        sub: 'ann',
        loginId: principal.loginId,
        requestId: 'r1',
        remoteHost: '::1',
        time: new Date(START),
        client: undefined,
      },
    ])
  })

  it('leaves other sessions of the user', async () => {
    const { sessions } = world()
    const [one, two] = [await sessions.create({ user: 'ann' }), await sessions.create({ user: 'ann' })]
    await sessions.logout(await sessions.verify(one.token))
    expect((await sessions.verify(two.token)).loginId).toBe(two.loginId)
  })

  it.each([0, 5_000])(
    'fails closed: a session whose end cannot be stored is refused by this process (cache %d ms)',
    async (sessionCacheMs) => {
      const full = async (): Promise<never> => {
        throw new OperationError('storage-full', 'The disk is full.')
      }
      const { sessions } = world({ changeSession: full }, { sessionCacheMs })
      const { token } = await sessions.create({ user: 'ann' })
      const principal = await sessions.verify(token)
      expect(await codeOf(sessions.logout(principal))).toBe('storage-full')
      expect(await reasonOf(sessions.verify(token))).toBe('logged-out')
      expect(await sessions.list('ann')).toEqual([])
      await expect(sessions.close()).rejects.toMatchObject({ code: 'storage-full' })
    },
  )

  const never = (): Promise<never> => new Promise(() => {})

  it('refuses a session while its end is being stored, however long that takes', async () => {
    const { sessions } = world({ changeSession: never, endOthers: never })
    const [one, two, three] = await Promise.all(Array.from({ length: 3 }, () => sessions.create({ user: 'ann' })))
    const principal = await sessions.verify(one?.token ?? '')
    void sessions.logout(await sessions.verify(two?.token ?? ''))
    expect(await reasonOf(sessions.verify(two?.token ?? ''))).toBe('logged-out')
    expect(await sessions.verify(three?.token ?? '')).toMatchObject({ sub: 'ann' })
    void sessions.revokeOthers(principal)
    expect(await reasonOf(sessions.verify(three?.token ?? ''))).toBe('logged-out')
    expect(await sessions.verify(one?.token ?? '')).toMatchObject({ sub: 'ann' })
  })

  it('an orderly stop does not wait longer than closeMs, and says what was not stored', async () => {
    const { sessions } = world({ changeSession: never }, { closeMs: 20 })
    const { token, loginId } = await sessions.create({ user: 'ann' })
    const principal = await sessions.verify(token)
    void sessions.logout(principal)
    await expect(sessions.close()).rejects.toMatchObject({
      code: 'storage-timeout',
      message: expect.stringContaining(`the end of session ${loginId}, which other processes accept`),
    })
  })

  it('an orderly stop waits for the store, where nothing else is said', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const stored = Promise.withResolvers<void>()
    const store = memorySessionStore()
    const changeSession: SessionStore['changeSession'] = async (...change) => (await stored.promise, store.changeSession(...change))
    const { sessions } = world({ ...store, changeSession })
    const { token } = await sessions.create({ user: 'ann' })
    const loggedOut = sessions.logout(await sessions.verify(token))
    const closing = sessions.close()
    await vi.advanceTimersByTimeAsync(1_000)
    stored.resolve()
    await expect(Promise.all([loggedOut, closing])).resolves.toHaveLength(2)
  })

  /** A store that is away until it is told to come back. */
  function storeThatReturns(): { readonly store: SessionStore; readonly back: () => void } {
    const store = memorySessionStore()
    let isAway = true
    const changeSession: SessionStore['changeSession'] = async (...change) => {
      if (isAway) throw new OperationError('storage-unavailable', 'Away.')
      return store.changeSession(...change)
    }
    return { store: { ...store, changeSession }, back: () => void (isAway = false) }
  }

  it.each([
    ['soon after the storage is back', async (_: Sessions, refusal: () => Promise<unknown>) => expect.poll(refusal).toBeDefined()],
    ['before an orderly stop', (sessions: Sessions) => sessions.close()],
  ])('that could not be stored is stored %s, so that every process refuses it', async (_, wait) => {
    const { store, back } = storeThatReturns()
    const { sessions, events } = world(store)
    const { token } = await sessions.create({ user: 'ann' })
    expect(await codeOf(sessions.logout(await sessions.verify(token)))).toBe('storage-unavailable')
    const other = createSessions({ store, now: () => new Date(START) })
    const refusal = (): Promise<unknown> => reasonOf(other.verify(token))
    expect(await refusal()).toBeUndefined()
    back()
    await wait(sessions, refusal)
    expect(await refusal()).toBe('logged-out')
    expect(events.filter(({ type }) => type === 'logout').length).toBe(1)
    await sessions.close()
  })

  it.each([
    ['fails each time', () => Promise.reject(new OperationError('storage-full', 'The disk is full.'))],
    ['never ends', () => new Promise<never>(() => {})],
  ])('that could not be stored does not wait for another that %s', async (_, stuck) => {
    const store = memorySessionStore()
    let isAway = true
    const first = await createSessions({ store, now: () => new Date(START) }).create({ user: 'ann' })
    const { sessions } = world({
      ...store,
      changeSession: async (loginId, ...change) => {
        if (isAway) throw new OperationError('storage-full', 'The disk is full.')
        return loginId === first.loginId ? stuck() : store.changeSession(loginId, ...change)
      },
    })
    const other = createSessions({ store, now: () => new Date(START) })
    const isStored = async (token: string): Promise<void> => expect(await reasonOf(other.verify(token))).toBe('logged-out')
    const [{ token }, later] = [await sessions.create({ user: 'bob' }), await sessions.create({ user: 'cid' })]
    const ending = async (one: string): Promise<unknown> => codeOf(sessions.logout(await sessions.verify(one)))
    expect([await ending(first.token), await ending(token)]).toEqual(['storage-full', 'storage-full'])
    isAway = false
    await vi.waitFor(() => isStored(token), { timeout: 300_000 })
    isAway = true
    expect(await ending(later.token)).toBe('storage-full')
    isAway = false
    await vi.waitFor(() => isStored(later.token), { timeout: 300_000 })
    expect([await reasonOf(sessions.verify(first.token)), await reasonOf(other.verify(first.token))]).toEqual(['logged-out', undefined])
  })
})

describe('an end of several sessions that cannot be stored', () => {
  type End = (sessions: Sessions, principal: Principal) => Promise<unknown>
  const ends: readonly [name: string, method: 'endOthers' | 'raiseEpoch', end: End, own: string | undefined, event: string][] = [
    ['revokeOthers', 'endOthers', (sessions, principal) => sessions.revokeOthers(principal), undefined, 'session-revoked'],
    ['signOutEverywhere', 'raiseEpoch', (sessions, { sub }) => sessions.signOutEverywhere(sub), 'signed-out', 'global-sign-out'],
  ]

  it.each(ends)('%s: this process refuses them, and every other once it is stored', async (_, method, end, own, event) => {
    for (const sessionCacheMs of [0, 5_000]) {
      const store = memorySessionStore()
      let isAway = true
      const away = async (): Promise<never> => Promise.reject(new OperationError('storage-full', 'The disk is full.'))
      const faulty: SessionStore = {
        ...store,
        endOthers: async (...input) => (isAway && method === 'endOthers' ? away() : store.endOthers(...input)),
        raiseEpoch: async (...input) => (isAway && method === 'raiseEpoch' ? away() : store.raiseEpoch(...input)),
      }
      const { sessions, events } = world(faulty, { sessionCacheMs })
      const [mine, other, bob] = [
        await sessions.create({ user: 'ann' }),
        await sessions.create({ user: 'ann' }),
        await sessions.create({ user: 'bob' }),
      ]
      const principal = await sessions.verify(mine.token)
      await sessions.verify(other.token)
      expect(await codeOf(end(sessions, principal))).toBe('storage-full')
      expect(await reasonOf(sessions.verify(other.token))).toBe('logged-out')
      expect(await reasonOf(sessions.verify(mine.token))).toBe(own && 'logged-out')
      expect(await reasonOf(sessions.verify(bob.token))).toBeUndefined()
      isAway = false
      await sessions.close()
      const elsewhere = createSessions({ store, now: () => new Date(START) })
      expect(await reasonOf(elsewhere.verify(other.token))).toBe(own ?? 'revoked')
      expect(await reasonOf(elsewhere.verify(mine.token))).toBe(own)
      expect(events.filter(({ type }) => type === event).length).toBe(1)
      const later = await sessions.create({ user: 'ann' })
      expect(await reasonOf(sessions.verify(later.token))).toBeUndefined()
    }
  })

  it('is raised once, even if its event is lost', async () => {
    const store = memorySessionStore()
    let isAway = true
    const sessions = createSessions({
      store,
      auditMode: 'required',
      onAudit: async ({ type }) => {
        if (isAway && type === 'global-sign-out') throw new OperationError('storage-full', 'The disk is full.')
      },
    })
    await sessions.create({ user: 'ann' })
    await expect(sessions.signOutEverywhere('ann')).rejects.toThrow()
    const { token } = await createSessions({ store }).create({ user: 'ann' })
    isAway = false
    await sessions.close()
    expect((await sessions.verify(token)).sub).toBe('ann')
  })
})

describe('revoke', () => {
  it('ends another session of the same user, again and again', async () => {
    const { sessions, events } = world()
    const [mine, other] = [await sessions.create({ user: 'ann' }), await sessions.create({ user: 'ann' })]
    const principal = await sessions.verify(mine.token)
    await sessions.revoke({ principal, loginId: other.loginId })
    await sessions.revoke({ principal, loginId: other.loginId })
    expect(await reasonOf(sessions.verify(other.token))).toBe('revoked')
    expect((await sessions.list('ann')).map(({ loginId }) => loginId)).toEqual([mine.loginId])
    expect(events.filter(({ type }) => type === 'session-revoked').length).toBe(1)
  })

  it('a foreign login id is as unknown as an absent one, has no effect, and leaves a record', async () => {
    const { sessions, events } = world()
    const [ann, bob] = [await sessions.create({ user: 'ann' }), await sessions.create({ user: 'bob' })]
    const principal = await sessions.verify(ann.token)
    expect(await codeOf(sessions.revoke({ principal, loginId: bob.loginId }))).toBe('not-found')
    expect(await codeOf(sessions.revoke({ principal, loginId: 'constructor' }))).toBe('not-found')
    expect((await sessions.verify(bob.token)).sub).toBe('bob')
    expect(events.filter(({ type }) => type === 'revoke-denied').map(({ reason }) => reason)).toEqual(['other-subject', 'unknown'])
  })

  it('a record is kept until 30 days after its expiry', async () => {
    const { sessions, clock } = world()
    const old = await sessions.create({ user: 'ann', ttl: 60 })
    const days = 24 * 3_600_000
    clock.time += 60_000 + 30 * days
    const principal = await sessions.verify((await sessions.create({ user: 'ann' })).token)
    expect(await sessions.purge()).toBe(0)
    await sessions.revoke({ principal, loginId: old.loginId })
    clock.time += 1
    expect(await sessions.purge()).toBe(1)
    expect(await codeOf(sessions.revoke({ principal, loginId: old.loginId }))).toBe('not-found')
  })

  it('others: ends disabled sessions, too: enabling does not bring them back', async () => {
    const { sessions } = world()
    const [mine, other] = [await sessions.create({ user: 'ann' }), await sessions.create({ user: 'ann' })]
    await sessions.disable(other.loginId)
    expect(await sessions.revokeOthers(await sessions.verify(mine.token))).toBe(1)
    expect(await sessions.enable(other.loginId)).toBe(false)
    expect(await reasonOf(sessions.verify(other.token))).toBe('revoked')
  })

  it('others: ends all but the one in use', async () => {
    const { sessions } = world()
    const mine = await sessions.create({ user: 'ann' })
    await sessions.create({ user: 'ann' })
    await sessions.create({ user: 'ann' })
    const bob = await sessions.create({ user: 'bob' })
    expect(await sessions.revokeOthers(await sessions.verify(mine.token))).toBe(2)
    expect((await sessions.list('ann')).length).toBe(1)
    expect((await sessions.verify(bob.token)).sub).toBe('bob')
  })
})

describe('users', () => {
  it('sign-out everywhere does not depend on clocks', async () => {
    const { sessions, clock } = world()
    const old = await sessions.create({ user: 'ann', ttl: 1e9 })
    clock.time -= 86_400_000
    await sessions.signOutEverywhere('ann')
    const fresh = await sessions.create({ user: 'ann' })
    expect(await reasonOf(sessions.verify(old.token))).toBe('signed-out')
    expect((await sessions.verify(fresh.token)).sub).toBe('ann')
  })

  it('enabling a user again does not revive old sessions', async () => {
    const { sessions } = world()
    const old = await sessions.create({ user: 'ann' })
    await sessions.disableUser('ann')
    expect(await codeOf(sessions.create({ user: 'ann' }))).toBe('forbidden')
    await sessions.enableUser('ann')
    expect(await reasonOf(sessions.verify(old.token))).toBe('signed-out')
    expect((await sessions.verify((await sessions.create({ user: 'ann' })).token)).sub).toBe('ann')
  })

  it('who do not exist are not found', async () => {
    const { sessions } = world()
    expect(await codeOf(sessions.signOutEverywhere('nobody'))).toBe('not-found')
    expect(await codeOf(sessions.disableUser('nobody'))).toBe('not-found')
  })

  it.each(['', 'ä', 'a b', 'x'.repeat(256)])('cannot have the subject %.10j', async (sub) => {
    await expect(world().sessions.create({ user: sub })).rejects.toThrow(TypeError)
  })
})

describe('what plain JavaScript leaves out or gives in another type', () => {
  it.each([
    ['no store', (): unknown => Reflect.apply(createSessions, undefined, [{}]), 'store is missing.'],
    ['no user', (): unknown => Reflect.apply(world().sessions.create, undefined, [{ scopes: ['openid'] }]), 'user is missing.'],
    [
      'a user without subject',
      (): unknown => Reflect.apply(world().sessions.create, undefined, [{ user: {} }]),
      'user must be a subject or',
    ],
    ['scopes as text', (): unknown => Reflect.apply(world().sessions.create, undefined, [{ user: 'ann', scopes: 'openid' }]), 'scopes'],
    [
      'a life time as text',
      (): unknown => Reflect.apply(world().sessions.create, undefined, [{ user: 'ann', ttl: '60' }]),
      'ttl must be a number',
    ],
    [
      'a life time without end',
      (): unknown => Reflect.apply(world().sessions.create, undefined, [{ user: 'ann', ttl: Infinity }]),
      'ttl must be a number of seconds above 0, and at most',
    ],
    [
      'a misspelt option',
      (): unknown => Reflect.apply(createSessions, undefined, [{ store: memorySessionStore(), onAduit: () => {} }]),
      "'onAduit'",
    ],
    [
      'a misspelt member',
      (): unknown => Reflect.apply(world().sessions.create, undefined, [{ user: 'ann', scope: ['openid'] }]),
      "Did you mean 'scopes'?",
    ],
  ])('%s is refused in words', async (_, call, words) => {
    await expect((async () => call())()).rejects.toThrow(words)
    await expect((async () => call())()).rejects.toThrow(TypeError)
  })
})

describe('arguments of plain JavaScript that are of another type', () => {
  const principal = { sub: 'ann', loginId: 'l', scopes: [], claims: {}, expiresAt: 0 }
  const PRINCIPAL = 'must be a principal, as verify returns it.'
  it.each<[keyof Sessions, readonly unknown[], string]>([
    ['list', [principal], 'sessions.list: sub must be a text.'],
    ['list', [], 'sessions.list: sub must be a text.'],
    ['isActive', [{ loginId: 'l' }], 'sessions.isActive: loginId must be a text.'],
    ['disable', [{ loginId: 'l' }], 'sessions.disable: loginId must be a text.'],
    ['enable', [undefined], 'sessions.enable: loginId must be a text.'],
    ['delete', [5], 'sessions.delete: loginId must be a text.'],
    ['logout', ['fo_token'], `sessions.logout: principal ${PRINCIPAL}`],
    ['logout', [undefined], `sessions.logout: principal ${PRINCIPAL}`],
    ['logout', [Promise.resolve(principal)], 'sessions.logout: principal is a promise that was not awaited.'],
    ['revokeOthers', [{ sub: 'ann' }], `sessions.revokeOthers: principal ${PRINCIPAL}`],
    ['revoke', [undefined], 'sessions.revoke: the options are missing.'],
    ['revoke', [{ principal }], 'sessions.revoke: the option loginId is missing.'],
    ['revoke', [{ principal: 'ann', loginId: 'l' }], `sessions.revoke: principal ${PRINCIPAL}`],
    ['signOutEverywhere', [principal], 'sessions.signOutEverywhere: sub must be a text.'],
    ['disableUser', [{ sub: 'ann' }], 'sessions.disableUser: sub must be a text.'],
    ['enableUser', [null], 'sessions.enableUser: sub must be a text.'],
    ['deleteUser', [null], 'sessions.deleteUser: sub must be a text.'],
    [
      'endLogin',
      [{ issuer: 'https://issuer.example', session: 's' }],
      "sessions.endLogin: there is no option 'session'. There are issuer, sub, sid.",
    ],
    ['endLogin', [{ sub: 'ann' }], 'sessions.endLogin: the option issuer is missing.'],
    ['endLogin', [{ issuer: 'https://issuer.example' }], 'sessions.endLogin: sub or sid is needed.'],
    ['useOnce', [5, 1_000], 'sessions.useOnce: key must be a text.'],
    ['useOnce', ['k'], 'sessions.useOnce: ms must be a number, 0 or more.'],
  ])('%s(%j) is a TypeError', async (method, given, message) => {
    const call: unknown = world().sessions[method]
    if (typeof call !== 'function') throw new Error(method)
    await expect(call(...given)).rejects.toThrow(new TypeError(message))
  })
})

describe('scopes of a session', () => {
  it.each([
    'openid',
    'offline_access',
    'launch/patient',
    'system/*.cruds',
    'user/Patient.rs',
    'user/Patient.read',
    'patient/Observation.rs?category=laboratory',
    'system/Bot.cruds',
  ])('may be %s', async (scope) => {
    await expect(world().sessions.create({ user: 'ann', scopes: [scope] })).resolves.toBeDefined()
  })

  it.each([
    ['foo', 'there is no scope "foo".'],
    ['opnid', "Did you mean 'openid'?"],
    ['system/Patiant.rs', `the scope "system/Patiant.rs" names no resource type. Did you mean 'Patient'?`],
    ['user/Patient.sr', 'there is no scope "user/Patient.sr".'],
    ['system/*', "A scope of resources has a form such as 'system/*.cruds' or 'user/Patient.rs', with its letters in the order of cruds."],
    ['launch/patiant', 'there is no scope "launch/patiant". Did you mean \'launch/patient\'?'],
    ['user/Patient.', 'there is no scope'],
    ['a b', 'there is no scope'],
    ['', 'there is no scope'],
  ])('cannot be %j', async (scope, message) => {
    await expect(world().sessions.create({ user: 'ann', scopes: [scope] })).rejects.toThrow(message)
    await expect(world().sessions.create({ user: 'ann', scopes: [scope] })).rejects.toThrow(TypeError)
  })

  it("may be the host's own, where it names them", async () => {
    const sessions = createSessions({ store: memorySessionStore(), customScopes: ['reports:read'] })
    const { token } = await sessions.create({ user: 'ann', scopes: ['openid', 'reports:read'] })
    expect((await sessions.verify(token)).scopes).toEqual(['openid', 'reports:read'])
  })
})

describe('foreign tokens', () => {
  it('are recorded at first sight, once, also when they come together', async () => {
    const { sessions, events } = world()
    const seen = { userAgent: 'curl', remoteHost: '::1' }
    const principals = await Promise.all([1, 2, 3].map(() => sessions.adopt(foreign(), seen)))
    expect(new Set(principals.map(({ loginId }) => loginId)).size).toBe(1)
    expect(await sessions.list('ann')).toMatchObject([{ userAgent: 'curl', remoteHost: '::1', authMethod: 'https://issuer.example' }])
    expect(events.map(({ type }) => type)).toEqual(['session-created'])
  })

  it('can be revoked from another session of the user', async () => {
    const { sessions } = world()
    const principal = await sessions.verify((await sessions.create({ user: 'ann' })).token)
    const { loginId } = await sessions.adopt(foreign())
    await sessions.revoke({ principal, loginId })
    expect(await reasonOf(sessions.adopt(foreign()))).toBe('revoked')
  })

  it('of one session but another subject are refused', async () => {
    const { sessions } = world()
    await sessions.adopt(foreign())
    expect(await reasonOf(sessions.adopt(foreign({ sub: 'bob' })))).toBe('other-subject')
  })

  it('of two issuers are two sessions', async () => {
    const { sessions } = world()
    const one = await sessions.adopt(foreign())
    const two = await sessions.adopt(foreign({ issuer: 'https://other.example' }))
    expect(one.loginId).not.toBe(two.loginId)
  })

  it.each([
    [-1_000, 'signed-out'],
    [999, 'signed-out'],
    [1_000, undefined],
  ])('issued %d ms after the second of a global sign-out: %s', async (after, reason) => {
    const { sessions } = world()
    await sessions.create({ user: 'ann' })
    await sessions.signOutEverywhere('ann')
    expect(await reasonOf(sessions.adopt(foreign({ issuedAt: START + after })))).toBe(reason)
  })

  it('with a session key seen before move its expiry and have their own scopes, patient, project and client', async () => {
    const { sessions, clock } = world()
    await sessions.adopt(foreign({ sessionKey: 'sid:1', project: 'one', client: 'app', patient: 'p' }))
    clock.time += 59_000
    const later = await sessions.adopt(foreign({ sessionKey: 'sid:1', expiresAt: START + 120_000, scopes: ['profile'] }))
    expect(later).toMatchObject({ scopes: ['profile'], project: undefined, client: undefined, patient: undefined })
    clock.time += 59_000
    expect((await sessions.list('ann')).length).toBe(1)
  })

  it('do not replace the claims of a known user', async () => {
    const { sessions } = world()
    await sessions.create({ user: { sub: 'ann', name: 'Ann' } })
    expect((await sessions.adopt(foreign({ claims: { name: 'Eve' } }))).claims).toEqual({ name: 'Ann' })
  })
})

describe('the list', () => {
  it('shows active sessions only, newest first', async () => {
    const { sessions, clock } = world()
    const made = []
    for (let i = 0; i < 4; i++) {
      made.push(await sessions.create({ user: 'ann', ttl: i === 0 ? 1 : 3_600 }))
      clock.time += 1_000
    }
    await sessions.disable(made[1]!.loginId)
    expect((await sessions.list('ann')).map(({ loginId }) => loginId)).toEqual([made[3]!.loginId, made[2]!.loginId])
  })

  it.each<[string, (sessions: Sessions, loginId: string) => Promise<unknown>, isActive?: boolean]>([
    ['exists', async () => {}, true],
    ['is disabled', (sessions, loginId) => sessions.disable(loginId)],
    ['is enabled again', async (sessions, loginId) => (await sessions.disable(loginId)) && sessions.enable(loginId), true],
    ['is deleted', (sessions, loginId) => sessions.delete(loginId)],
    ['is of a user who signed out', (sessions) => sessions.signOutEverywhere('ann')],
    ['is of a disabled user', (sessions) => sessions.disableUser('ann')],
  ])('tells by its login id whether one that %s is active', async (_, change, isActive = false) => {
    const { sessions, clock } = world()
    const { loginId } = await sessions.create({ user: 'ann' })
    await change(sessions, loginId)
    expect([await sessions.isActive(loginId), await sessions.isActive('none')]).toEqual([isActive, false])
    clock.time += 3_600_000
    expect(await sessions.isActive(loginId)).toBe(false)
  })

  it.each<[string, (sessions: Sessions, loginId: string) => Promise<unknown>]>([
    ['ended', (sessions, loginId) => sessions.disable(loginId)],
    ['expired', async () => {}],
  ])('shows an old active session behind a thousand that have %s', async (_, end) => {
    const { sessions, clock } = world()
    const old = await sessions.create({ user: 'ann', ttl: 1e6 })
    for (let i = 0; i < 1_001; i++) {
      clock.time += 1
      await end(sessions, (await sessions.create({ user: 'ann', ttl: 1 })).loginId)
    }
    clock.time += 1_000
    expect((await sessions.list('ann')).map(({ loginId }) => loginId)).toEqual([old.loginId])
  })

  it('notes the last use at most once a minute', async () => {
    const { sessions, clock, store } = world()
    const { token, loginId } = await sessions.create({ user: 'ann' })
    const lastUse = async (later: number): Promise<number | undefined> => {
      clock.time += later
      await sessions.verify(token)
      await sessions.close()
      return (await store.session(loginId))?.lastUsedAt
    }
    expect([await lastUse(59_999), await lastUse(1), await lastUse(1)]).toEqual([START, START + 60_000, START + 60_000])
  })

  it.each([0, 5_000])('writes no more than one note for requests at once (cache %d ms)', async (sessionCacheMs) => {
    const store = memorySessionStore()
    let writes = 0
    const counting: Partial<SessionStore> = {
      ...store,
      changeSession: (...change) => {
        writes++
        return store.changeSession(...change)
      },
    }
    const { sessions, clock } = world(counting, { sessionCacheMs })
    const { token } = await sessions.create({ user: 'ann' })
    clock.time += 60_000
    await Promise.all([1, 2, 3].map(() => sessions.verify(token)))
    await sessions.verify(token)
    await sessions.close()
    expect(writes).toBe(1)
  })

  it('keeps 256 characters of the user agent, without control characters', async () => {
    const { sessions } = world()
    await sessions.create({ user: 'ann', userAgent: `a\r\n\u001b[31m${'b'.repeat(300)}` })
    expect((await sessions.list('ann'))[0]?.userAgent).toBe(`a[31m${'b'.repeat(251)}`)
  })

  it('a failure to note the last use fails no request', async () => {
    const store = { ...memorySessionStore(), changeSession: () => Promise.reject(new OperationError('storage-full', 'Full.')) }
    const clock = { time: START }
    const failures: unknown[] = []
    const sessions = createSessions({ store, now: () => new Date(clock.time), onFailure: (error) => void failures.push(error) })
    const { token } = await sessions.create({ user: 'ann' })
    clock.time += 60_000
    expect((await sessions.verify(token)).sub).toBe('ann')
    await sessions.close()
    expect(failures.length).toBe(1)
  })
})

describe('audit', () => {
  it('required: an action whose event cannot be stored fails', async () => {
    const onAudit = (): Promise<void> => Promise.reject(new Error('full'))
    const strict = createSessions({ store: memorySessionStore(), onAudit, auditMode: 'required' })
    expect(await codeOf(strict.create({ user: 'ann' }))).toBe('unavailable')
    const failures: unknown[] = []
    const easy = createSessions({ store: memorySessionStore(), onAudit, onAuditFailure: (error) => void failures.push(error) })
    await easy.create({ user: 'ann' })
    await Promise.resolve()
    expect(failures.length).toBe(1)
  })

  it('an event can be written as FHIR', () => {
    const event: AuditEvent = {
      time: new Date(START),
      type: 'scope-denied',
      outcome: 'refused',
      sub: 'ann',
      resourceType: 'Patient',
      resourceId: '1',
    }
    expect(toAuditEvent(event)).toMatchObject({
      resourceType: 'AuditEvent',
      outcome: '4',
      recorded: '2026-01-01T00:00:00.000Z',
      entity: [{ what: { reference: 'Patient/1' } }],
    })
  })
})
