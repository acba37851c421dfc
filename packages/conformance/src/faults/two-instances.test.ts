import { createHandler, type Handler } from '@fhir-ops/handler'
import { openPostgres } from '@fhir-ops/postgres'
import { r4 } from '@fhir-ops/r4'
import { openSqlite } from '@fhir-ops/sqlite'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import type { Storage } from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { sharedDatabase, UNHURRIED } from '../../../postgres/test/test-database.js'
import { temporaryFolder } from '../../../sqlite/test/temporary-folder.js'

const database = await sharedDatabase()

/** Storages that share their content, as those of two processes do. */
interface Shared {
  readonly storages: readonly Storage[]
  remove(): Promise<void>
}

const SHARING: readonly (readonly [name: string, open: () => Promise<Shared>])[] = [
  [
    'one SQLite file',
    async () => {
      const folder = await temporaryFolder()
      const opened = [await openSqlite(folder.file('shared.db')), await openSqlite(folder.file('shared.db'))]
      return { storages: opened.map(({ storage }) => storage), remove: () => folder.remove() }
    },
  ],
  [
    'one PostgreSQL database',
    async () => {
      const schema = await database.schema()
      const opened = [await openPostgres(schema.pool(), UNHURRIED), await openPostgres(schema.pool(), UNHURRIED)]
      return { storages: opened.map(({ storage }) => storage), remove: () => schema.drop() }
    },
  ],
]
/** PGlite in the process has one connection, which two pools cannot share. */
const usable = SHARING.filter(([name]) => name !== 'one PostgreSQL database' || database.url !== undefined)

const { indexer, ...release } = r4()
const BASE = 'http://fhir.example.org'

function instance(storage: Storage): Handler {
  return createHandler({
    context: createContext({ storage, ...release, limits: { operationTimeoutMs: 600_000 } }),
    sessions: createSessions({ store: memorySessionStore() }),
    indexer,
    baseUrl: BASE,
    auth: 'off',
    defaultPolicy: 'deny',
  })
}

/** Requests sent to each instance. */
const EACH = rounds({ quick: 3, all: 6 })
const ONE_CREATES = { 200: 2 * EACH - 1, 201: 1 }

describe.each(usable)('of two instances over %s', (_, open) => {
  let shared: Shared
  let instances: readonly Handler[] = []
  beforeEach(async () => {
    shared = await open()
    instances = shared.storages.map(instance)
  })
  afterEach(async () => {
    await Promise.all(shared.storages.map((storage) => storage.close()))
    await shared.remove()
  })

  interface Sent {
    readonly method: string
    readonly path: string
    readonly body: object
    readonly headers?: Record<string, string>
  }

  async function ask(
    handler: Handler,
    { method, path, body, headers }: Sent,
  ): Promise<{ readonly status: number; readonly json: ReturnType<typeof JSON.parse> }> {
    const all = { 'content-type': 'application/fhir+json', ...headers }
    const answer = await handler(new Request(`${BASE}/fhir/R4${path}`, { method, headers: all, body: JSON.stringify(body) }))
    return { status: answer.status, json: await answer.json() }
  }

  /** Sends the request several times to both instances at once. */
  const askBoth = (sent: (n: number) => Sent) =>
    Promise.all(Array.from({ length: EACH }, (_unused, n) => instances.map((handler, own) => ask(handler, sent(2 * n + own)))).flat())

  const stored = async (): Promise<number> => shared.storages[0]!.count({ type: 'Patient', where: { kind: 'and', conditions: [] } })

  const create = (value: string, ...others: readonly string[]): Sent => ({
    method: 'POST',
    path: '/Patient',
    body: patient(value, ...others),
    headers: { 'if-none-exist': `identifier=${value}` },
  })

  it('one creates, of many conditional creates with the same criteria, and the others find what it created', async () => {
    for (const round of ['a', 'b', 'c']) {
      const answers = await askBoth(() => create(round))
      expect(counted(answers.map(({ status }) => status))).toEqual(ONE_CREATES)
      expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1)
    }
    expect(await stored()).toBe(3)
  })

  it('one creates, of conditional creates by different identifiers of the same patient', async () => {
    const answers = await askBoth((n) => create(`own-${n % 2}`, `own-${(n + 1) % 2}`))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await stored()).toBe(1)
  })

  it('one creates, by criteria that no exact value answers', async () => {
    const answers = await askBoth(() => ({ ...create('x'), headers: { 'if-none-exist': 'family=lov&birthdate=ge1980' } }))
    expect(counted(answers.map(({ status }) => status))).toEqual(ONE_CREATES)
  })

  it('all create, of conditional creates that have nothing in common', async () => {
    const answers = await askBoth((n) => create(`n${n}`))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(await stored()).toBe(2 * EACH)
  })

  it('none creates where several exist', async () => {
    for (const id of ['one', 'two']) await ask(instances[0]!, { method: 'PUT', path: `/Patient/${id}`, body: { ...patient('twice'), id } })
    const answers = await askBoth(() => create('twice'))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 412))
    expect(await stored()).toBe(2)
  })

  it('one creates, of many conditional updates, and the others replace what it created', async () => {
    const answers = await askBoth(() => ({ method: 'PUT', path: '/Patient?identifier=u', body: patient('u') }))
    expect(counted(answers.map(({ status }) => status))).toEqual(ONE_CREATES)
    expect(answers.map(({ json }) => Number(json.meta.versionId)).toSorted((a, b) => a - b)).toEqual(answers.map((_answer, n) => n + 1))
    expect(await stored()).toBe(1)
  })

  it('one creates, of conditional creates and updates with the same criteria', async () => {
    const answers = await askBoth((n) => (n % 4 < 2 ? create('m') : { method: 'PUT', path: '/Patient?identifier=m', body: patient('m') }))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await stored()).toBe(1)
  })

  it('one creates, of many transactions with the same condition, and the links of the others lead to what it created', async () => {
    const entry = [
      { fullUrl: 'urn:uuid:p', resource: patient('t'), request: { method: 'POST', url: 'Patient', ifNoneExist: 'identifier=t' } },
      {
        resource: { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: { reference: 'urn:uuid:p' } },
        request: { method: 'POST', url: 'Observation' },
      },
    ]
    const answers = await askBoth(() => ({ method: 'POST', path: '', body: { resourceType: 'Bundle', type: 'transaction', entry } }))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const created = answers.map(({ json }) => json.entry[0].response.status)
    expect(counted(created)).toEqual(ONE_CREATES)
    expect(new Set(answers.map(({ json }) => json.entry[1].resource.subject.reference)).size).toBe(1)
    expect(await stored()).toBe(1)
  })
})

/** How often each value occurs. */
function counted(values: readonly unknown[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(values, String)].map(([value, all]) => [value, all.length]))
}

function patient(...values: readonly string[]): object {
  return {
    resourceType: 'Patient',
    identifier: values.map((value) => ({ value })),
    name: [{ family: 'Lovell' }],
    birthDate: '1980-12-10',
  }
}
