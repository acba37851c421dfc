import { expect, test, vi } from 'vitest'
import type { Database } from '../database/database.js'
import type { Row } from '../database/sql.js'
import { sessionsIn } from './sessions.js'

const ROW = {
  fixed: '{"epoch":0,"scopes":[]}',
  login_id: 'l',
  digest: 'd',
  sub: 's',
  last_used_at: 0,
  created_at: 0,
  expires_at: 1,
  claims: null,
}

/** A store over a database that answers when it is told to, with the state of the session at that time. */
function sessionStore() {
  const asked: { digest: unknown; answer: (state: string) => void; fail: (error: Error) => void }[] = []
  const rows = vi.fn<Database['rows']>(async ({ values }) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>()
    asked.push({ digest: values[0], answer: (state) => resolve([{ ...ROW, state }]), fail: reject })
    return promise
  })
  const unused = async (): Promise<never> => Promise.reject(new Error('unused'))
  const store = sessionsIn({ rows, transaction: unused, snapshot: unused, session: unused, close: unused }, (change) => change)
  const stateOf = async (digest: string): Promise<string | undefined> => (await store.knownByDigest?.(digest))?.session.state
  return { asked, stateOf }
}

test('requests with one token at the same time share a lookup that began after each of them', async () => {
  const { asked, stateOf } = sessionStore()
  const first = stateOf('d')
  const others = Array.from({ length: 100 }, () => stateOf('d'))
  expect(asked).toHaveLength(1)
  // The session ends now, and the lookup that is under way has read it before.
  asked[0]?.answer('active')
  expect(await first).toBe('active')
  await expect.poll(() => asked).toHaveLength(2)
  const late = stateOf('d')
  asked[1]?.answer('revoked')
  expect(new Set(await Promise.all(others))).toEqual(new Set(['revoked']))
  await expect.poll(() => asked).toHaveLength(3)
  asked[2]?.answer('revoked')
  expect(await late).toBe('revoked')
})

test('requests with other tokens do not wait, and a lookup that failed is not remembered', async () => {
  const { asked, stateOf } = sessionStore()
  const calls = [stateOf('a'), stateOf('b')]
  expect(asked.map(({ digest }) => digest)).toEqual(['a', 'b'])
  const failed = expect(calls[0]).rejects.toThrow('lost')
  asked[0]?.fail(new Error('lost'))
  await failed
  asked[1]?.answer('active')
  expect(await calls[1]).toBe('active')
  const again = stateOf('a')
  asked[2]?.answer('active')
  expect(await again).toBe('active')
})
