import { join } from 'node:path'
import { openPostgres } from '@fhir-ops/postgres'
import { openSqlite } from '@fhir-ops/sqlite'
import { afterAll, beforeAll, it } from 'vitest'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite } from '../../../../test/suites.js'
import { testDatabase, UNHURRIED, type TestDatabase } from '../../../postgres/test/test-database.js'
import { measureSuite } from './measure-suite.js'

describeSuite('measure-tests', 'measure-tests, suite x-fhir-query, in a database', () => {
  let database: TestDatabase | undefined
  beforeAll(async () => {
    database = await testDatabase({ fsync: 'off' })
  })
  afterAll(() => database?.remove())

  it('passes as listed over SQLite', async () => {
    comparePassing('measure-x-fhir-query', await measureSuite(async (folder) => (await openSqlite(join(folder, 'fhir.db'))).storage))
  })

  it('passes as listed over PostgreSQL', async () => {
    const open = async () => (await openPostgres((await database!.schema()).pool(), UNHURRIED)).storage
    comparePassing('measure-x-fhir-query', await measureSuite(open))
  })
})
