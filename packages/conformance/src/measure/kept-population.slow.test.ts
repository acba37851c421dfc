import { openPostgres, type PostgresDatabase } from '@fhir-ops/postgres'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evaluateMeasure } from 'fhir-ops/evaluate'
import {
  contextOver,
  counting,
  entryOf,
  expectKeptAgreement,
  languagesOf,
  library,
  MEASURES,
  numRuns,
  PERIOD,
  putOf,
  rounds,
  SEED,
  TEXT,
  valueSet,
} from '../../../cql/test/ward.fixture.js'
import { testDatabase, type TestDatabase } from '../../../postgres/test/test-database.js'
import { holdsOverStorages } from './over-storages.js'

describe('a measure over a population that is kept counts what a new evaluation does, after whatever was written', () => {
  holdsOverStorages({
    values: rounds,
    check: (storage, all) => expectKeptAgreement(contextOver(storage), all),
    runs: { memory: 10, sqlite: 5, postgres: 3 },
  })
})

describe('a population that is kept over PostgreSQL while another process writes (needs a PostgreSQL server)', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.remove())

  const overBoth = async (check: (own: PostgresDatabase, other: PostgresDatabase) => Promise<void>): Promise<void> => {
    const schema = await database.schema()
    const [own, other] = await Promise.all([openPostgres(schema.pool()), openPostgres(schema.pool())])
    try {
      await check(own, other)
    } finally {
      await Promise.all([own.close(), other.close()])
      await schema.drop()
    }
  }

  it('gives what a new evaluation does', async (test) => {
    if (database.url === undefined) return test.skip()
    await fc.assert(
      fc.asyncProperty(rounds, (all) =>
        overBoth((own, other) =>
          expectKeptAgreement(contextOver(own.storage), all, async (changes) => {
            if (changes.length > 0) await other.storage.write(changes.toReversed().map(entryOf))
          }),
        ),
      ),
      { numRuns: numRuns(2), ...SEED },
    )
  })

  it('is read again only where something has changed', async (test) => {
    if (database.url === undefined) return test.skip()
    await overBoth(async (own, other) => {
      const { storage, scanned } = counting(own.storage)
      const people = Array.from({ length: 40 }, (_, n) =>
        putOf({ resourceType: 'Patient', id: `p${n}`, gender: 'female', birthDate: '1980-01-01' }),
      )
      await other.storage.write([...[library(TEXT), valueSet(['a']), ...MEASURES].map(putOf), ...people])
      const languages = languagesOf(1_000_000)
      const read: number[] = []
      const evaluate = async (): Promise<void> => {
        await evaluateMeasure(contextOver(storage), { measure: 'Measure/proportion', ...PERIOD }, { languages })
        read.push(scanned())
      }
      await evaluate()
      await evaluate()
      await other.storage.write([entryOf({ kind: 'visit', id: 'e1', patient: 'p1', status: 'finished', code: 'a', year: '2020' })])
      await evaluate()
      await other.storage.write([{ op: 'delete', type: 'Encounter', id: 'e1' }])
      await evaluate()
      expect(read).toEqual([40, 0, 1, 1])
    })
  })
})
