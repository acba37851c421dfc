import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { builtFile } from '../../../../test/built.js'
import { testServer } from '../../../postgres/test/test-server.js'
import { serve } from './service.js'

test('--audit stores what is worth an audit record as AuditEvents', async () => {
  const errors: string[] = []
  const io = { out: () => {}, err: (line: string) => errors.push(line), stdin: async () => '' }
  const server = await serve({ host: '127.0.0.1', port: 0, storage: 'memory', load: [], devToken: 'good', audit: true }, io)
  const ask = (path: string, token: string): Promise<Response> =>
    fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  expect((await ask('/auth/me', 'bad')).status).toBe(401)
  await vi.waitFor(
    async () => {
      const found = await ask('/fhir/R4/AuditEvent?subtype=token-rejected', 'good')
      expect(await found.json()).toMatchObject({ total: 1, entry: [{ resource: { outcome: '4', outcomeDesc: 'unknown' } }] })
    },
    { timeout: 300_000 },
  )
  await server.close()
  expect(errors).toEqual([])
})

test('a server that cannot be made closes the storage that it opened', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-serve-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [file, patient] = [join(folder, 'content.db'), join(folder, 'patient.json')]
  await writeFile(patient, '{"resourceType":"Patient","id":"p"}')
  const io = { out: () => {}, err: () => {}, stdin: async () => '' }
  const options = { host: '127.0.0.1', port: 0, storage: `sqlite:${file}`, load: [patient], baseUrl: 'ftp://example.org' }
  await expect(serve(options, io)).rejects.toThrow('baseUrl must be an http or https address')
  expect(existsSync(file)).toBe(true)
  // SQLite deletes its log when the last connection is closed.
  expect(existsSync(`${file}-wal`)).toBe(false)
})

test('--preload-cql loads the translator before the service is ready', async () => {
  const io = { out: () => {}, err: () => {}, stdin: async () => '' }
  const server = await serve({ host: '127.0.0.1', port: 0, storage: 'memory', load: [], open: true, preloadCql: true }, io)
  const answer = await fetch(`${server.url}/fhir/R4/$cql?expression=${encodeURIComponent('1 + 1')}`)
  const answered: unknown = await answer.json()
  await server.close()
  expect(answered).toMatchObject({ parameter: [{ name: 'return', valueInteger: 2 }] })
})

test('a search for definitions that are not there has no entries: clients take the first for what they asked for', async () => {
  const io = { out: () => {}, err: () => {}, stdin: async () => '' }
  const server = await serve({ host: '127.0.0.1', port: 0, storage: 'memory', load: [], open: true }, io)
  const found = await fetch(`${server.url}/fhir/R4/ValueSet?url=http://a.example/none`)
  const bundle: unknown = await found.json()
  await server.close()
  expect(bundle).toMatchObject({ total: 0 })
  expect(bundle).not.toHaveProperty('entry')
})

test('an open server answers to this machine, not to pages of others', async () => {
  const io = { out: () => {}, err: () => {}, stdin: async () => '' }
  const server = await serve({ host: '127.0.0.1', port: 0, storage: 'memory', load: [], open: true, cors: ['https://app.example'] }, io)
  onTestFinished(server.close)
  const { host, port } = new URL(server.url)
  const statusOf = async (method: string, headers: Record<string, string>): Promise<number | undefined> => {
    const sent = request(`${server.url}/fhir/R4/Patient${method === 'POST' ? '/_search' : ''}`, { method, headers })
    sent.end()
    const [answer]: IncomingMessage[] = await once(sent, 'response')
    answer?.resume()
    return answer?.statusCode
  }
  const hosts = [
    host,
    `localhost:${port}`,
    `app.localhost:${port}`,
    `[::1]:${port}`,
    'evil.example',
    `127.0.0.1.evil.example:${port}`,
    'a b',
  ]
  const named = await Promise.all(hosts.map((name) => statusOf('GET', { host: name })))
  expect(named).toEqual([200, 200, 200, 200, 403, 403, 403])
  const form = { host, 'content-type': 'application/x-www-form-urlencoded' }
  // A page of a development server on this machine, which hands requests on, has its own port.
  const own = [server.url, 'https://app.example', 'http://localhost:5173', 'https://[::1]:8443']
  const origins = [...own, 'https://evil.example', 'http://localhost.evil.example', 'null']
  const sent = await Promise.all(origins.map((origin) => statusOf('POST', { ...form, origin })))
  expect([...sent, await statusOf('POST', form), await statusOf('GET', { origin: 'https://evil.example' })]).toEqual([
    200, 200, 200, 200, 403, 403, 403, 200, 200,
  ])
})

/** Starts the built server in a folder, and returns the URL of a patient at it. */
async function startedIn(
  cwd: string,
  storage: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const args = ['serve', '--port', '0', '--no-auth', '--storage', storage]
  const child = spawn(process.execPath, [builtFile('packages/cli/dist/main.js'), ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line]: readonly unknown[] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')])
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return { url: `${String(line).replace('listening on ', '')}/fhir/R4/Patient`, stop }
}

const put = async (url: string): Promise<number> => {
  const headers = { 'content-type': 'application/fhir+json' }
  return (await fetch(`${url}/p`, { method: 'PUT', headers, body: '{"resourceType":"Patient","id":"p"}' })).status
}

test('a server goes on when the folder that it was started in is removed, as that of an earlier release is', async () => {
  const [folder, data] = [await mkdtemp(join(tmpdir(), 'fhir-ops-serve-')), await mkdtemp(join(tmpdir(), 'fhir-ops-serve-'))]
  onTestFinished(() => rm(data, { recursive: true }))
  const { url, stop } = await startedIn(folder, `sqlite:${join(data, 'content.db')}`)
  await rm(folder, { recursive: true })
  const status = await put(url)
  await stop()
  expect(status).toBe(201)
})

test.each(['content.db', 'file:content.db', 'file:content.db?cache=private'])(
  'a server writes and searches %s of its first folder',
  async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'fhir-ops serve-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const { url, stop } = await startedIn(folder, `sqlite:${name}`)
    const statuses = [await put(url), (await fetch(`${url}?gender:missing=true`)).status]
    await stop()
    expect([statuses, existsSync(join(folder, 'content.db'))]).toEqual([[201, 200], true])
  },
)

const database = await testServer()
afterAll(() => database?.remove())

test.skipIf(database === undefined)(
  'a server finds the passwords of its first folder for each connection (needs a PostgreSQL server)',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-serve-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'passwords'), '127.0.0.1:*:*:keeper:secret', { mode: 0o600 })
    const admin = new pg.Client({ connectionString: database?.url })
    await admin.connect()
    onTestFinished(() => admin.end())
    await admin.query(`CREATE ROLE keeper SUPERUSER LOGIN PASSWORD 'secret'`)
    const { rows } = await admin.query('SHOW hba_file')
    const rules = ['keeper 127.0.0.1/32 scram-sha-256', 'all 127.0.0.1/32 trust'].map((rule) => `SELECT 'host all ${rule}'`)
    await admin.query(`COPY (${rules.join(' UNION ALL ')}) TO '${rows[0].hba_file}'`)
    await admin.query('SELECT pg_reload_conf()')
    const storage = `${database?.url}`.replace('//fhir@', '//keeper@')
    const { url, stop } = await startedIn(folder, storage, { PGPASSFILE: 'passwords' })
    onTestFinished(stop)
    expect(await put(url)).toBe(201)
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'keeper'`)
    // Until it has heard of that, it uses connections that are lost.
    await vi.waitFor(async () => expect(await put(url)).toBe(200), { timeout: 300_000, interval: 500 })
  },
)
