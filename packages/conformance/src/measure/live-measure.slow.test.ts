import { openPostgres } from '@fhir-ops/postgres'
import { openSqlite } from '@fhir-ops/sqlite'
import fc from 'fast-check'
import { memoryStorage } from 'fhir-ops/memory'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { contextOver, expectAgreement, numRuns, rounds, SEED } from '../../../cql/test/ward.fixture.js'
import { testDatabase, type TestDatabase } from '../../../postgres/test/test-database.js'

describe('a live measure counts what a new evaluation does, after whatever was written', () => {
  let folder = ''
  let database: TestDatabase
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fhir-ops-live-'))
    database = await testDatabase()
  })
  afterAll(async () => {
    await rm(folder, { recursive: true })
    await database.remove()
  })

  it('over memory', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(rounds, (all) => expectAgreement(contextOver(memoryStorage()), all)),
      { numRuns: numRuns(10), ...SEED },
    )
  })

  it('over SQLite', { timeout: 300_000 }, async () => {
    let files = 0
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const { storage, close } = await openSqlite(join(folder, `${++files}.db`))
        try {
          await expectAgreement(contextOver(storage), all)
        } finally {
          await close()
        }
      }),
      { numRuns: numRuns(5), ...SEED },
    )
  })

  it('over PostgreSQL', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const schema = await database.schema()
        const { storage, close } = await openPostgres(schema.pool())
        try {
          await expectAgreement(contextOver(storage), all)
        } finally {
          await close()
          await schema.drop()
        }
      }),
      { numRuns: numRuns(3), ...SEED },
    )
  })
})
