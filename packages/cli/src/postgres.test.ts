import { afterAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../postgres/test/test-database.js'
import { postgresUrl } from './storage.js'
import { run } from './program.js'

const database = await testDatabase()
const schema = await database.schema()
afterAll(async () => {
  await schema.drop()
  await database.remove()
})

test.each([
  ['postgres:postgres://u@h/d', 'postgres://u@h/d'],
  ['postgres:postgresql://h/d', 'postgresql://h/d'],
  ['postgresql://h/d', 'postgresql://h/d'],
  ['postgres:', undefined],
  ['sqlite:postgres://h', undefined],
])('%s names the database %s', (option, url) => {
  expect(postgresUrl(option)).toBe(url)
})

async function output(...args: readonly string[]): Promise<string> {
  const out: string[] = []
  const io = { out: (line: string) => out.push(line), err: () => {}, stdin: async () => '' }
  expect(await run([...args, '--storage', `postgres:${schema.url}`], io)).toBe(0)
  return out.join('\n')
}

describe.skipIf(schema.url === undefined)('commands over PostgreSQL (needs a PostgreSQL server)', () => {
  test('make, list and revoke tokens', async () => {
    const { token, loginId }: Readonly<Record<string, string>> = JSON.parse(await output('token', 'create', '--user', 'ann', '--json'))
    expect(token).toMatch(/^fo_/)
    expect(JSON.parse(await output('token', 'list', '--user', 'ann', '--json'))).toMatchObject([{ loginId }])
    await output('token', 'revoke', loginId ?? '')
    expect(JSON.parse(await output('token', 'list', '--user', 'ann', '--json'))).toEqual([])
  })

  test('an address without a server is an error with a code', async () => {
    const err: string[] = []
    const io = { out: () => {}, err: (line: string) => err.push(line), stdin: async () => '' }
    expect(await run(['token', 'list', '--storage', 'postgres://u@127.0.0.1:1/d'], io)).toBe(1)
    expect(err).toEqual(['error: postgres://127.0.0.1:1/d: The database cannot be reached. [storage-unavailable]'])
  })
})
