import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importSnomed } from '@fhir-ops/snomed/import'
import { openSqlite, type SqliteFile } from '@fhir-ops/sqlite'
import type { Handler } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import type { ContextOptions } from 'fhir-ops/context'
import { memoryConceptStore, memoryStorage } from 'fhir-ops/memory'
import { putResource, type Storage } from 'fhir-ops/storage'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runSuite, TX_SUITE } from './run-suite.js'
import { startTwinServer } from './twin-server.js'
import { txHandler } from './tx-server.js'
import { describeSuite } from '../../../../test/suites.js'

const { indexer } = r4()
const RELEASE = { edition: '31000003106', experimental: true, progress: (): void => undefined }
/** With the same clock and ids on both sides, nothing has to be masked. */
const SAME = {
  now: () => new Date('2026-01-01T00:00:00Z'),
  newId: () => '00000000-0000-4000-8000-000000000000',
  limits: { maxExpansion: 1000 },
} satisfies Partial<ContextOptions>

describeSuite('tx-tests', 'memory and SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'same-answers-'))
  const memory = { storage: memoryStorage(), concepts: memoryConceptStore() }
  let sqlite: SqliteFile | undefined

  beforeAll(async () => {
    sqlite = await openSqlite(join(folder, 'content.db'))
    for (const { concepts } of [memory, sqlite]) await importSnomed(concepts, join(TX_SUITE, 'tx-source', 'snomed'), RELEASE)
  })

  afterAll(async () => {
    await sqlite?.close()
    rmSync(folder, { recursive: true })
  })

  it.each([
    ['as they are', unchanged],
    ['with the content of the requests stored', () => storing([memory.storage, sqlite?.storage])],
  ])('answer the terminology tests of all modes with the same bytes: %s', async (_, editing) => {
    const twins = await startTwinServer((url) => [handlerOver(url, memory), handlerOver(url, sqlite)], editing())
    const { output, passed } = await runSuite(twins.base, ['--modes', 'snomed,tx.fhir.org,omop'])
    await twins.close()
    expect(passed, output).toBeGreaterThan(300)
    expect(twins.asked()).toBeGreaterThan(480)
    expect(twins.differences).toEqual([])
  })
})

function handlerOver(url: string, content: Pick<SqliteFile, 'storage' | 'concepts'> | undefined): Handler {
  if (content === undefined) throw new Error('the file is not open')
  return txHandler(url, { ...SAME, storage: content.storage, concepts: content.concepts })
}

function unchanged(): (body: string) => Promise<string> {
  return async (body) => body
}

/** Stores what comes as `tx-resource` instead of what has the same url and version, and gives the request without it. */
function storing(storages: readonly (Storage | undefined)[]): (body: string) => Promise<string> {
  const stored = new Map<string, string>()
  const store = async (resource: Record<string, unknown>): Promise<void> => {
    const [type, name] = [String(resource['resourceType']), `${resource['url']}|${resource['version']}`]
    const id = createHash('sha256').update(name).digest('hex')
    const source = JSON.stringify({ ...resource, id })
    if (stored.get(`${type}/${id}`) === source) return
    stored.set(`${type}/${id}`, source)
    for (const storage of storages) await storage?.write([putResource({ type, id, source }, indexer)])
  }
  return async (body) => {
    const request = JSON.parse(body)
    const [resources, others] = [true, false].map((is) => request.parameter.filter(({ name }: Named) => (name === 'tx-resource') === is))
    for (const { resource } of resources) await store(resource)
    return JSON.stringify({ ...request, parameter: others })
  }
}

interface Named {
  readonly name: string
}
