import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fileURLToPath } from 'node:url'
import { openEngine } from './engine.js'
import { run } from './program.js'

const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-token-'))
const storage = `sqlite:${join(folder, 'content.db')}`
const io = { out: () => undefined, err: () => undefined, stdin: async () => '' }
beforeAll(async () => {
  expect(await run(['load', fileURLToPath(new URL('../sample/patients.json', import.meta.url)), '--storage', storage], io)).toBe(0)
})
afterAll(() => rmSync(folder, { recursive: true }))

async function claimsAfter(sub: string, ...options: readonly string[]): Promise<unknown> {
  expect(await run(['token', 'create', '--storage', storage, '--user', sub, ...options], io)).toBe(0)
  const engine = await openEngine({ storage, load: [] }, io)
  try {
    return (await engine.sessionStore.user(sub))?.claims
  } finally {
    await engine.close()
  }
}

test('a new token invents no claims about a user, and keeps those that are known', async () => {
  expect(await claimsAfter('ann')).toEqual({})
  expect(await claimsAfter('ann', '--name', 'Ann Example')).toEqual({ name: 'Ann Example' })
  expect(await claimsAfter('ann', '--email', 'ann@example.com')).toEqual({ name: 'Ann Example', email: 'ann@example.com' })
  expect(await claimsAfter('ann')).toEqual({ name: 'Ann Example', email: 'ann@example.com' })
})

test('the demo user has claims, of which any can be stated', async () => {
  expect(await claimsAfter('demo', '--name', 'Somebody')).toMatchObject({ name: 'Somebody', email: 'demo@example.org' })
})

test('a blank name is wrong use', async () => {
  expect(await run(['token', 'create', '--storage', storage, '--name', ' '], io)).toBe(2)
})
