import { createContext } from 'fhir-ops/context'
import { searchParameters } from 'fhir-ops/search'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { basic, byCode } from '../../../core/test/basics.js'
import { fhirHeaders, send, startServer } from '../../../handler/test/running-server.js'
import { noting } from '../../test/sent-statements.js'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { openPostgres, type PostgresDatabase } from '../index.js'

const database = await sharedDatabase()

const KINDS = ['pg_advisory_xact_lock', 'pg_advisory_xact_lock_shared']
const REFUSING = `LANGUAGE plpgsql AS 'BEGIN RAISE feature_not_supported; END'`
const DOING_NOTHING = `LANGUAGE sql AS ''`

describe.skipIf(database.url === undefined).each([
  ['refuses its functions', REFUSING],
  ['accepts its functions, which lock nothing', DOING_NOTHING],
])('an engine without advisory locks, which %s (needs a PostgreSQL server)', (_, body) => {
  let schema: TestSchema
  let db: PostgresDatabase
  const sent = new Set<string>()
  beforeEach(async () => {
    schema = await database.schema()
    const options = String(new URL(schema.url ?? '').searchParams.get('options'))
    const client = new pg.Client({ connectionString: schema.url })
    await client.connect()
    for (const name of KINDS) await client.query(`CREATE FUNCTION ${name}(bigint) RETURNS void ${body}`)
    await client.end()
    // The functions of the schema come before those of the server.
    db = await openPostgres(noting(schema.pool({ options: `${options},pg_catalog` }), sent), UNHURRIED)
    sent.clear()
  })
  afterEach(async () => {
    await db.close()
    await schema.drop()
  })

  it('serves all but writes with conditions, which are refused by name', async () => {
    const { storage } = db
    expect(storage.capabilities.conditionalWrites).toBe(false)
    await storage.write([basic('a', { code: 'a' })])
    const write = storage.write([basic('b'), { ...basic('c'), ifOnlyMatch: byCode('b').where }])
    await expect(write).rejects.toMatchObject({ code: 'not-supported' })
    expect(await storage.count(byCode('a'))).toBe(1)
    expect([...sent].filter((text) => text.includes('advisory'))).toEqual([])
  })

  it('has one resource after conditional creates at one process at the same time', async () => {
    const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
    const running = await startServer({ storage: db.storage, context: createContext({ storage: db.storage, search: { parameters } }) })
    const identifier = [{ system: 'http://example.org/mrn', value: '1' }]
    const create = async (): Promise<number> =>
      (
        await send(`${running.base}/fhir/R4/Patient`, {
          method: 'POST',
          headers: { ...fhirHeaders(running.token), 'if-none-exist': 'identifier=http://example.org/mrn|1' },
          body: JSON.stringify({ resourceType: 'Patient', identifier }),
        })
      ).status
    const statuses = await Promise.all(Array.from({ length: 12 }, create))
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array<number>(11).fill(200), 201])
    expect(await db.storage.count({ type: 'Patient', where: { kind: 'and', conditions: [] } })).toBe(1)
    await running.stop()
  })
})
