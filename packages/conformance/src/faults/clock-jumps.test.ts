import { createHandler } from '@fhir-ops/handler'
import { openSqlite } from '@fhir-ops/sqlite'
import { createContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions, type Sessions } from 'fhir-ops/sessions'
import { rejectionReason } from 'fhir-ops/internal/sessions'
import { writableText, type PutEntry, type SessionStore, type Storage } from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { temporaryFolder } from '../../../sqlite/test/temporary-folder.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const JUMPS: readonly (readonly [name: string, ms: number])[] = [
  ['an hour forward', HOUR],
  ['an hour back', -HOUR],
  ['a day forward', DAY],
  ['a day back', -DAY],
]

interface Stores {
  readonly storage: Storage
  readonly store: SessionStore
  readonly end: () => Promise<void>
}

const ADAPTERS: readonly (readonly [name: string, open: () => Promise<Stores>])[] = [
  ['memory', async () => ({ storage: memoryStorage(), store: memorySessionStore(), end: async () => {} })],
  [
    'SQLite',
    async () => {
      const folder = await temporaryFolder()
      const { storage, sessions, close } = await openSqlite(folder.file('data.db'))
      return { storage, store: sessions, end: async () => close().then(folder.remove) }
    },
  ],
]

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** Sets the wall clock; the monotonic one goes on. */
function jump(ms: number): void {
  vi.setSystemTime(Date.now() + ms)
}

const patient: PutEntry = {
  op: 'put',
  type: 'Patient',
  id: 'a',
  text: writableText('Patient', 'a', { resourceType: 'Patient' }),
  entries: [],
}

async function stateOf(sessions: Sessions, token: string): Promise<string> {
  return sessions.verify(token).then(
    () => 'accepted',
    (error: unknown) => rejectionReason(error) ?? String(error),
  )
}

describe.each(ADAPTERS)('%s, when the clock of the machine jumps', (_, open) => {
  let stores: Stores
  beforeEach(async () => {
    stores = await open()
  })
  afterEach(async () => stores.end())

  it.each(JUMPS)('%s: versions go on, and times never go back', async (_jump, ms) => {
    const versions = []
    for (const by of [0, ms, -ms]) {
      jump(by)
      versions.push(...(await stores.storage.write([patient])))
    }
    expect(versions.map(({ versionId }) => versionId)).toEqual(['1', '2', '3'])
    const times = versions.map(({ lastUpdated }) => lastUpdated)
    expect(times.every((time, at) => at === 0 || time >= (times[at - 1] ?? ''))).toBe(true)
  })

  it.each(JUMPS)('%s: sessions that were ended stay so, the others go on, and none is purged early', async (_jump, ms) => {
    const sessions = createSessions({ store: stores.store, sessionCacheMs: 5_000 })
    const [kept, ended] = await Promise.all([1, 2].map(() => sessions.create({ user: 'ann', ttl: (2 * DAY) / 1_000 })))
    if (kept === undefined || ended === undefined) throw new Error('No sessions.')
    await sessions.revoke({ principal: await sessions.verify(kept.token), loginId: ended.loginId })
    for (const by of [ms, -ms]) {
      jump(by)
      expect(await sessions.purge()).toBe(0)
      expect([await stateOf(sessions, kept.token), await stateOf(sessions, ended.token)]).toEqual(['accepted', 'revoked'])
    }
    await sessions.close()
  })
})

describe('while the clock jumps', () => {
  it.each(JUMPS)('%s: a session whose end could not be stored stays refused here', async (_, ms) => {
    const store = memorySessionStore()
    const away = async (): Promise<never> => Promise.reject(new OperationError('storage-unavailable', 'Away.'))
    const sessions = createSessions({ store: { ...store, changeSession: away } })
    const { token } = await sessions.create({ user: 'ann' })
    await expect(sessions.logout(await sessions.verify(token))).rejects.toMatchObject({ code: 'storage-unavailable' })
    jump(ms)
    const other = await sessions.verify((await sessions.create({ user: 'bob' })).token)
    await expect(sessions.logout(other)).rejects.toMatchObject({ code: 'storage-unavailable' })
    jump(-ms)
    expect(await stateOf(sessions, token)).toBe('logged-out')
  })

  it.each(JUMPS)('%s: a request under way is neither cut off nor kept for longer', async (_, ms) => {
    const memory = memoryStorage()
    await memory.write([patient])
    const jumping: Storage = {
      ...memory,
      read: async (...key) => {
        jump(ms)
        return memory.read(...key)
      },
    }
    const sessions = createSessions({ store: memorySessionStore() })
    const handler = createHandler({
      context: createContext({ storage: jumping }),
      sessions,
      baseUrl: 'http://example.org',
      auth: 'off',
      defaultPolicy: 'deny',
    })
    const answer = await handler(new Request('http://example.org/fhir/R4/Patient/a'))
    expect(answer.status).toBe(200)
  })
})
