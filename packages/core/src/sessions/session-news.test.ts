import { expect, test } from 'vitest'
import { memorySessionStore } from '../memory/index.js'
import type { SessionStore } from '../storage/index.js'
import { createSessions } from './index.js'

/** A store that counts reads and whose news the test tells. */
async function world() {
  const inner = memorySessionStore()
  const listeners: (() => void)[] = []
  const news = { heard: true, onChange: (listener: () => void) => void listeners.push(listener) }
  let reads = 0
  const store: SessionStore = { ...inner, news, sessionByDigest: (digest) => (reads++, inner.sessionByDigest(digest)) }
  const sessions = createSessions({ store, sessionCacheMs: 5_000 })
  const { token } = await sessions.create({ user: 'ann' })
  const tell = (heard: boolean): void => {
    news.heard = heard
    for (const listener of listeners) listener()
  }
  return { token, sessions, tell, reads: () => reads, other: createSessions({ store: inner }) }
}

test('a remembered session is read again after news of a change', async () => {
  const { sessions, token, tell, reads, other } = await world()
  const principal = await sessions.verify(token)
  await sessions.verify(token)
  expect(reads()).toBe(1)
  await other.logout(principal)
  tell(true)
  await expect(sessions.verify(token)).rejects.toMatchObject({ code: 'token-invalid' })
})

test('while news is not heard every verification reads the store', async () => {
  const { sessions, token, tell, reads, other } = await world()
  const principal = await sessions.verify(token)
  tell(false)
  await sessions.verify(token)
  await sessions.verify(token)
  expect(reads()).toBe(3)
  await other.logout(principal)
  await expect(sessions.verify(token)).rejects.toMatchObject({ code: 'token-invalid' })
})

test('what was read while news was not heard is not remembered afterwards', async () => {
  const { sessions, token, tell, reads } = await world()
  tell(false)
  await sessions.verify(token)
  tell(true)
  await sessions.verify(token)
  await sessions.verify(token)
  expect(reads()).toBe(2)
})
