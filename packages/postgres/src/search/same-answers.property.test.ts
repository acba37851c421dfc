import { DatabaseSync } from 'node:sqlite'
import { sqliteStorage } from '@fhir-ops/sqlite'
import fc from 'fast-check'
import { memoryStorage } from 'fhir-ops/memory'
import type { SearchQuery, Storage } from 'fhir-ops/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { query, scan, step, type Step } from '../../../core/test/random-queries.js'
import { answerOf, entryOf, historyOf, scanOf, versionsOf } from '../../../core/test/storage-answers.js'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { connectionsOf } from '../database/connections.js'
import { databaseOver } from '../database/database.js'
import { openPostgres } from '../index.js'
import { scanPage } from './scan-page.js'
import { countMatches, searchPage } from './search-page.js'
import { countingBySets } from './set-counts.js'

const RUNS = rounds({ quick: 10, all: 60 })

const database = await sharedDatabase()

describe('PostgreSQL, SQLite and memory', () => {
  let schema: TestSchema
  beforeEach(async () => {
    schema = await database.schema()
  })
  afterEach(() => schema.drop())

  it('give the same pages and histories, byte for byte, and the same counts', async () => {
    let at = 0
    const clock = { now: () => new Date(at) }
    const postgres = await openPostgres(schema.pool(), { ...UNHURRIED, ...clock })
    const inSets = throughSets(schema)
    const inMemory = bySets(schema)
    const storages = [postgres.storage, sqliteStorage(new DatabaseSync(':memory:'), clock), memoryStorage([], clock)]
    // Resources stay from run to run: versions and deletions add up.
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 15 }),
        fc.array(query, { minLength: 1, maxLength: 6 }),
        scan,
        async (steps, queries, scanned) => {
          at++
          const [results, ...others] = await Promise.all(storages.map((storage) => resultsOf(storage, steps)))
          for (const other of others) expect(other).toEqual(results)
          for (const asked of queries) await expectSame([...storages, inSets, { ...inSets, count: inMemory.count }], asked)
          const [population, ...populations] = await Promise.all([...storages, inSets].map((storage) => scanOf(storage, scanned)))
          for (const other of populations) expect(other).toEqual(population)
          for (const when of [{ since: at - 2 }, { at: { from: at - 3, to: at - 1 } }]) {
            const [history, ...histories] = await Promise.all(
              storages.map((storage) => historyOf(storage, { types: ['Patient', 'Group'], ...when, limit: 20 })),
            )
            for (const other of histories) expect(other).toEqual(history)
          }
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    )
    await Promise.all([...storages, inSets, inMemory].map((storage) => storage.close()))
  })
})

/** The same resources, searched as if there were never few, and scanned as if there were always many. */
function throughSets(schema: TestSchema): Pick<Storage, 'search' | 'count' | 'scan' | 'close'> {
  const pool = schema.pool()
  const db = databaseOver(pool, connectionsOf(pool, UNHURRIED))
  return {
    search: (asked) => searchPage(db, asked, { few: -1 }),
    count: (asked) => countMatches(db, asked, -1),
    scan: (asked) => scanPage(db, asked, -1),
    close: () => db.close(),
  }
}

/** Counts by sets from the first time on. */
function bySets(schema: TestSchema): Pick<Storage, 'count' | 'close'> {
  const pool = schema.pool()
  const db = databaseOver(pool, connectionsOf(pool, UNHURRIED))
  return { count: countingBySets(db, (asked) => countMatches(db, asked), { worthMs: -1 }), close: () => db.close() }
}

async function resultsOf(storage: Storage, steps: readonly Step[]): Promise<unknown> {
  return versionsOf(await storage.write(steps.map(entryOf)))
}

async function expectSame(storages: readonly Pick<Storage, 'search' | 'count'>[], asked: SearchQuery): Promise<void> {
  const [answer, ...others] = await Promise.all(storages.map((storage) => answerOf(storage, asked)))
  for (const other of others) expect(other).toEqual(answer)
}
