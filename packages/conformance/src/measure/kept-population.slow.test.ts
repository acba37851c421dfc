import { openPostgres } from '@fhir-ops/postgres'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { contextOver, entryOf, expectKeptAgreement, numRuns, rounds, SEED } from '../../../cql/test/ward.fixture.js'
import { testDatabase, type TestDatabase } from '../../../postgres/test/test-database.js'
import { holdsOverStorages } from './over-storages.js'

describe('a measure over a population that is kept counts what a new evaluation does, after whatever was written', () => {
  holdsOverStorages({
    values: rounds,
    check: (storage, all) => expectKeptAgreement(contextOver(storage), all),
    runs: { memory: 10, sqlite: 5, postgres: 3 },
  })
})

describe('also where another process writes, too', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.remove())

  it('over PostgreSQL', { timeout: 300_000 }, async (test) => {
    if (database.url === undefined) return test.skip()
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const schema = await database.schema()
        const [own, other] = await Promise.all([openPostgres(schema.pool()), openPostgres(schema.pool())])
        try {
          await expectKeptAgreement(contextOver(own.storage), all, async (changes) => {
            if (changes.length > 0) await other.storage.write(changes.toReversed().map(entryOf))
          })
        } finally {
          await Promise.all([own.close(), other.close()])
          await schema.drop()
        }
      }),
      { numRuns: numRuns(2), ...SEED },
    )
  })
})
