import type { ConceptStore, SystemToStore } from 'fhir-ops/storage'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { testDatabase, type TestSchema } from '../test/test-database.js'
import { openPostgres, type PostgresDatabase } from './index.js'

const database = await testDatabase({ fsync: 'off' })
afterAll(() => database.remove())

let schema: TestSchema
let db: PostgresDatabase
let concepts: ConceptStore

beforeEach(async () => {
  schema = await database.schema()
  db = await openPostgres(schema.pool(), { allowLossyCommits: true })
  concepts = db.concepts
})
afterEach(async () => {
  await db.close()
  await schema.drop()
})

const SYSTEM: SystemToStore = { url: 'http://example.org/s', version: '1', format: 'f', concepts: 3, header: '{}' }
const BYTES = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256)

it('nobody sees a version before it is published, and everybody sees all of it afterwards', async () => {
  const stage = await concepts.stage(SYSTEM)
  await stage.put('a', Uint8Array.of(1))
  await stage.put('a', BYTES)
  await stage.put('b', new Uint8Array())
  expect(await concepts.systems()).toEqual([])
  const published = await stage.publish()
  expect(await concepts.systems()).toEqual([published])
  const sections = await concepts.open(published.key)
  expect(Buffer.compare(sections.section('a'), BYTES)).toBe(0)
  expect(sections.section('b')).toHaveLength(0)
  expect(() => sections.section('c')).toThrow(expect.objectContaining({ code: 'storage-damaged' }))
})

it('a new import takes the place of the one before, which can be read until the next', async () => {
  const first = await (await concepts.stage(SYSTEM)).publish()
  const second = await (await concepts.stage(SYSTEM)).publish()
  expect(await concepts.systems()).toEqual([second])
  await concepts.open(first.key)
  await concepts.stage(SYSTEM)
  await expect(concepts.open(first.key)).rejects.toMatchObject({ code: 'storage-unavailable' })
})

it('an import that another one overtook is told so', async () => {
  const slow = await concepts.stage(SYSTEM)
  const quick = await concepts.stage(SYSTEM)
  await expect(slow.put('a', BYTES)).rejects.toMatchObject({ code: 'conflict' })
  await expect(slow.publish()).rejects.toMatchObject({ code: 'conflict' })
  await quick.publish()
})

it('what is discarded or removed is gone, and removing it again succeeds', async () => {
  const stage = await concepts.stage(SYSTEM)
  await stage.discard()
  await expect(stage.publish()).rejects.toMatchObject({ code: 'conflict' })
  const published = await (await concepts.stage(SYSTEM)).publish()
  await concepts.remove(published.key)
  await concepts.remove(published.key)
  expect(await concepts.systems()).toEqual([])
})

it('systems are in the order of url and version', async () => {
  for (const [url, version] of [
    ['b', '1'],
    ['a', '2'],
    ['a', '10'],
    ['B', '1'],
  ])
    await (await concepts.stage({ ...SYSTEM, url: url!, version: version! })).publish()
  expect((await concepts.systems()).map(({ url, version }) => url + version)).toEqual(['B1', 'a10', 'a2', 'b1'])
})
