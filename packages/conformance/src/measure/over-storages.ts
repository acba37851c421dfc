import { openPostgres } from '@fhir-ops/postgres'
import { openSqlite } from '@fhir-ops/sqlite'
import fc from 'fast-check'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { numRuns, SEED } from '../../../cql/test/ward.fixture.js'
import { sharedDatabase, UNHURRIED, type SharedDatabase } from '../../../postgres/test/test-database.js'

/** A property that holds over each storage. */
interface StorageProperty<T> {
  readonly values: fc.Arbitrary<T>
  /** Checks the property with an empty storage. */
  readonly check: (storage: Storage, value: T) => Promise<void>
  /** Number of values that are tried over each storage. */
  readonly runs: { readonly memory: number; readonly sqlite: number; readonly postgres: number }
}

/** Tests of a property over memory, SQLite and PostgreSQL, for a `describe`. */
export function holdsOverStorages<T>({ values, check, runs }: StorageProperty<T>): void {
  let folder = ''
  let database: SharedDatabase
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fhir-ops-property-'))
    database = await sharedDatabase()
  })
  afterAll(async () => {
    await rm(folder, { recursive: true })
  })
  const assert = (times: number, over: (value: T) => Promise<void>): Promise<void> =>
    fc.assert(fc.asyncProperty(values, over), { numRuns: numRuns(times), ...SEED })

  it('over memory', () => assert(runs.memory, (value) => check(memoryStorage(), value)))

  it('over SQLite', async () => {
    let files = 0
    await assert(runs.sqlite, async (value) => {
      const opened = await openSqlite(join(folder, `${++files}.db`))
      try {
        await check(opened.storage, value)
      } finally {
        await opened.close()
      }
    })
  })

  it('over PostgreSQL', () =>
    assert(runs.postgres, async (value) => {
      const schema = await database.schema()
      const opened = await openPostgres(schema.pool(), UNHURRIED)
      try {
        await check(opened.storage, value)
      } finally {
        await opened.close()
        await schema.drop()
      }
    }))
}
