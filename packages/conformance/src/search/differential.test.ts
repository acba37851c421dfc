import { DatabaseSync } from 'node:sqlite'
import { openPostgres } from '@fhir-ops/postgres'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { sqliteStorage } from '@fhir-ops/sqlite'
import fc from 'fast-check'
import { memoryStorage } from 'fhir-ops/memory'
import { createIndexer, parseSearch, searchParameters } from 'fhir-ops/search'
import { putResource, type Storage, type WriteEntry } from 'fhir-ops/storage'
import { afterAll, expect, it } from 'vitest'
import { testDatabase } from '../../../postgres/test/test-database.js'
import { NOW } from './naive/matches.js'
import { naiveSearch, type Pair, type Stored } from './naive/search.js'
import { change, type Change } from './random-resources.js'
import { search, type Search } from './random-searches.js'

/** Rounds of changes and searches; more of them with FHIR_OPS_ROUNDS, the same ones again with FHIR_OPS_SEED. */
const ROUNDS = Number(process.env['FHIR_OPS_ROUNDS'] ?? 60)
const SEED = Number(process.env['FHIR_OPS_SEED'] ?? Date.now() % 2 ** 31)

const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
const indexer = createIndexer(parameters)
const database = await testDatabase({ fsync: 'off' })
afterAll(() => database.remove())

it(`memory, SQLite, PostgreSQL and a plain look at every resource find the same in the same order (seed ${SEED}, ${ROUNDS} rounds)`, async () => {
  const clock = { at: Date.UTC(2023, 0, 1) }
  const now = (): Date => new Date(clock.at)
  const postgres = await openPostgres((await database.schema()).pool(), { now, allowLossyCommits: true })
  const storages = [memoryStorage([], { now }), sqliteStorage(new DatabaseSync(':memory:'), { now }), postgres.storage]
  const known = new Map<string, Stored>()
  const round = fc.tuple(fc.array(change, { minLength: 1, maxLength: 20 }), fc.array(search, { minLength: 5, maxLength: 15 }))
  await fc.assert(
    fc.asyncProperty(round, async ([changes, searches]) => {
      clock.at += 6 * 3_600_000
      for (const storage of storages) await storage.write(changes.map(entryOf))
      for (const each of changes) note(known, each, clock.at)
      for (const asked of searches) await expectSame(storages, [...known.values()], asked)
    }),
    { numRuns: ROUNDS, seed: SEED, endOnFailure: true },
  )
  await Promise.all(storages.map((storage) => storage.close()))
}, 600_000)

function entryOf({ op, resource }: Change): WriteEntry {
  const { resourceType: type, id } = resource
  return op === 'delete' ? { op, type, id } : putResource({ type, id, source: { ...resource } }, indexer)
}

function note(known: Map<string, Stored>, { op, resource }: Change, updated: number): void {
  const address = `${resource.resourceType}/${resource.id}`
  if (op === 'delete') known.delete(address)
  else known.set(address, { resource, updated })
}

async function expectSame(storages: readonly Storage[], known: readonly Stored[], { type, pairs }: Search): Promise<void> {
  const ids = naiveSearch(known, type, pairs)
  const expected = { ids, count: ids.length }
  for (const [index, storage] of storages.entries()) {
    const name = ['memory', 'SQLite', 'PostgreSQL'][index]
    expect(await answerOf(storage, type, pairs), `${name}: ${type}?${pairs.map((pair) => pair.join('=')).join('&')}`).toEqual(expected)
  }
}

async function answerOf(storage: Storage, type: string, pairs: readonly Pair[]): Promise<unknown> {
  const { query } = await parseSearch(type, pairs, { parameters, now: () => new Date(NOW) })
  const ids: string[] = []
  for (let after: string | undefined, more = true; more;) {
    const page = await storage.search({ ...query, ...(after !== undefined && { after }) })
    ids.push(...page.items.map(({ id }) => id))
    after = page.next
    more = after !== undefined
  }
  return { ids, count: await storage.count(query) }
}
