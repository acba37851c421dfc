import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as after } from 'node:timers/promises'
import { checkSqlite } from '@fhir-ops/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile } from '../../../../test/built.js'
import { at } from '../../../handler/test/running-server.js'
import { testServer, type TestServer } from '../../../postgres/test/test-server.js'

const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 4)
const LANES = 4
const KEYS = 'http://a.example/keys'
const SYSTEM = 'http://a.example/animals'

interface Served {
  readonly url: string
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>
}

async function served(storage: string): Promise<Served> {
  const args = ['serve', '--port', '0', '--dev-token', 'dev', '--storage', storage]
  const child = spawn(process.execPath, [builtFile('packages/cli/dist/main.js'), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line]: readonly unknown[] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit')])
  const kill = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    child.kill(signal)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  return { url: `${String(line).replace('listening on ', '')}`, kill }
}

/** The status of an answer and its body; `undefined` for a server that was killed. */
async function ask({ url }: Served, path: string, body?: object, headers: Record<string, string> = {}) {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  try {
    const response = await fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: 'Bearer dev', 'content-type': 'application/fhir+json', ...headers },
    })
    const json: unknown = await response.json()
    return { status: response.status, json }
  } catch {
    return undefined
  }
}

/** What was acknowledged, in all rounds. */
interface Acknowledged {
  /** Keys of transactions. */
  readonly transactions: Set<string>
  /** Keys of transactions that were sent; they may have been done. */
  readonly sent: Set<string>
  /** Keys of conditional creates, with the id that was answered. */
  readonly created: Map<string, string>
  /** Codes that a closure table has. */
  readonly codes: Set<string>
}

/** Three resources that refer to each other; the Patient is created if there is none with the key. */
function transaction(key: string): object {
  const [patient, observation] = [`urn:uuid:${crypto.randomUUID()}`, `urn:uuid:${crypto.randomUUID()}`]
  const identifier = [{ system: KEYS, value: key }]
  return {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        fullUrl: patient,
        request: { method: 'POST', url: 'Patient', ifNoneExist: `identifier=${KEYS}|${key}` },
        resource: { resourceType: 'Patient', identifier },
      },
      {
        fullUrl: observation,
        request: { method: 'POST', url: 'Observation' },
        resource: {
          resourceType: 'Observation',
          identifier,
          status: 'final',
          code: { text: 'x'.repeat(500) },
          subject: { reference: patient },
        },
      },
      {
        request: { method: 'PUT', url: `Basic/${key}` },
        resource: { resourceType: 'Basic', id: key, code: {}, subject: { reference: patient } },
      },
    ],
  }
}

async function writeTransactions(server: Served, lane: string, acknowledged: Acknowledged): Promise<void> {
  for (let step = 0; ; step++) {
    const key = `t-${lane}-${step}`
    acknowledged.sent.add(key)
    const answer = await ask(server, '/fhir/R4', transaction(key))
    if (answer === undefined) return
    expect(answer.status, JSON.stringify(answer.json)).toBe(200)
    acknowledged.transactions.add(key)
  }
}

/** Several lanes create the same. */
async function createConditionally(server: Served, round: number, { created }: Acknowledged): Promise<void> {
  for (let step = 0; ; step++) {
    const key = `c-${round}-${step}`
    const patient = { resourceType: 'Patient', identifier: [{ system: KEYS, value: key }] }
    const answer = await ask(server, '/fhir/R4/Patient', patient, { 'if-none-exist': `identifier=${KEYS}|${key}` })
    if (answer === undefined) return
    expect([200, 201], JSON.stringify(answer.json)).toContain(answer.status)
    const id = String(at(answer.json, 'id'))
    expect(id).toBe(created.get(key) ?? id)
    created.set(key, id)
  }
}

const closureOf = (...more: readonly object[]): object => ({
  resourceType: 'Parameters',
  parameter: [{ name: 'name', valueString: 'animals' }, ...more],
})

async function extendClosure(server: Served, { codes }: Acknowledged): Promise<void> {
  for (let step = codes.size; step < 200; step++) {
    const concept = { name: 'concept', valueCoding: { system: SYSTEM, code: `a${step}` } }
    const answer = await ask(server, '/fhir/R4/$closure', closureOf(concept))
    if (answer === undefined) return
    expect(answer.status, JSON.stringify(answer.json)).toBe(200)
    codes.add(`a${step}`)
  }
}

function listAt(json: unknown, name: string): readonly unknown[] {
  const list = at(json, name)
  return Array.isArray(list) ? list : []
}

async function found(server: Served, type: string, key: string): Promise<readonly unknown[]> {
  const answer = await ask(server, `/fhir/R4/${type}?identifier=${encodeURIComponent(`${KEYS}|${key}`)}`)
  return listAt(answer?.json, 'entry').map((entry) => at(entry, 'resource'))
}

async function checked(server: Served, { transactions, sent, created, codes }: Acknowledged): Promise<readonly string[]> {
  const faults: (string | undefined)[] = []
  for (const key of sent) faults.push(await faultOfTransaction(server, key, transactions.has(key)))
  for (const [key, id] of created) {
    const ids = (await found(server, 'Patient', key)).map((patient) => at(patient, 'id'))
    if (ids.length !== 1 || ids[0] !== id) faults.push(`${key} ${id} ${ids}`)
  }
  const replay = await ask(server, '/fhir/R4/$closure', closureOf({ name: 'version', valueString: '0' }))
  const known = new Set(listAt(replay?.json, 'group').flatMap((group) => listAt(group, 'element').map((element) => at(element, 'code'))))
  // The root is below nothing.
  for (const code of codes) if (code !== 'a0' && !known.has(code)) faults.push(`closure ${code}`)
  return faults.filter((fault) => fault !== undefined)
}

/** Describes a transaction of which a part is missing, or that was acknowledged and is not there. */
async function faultOfTransaction(server: Served, key: string, isAcknowledged: boolean): Promise<string | undefined> {
  const [patients, observations] = [await found(server, 'Patient', key), await found(server, 'Observation', key)]
  const basic = await ask(server, `/fhir/R4/Basic/${key}`)
  const counts = [patients.length, observations.length, basic?.status === 200 ? 1 : 0]
  if (!isAcknowledged && counts.every((count) => count === 0)) return undefined
  if (counts.some((count) => count !== 1)) return `${key} ${counts}`
  const subjects = [observations[0], basic?.json].map((resource) => at(resource, 'subject', 'reference'))
  return subjects.every((subject) => subject === `Patient/${at(patients[0], 'id')}`) ? undefined : `${key} refers to ${subjects}`
}

async function animals(server: Served): Promise<void> {
  const nested = Array.from({ length: 200 }, (_, n) => ({ code: `a${n}` }))
  const [root, ...others] = nested
  const concept = [{ ...root, concept: others }]
  const put = await fetch(`${server.url}/fhir/R4/CodeSystem/animals`, {
    method: 'PUT',
    headers: { authorization: 'Bearer dev', 'content-type': 'application/fhir+json' },
    body: JSON.stringify({
      resourceType: 'CodeSystem',
      id: 'animals',
      url: SYSTEM,
      status: 'active',
      content: 'complete',
      hierarchyMeaning: 'is-a',
      concept,
    }),
  })
  expect(put.status).toBe(201)
  expect((await ask(server, '/fhir/R4/$closure', closureOf()))?.status).toBe(200)
}

/** How many there are of the kind of which there are the fewest. */
function leastOf({ transactions, created, codes }: Acknowledged): number {
  return Math.min(transactions.size, created.size, codes.size)
}

async function rounds(storage: string): Promise<Acknowledged> {
  const acknowledged: Acknowledged = { transactions: new Set(), sent: new Set(), created: new Map(), codes: new Set() }
  for (let round = 0; round < ROUNDS; round++) {
    const server = await served(storage)
    if (round === 0) await animals(server)
    const lanes = Array.from({ length: LANES }, (_, lane) => [
      writeTransactions(server, `${round}-${lane}`, acknowledged),
      createConditionally(server, round, acknowledged),
    ])
    const work = Promise.all([...lanes.flat(), extendClosure(server, acknowledged)])
    const before = leastOf(acknowledged)
    await expect.poll(() => leastOf(acknowledged)).toBeGreaterThan(before)
    await after(Math.random() * 2_000)
    await server.kill('SIGKILL')
    await work
    const again = await served(storage)
    expect(await checked(again, acknowledged)).toEqual([])
    await again.kill(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
  }
  return acknowledged
}

const LIMIT = { timeout: ROUNDS * 300_000 }

describe('a server that is killed while it writes', () => {
  let folder = ''
  let database: TestServer | undefined
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fhir-ops-killed-'))
    database = await testServer()
  })
  afterAll(async () => {
    await database?.remove()
    await rm(folder, { recursive: true })
  })

  const told = ({ transactions, created, codes }: Acknowledged): void => {
    process.stdout.write(
      `${ROUNDS} kills, ${transactions.size} transactions, ${created.size} conditional creates, ${codes.size} codes of a closure\n`,
    )
  }

  it(
    'has all of each acknowledged transaction, one of each conditional create, and every pair of a closure table (SQLite)',
    LIMIT,
    async () => {
      told(await rounds(`sqlite:${join(folder, 'data.db')}`))
      expect(checkSqlite(join(folder, 'data.db'))).toEqual([])
    },
  )

  it('and so over PostgreSQL (needs its programs)', LIMIT, async ({ skip }) => {
    if (database === undefined) skip()
    else told(await rounds(database.url))
  })
})
