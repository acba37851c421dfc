import { DatabaseSync } from 'node:sqlite'
import { openPostgres } from '@fhir-ops/postgres'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { sqliteStorage } from '@fhir-ops/sqlite'
import fc from 'fast-check'
import { memoryStorage } from 'fhir-ops/memory'
import { containedQueries, parseSeveral, severalPage, showingContained } from 'fhir-ops/internal/search'
import { createIndexer, searchParameters } from 'fhir-ops/search'
import { putResource, type SearchPage, type SearchQuery, type Storage, type WriteEntry } from 'fhir-ops/storage'
import { expect, it } from 'vitest'
import { rounds, SEED } from '../../../../test/effort.js'
import { sharedDatabase, UNHURRIED } from '../../../postgres/test/test-database.js'
import { NOW } from './naive/matches.js'
import { naiveSearch, type Stored } from './naive/search.js'
import { change, IDS, type Change } from './random-resources.js'
import { search, type Search } from './random-searches.js'

/** Of changes and searches. */
const ROUNDS = rounds({ quick: 6, all: 60 })

const parameters = searchParameters(r4SearchParameters(), r4TypeModel(), { words: true })
const indexer = createIndexer(parameters)
const database = await sharedDatabase()

it(`memory, SQLite, PostgreSQL and a plain look at every resource find the same in the same order (seed ${SEED}, ${ROUNDS} rounds)`, async () => {
  const clock = { at: Date.UTC(2023, 0, 1) }
  const now = (): Date => new Date(clock.at)
  const postgres = await openPostgres((await database.schema()).pool(), { ...UNHURRIED, now })
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
})

function entryOf({ op, resource }: Change): WriteEntry {
  const { resourceType: type, id } = resource
  return op === 'delete' ? { op, type, id } : putResource({ type, id, source: { ...resource } }, indexer)
}

function note(known: Map<string, Stored>, { op, resource }: Change, updated: number): void {
  const address = `${resource.resourceType}/${resource.id}`
  if (op === 'delete') known.delete(address)
  else known.set(address, { resource, updated })
}

async function expectSame(storages: readonly Storage[], known: readonly Stored[], asked: Search): Promise<void> {
  const found = naiveSearch(known, asked.types, asked.pairs)
  const expected = { found, count: found.length }
  for (const [index, storage] of storages.entries()) {
    const name = ['memory', 'SQLite', 'PostgreSQL'][index]
    const question = `${asked.types.join('+')}?${asked.pairs.map((pair) => pair.join('=')).join('&')}`
    expect(await answerOf(storage, asked), `${name}: ${question}`).toEqual(expected)
  }
}

async function answerOf(storage: Storage, { types, pairs }: Search): Promise<unknown> {
  const queries = await queriesOf({ types, pairs })
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await pageOf(storage, queries, after)
    // The plain look has no slash in ids.
    found.push(...page.items.map(({ type, id }) => `${type}/${id.replace('/', '.')}`))
    after = page.next
  } while (after !== undefined)
  const counts = await Promise.all(queries.map((query) => storage.count(query)))
  return { found, count: counts.reduce((sum, count) => sum + count, 0) }
}

async function queriesOf({ types, pairs }: Search): Promise<readonly SearchQuery[]> {
  const { queries, contained } = await parseSeveral(types, pairs, { parameters, now: () => new Date(NOW), contained: true })
  return contained === undefined ? queries : queries.flatMap((query) => containedQueries(query, contained, Object.keys(IDS).sort()))
}

async function pageOf(storage: Storage, queries: readonly SearchQuery[], after: string | undefined): Promise<SearchPage> {
  const [query, another] = queries
  const shown = showingContained(storage)
  if (query !== undefined && another === undefined) return shown.search({ ...query, ...(after !== undefined && { after }) })
  return severalPage({ storage: shown, indexer }, queries, { limit: query?.limit ?? 1, after })
}
