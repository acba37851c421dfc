import { openPostgres } from '@fhir-ops/postgres'
import { openSqlite } from '@fhir-ops/sqlite'
import fc from 'fast-check'
import { memoryStorage } from 'fhir-ops/memory'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expectSameCounts, ward } from '../../../cql/test/push-down.fixture.js'
import { numRuns, SEED } from '../../../cql/test/ward.fixture.js'
import { testDatabase, type TestDatabase } from '../../../postgres/test/test-database.js'

describe('populations that the search for subjects tells are those that evaluations give', () => {
  let folder = ''
  let database: TestDatabase
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fhir-ops-push-down-'))
    database = await testDatabase()
  })
  afterAll(async () => {
    await rm(folder, { recursive: true })
    await database.remove()
  })

  it('over memory', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(ward, async (all) => void (await expectSameCounts(memoryStorage(), all))),
      { numRuns: numRuns(60), ...SEED },
    )
  })

  it('over SQLite', { timeout: 300_000 }, async () => {
    let files = 0
    await fc.assert(
      fc.asyncProperty(ward, async (all) => {
        const { storage, close } = await openSqlite(join(folder, `${++files}.db`))
        try {
          await expectSameCounts(storage, all)
        } finally {
          await close()
        }
      }),
      { numRuns: numRuns(20), ...SEED },
    )
  })

  it('over PostgreSQL', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(ward, async (all) => {
        const schema = await database.schema()
        const { storage, close } = await openPostgres(schema.pool())
        try {
          await expectSameCounts(storage, all)
        } finally {
          await close()
          await schema.drop()
        }
      }),
      { numRuns: numRuns(10), ...SEED },
    )
  })
})
