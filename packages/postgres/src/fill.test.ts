import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { basic, byCode } from '../../core/test/basics.js'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../test/test-database.js'
import { openPostgres, openPostgresToFill } from './index.js'

const database = await sharedDatabase()

const BY_CODE = byCode('a')

describe.skipIf(database.url === undefined)('a database that is filled (needs a PostgreSQL server)', () => {
  let schema: TestSchema
  beforeEach(async () => {
    schema = await database.schema()
    return schema.drop
  })
  const indexes = async (of = schema): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString: of.url })
    await client.connect()
    const definition = "replace(indexdef, current_schema() || '.', '')"
    const { rows } = await client.query(`SELECT ${definition} AS index FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`)
    await client.end()
    return rows
  }

  it('gets its indexes when it is closed, those of any other', async () => {
    const other = await database.schema()
    await (await openPostgres(other.pool(), UNHURRIED)).close()
    const expected = await indexes(other)
    await other.drop()
    const { storage, close } = await openPostgresToFill(schema.pool(), UNHURRIED)
    expect((await indexes()).length).toBe(expected.length - 6)
    await storage.write([basic('one'), basic('two')])
    expect(await storage.count(BY_CODE)).toBe(2)
    await Promise.all([close(), storage.close()])
    expect(await indexes()).toEqual(expected)
    await expect(storage.read('Basic', 'one')).rejects.toMatchObject({ code: 'storage-unavailable' })
  })

  it('gets them from whoever opens it next, where it was not closed or goes on', async () => {
    const filling = await openPostgresToFill(schema.pool(), UNHURRIED)
    await filling.storage.write([basic('one')])
    const lacking = await indexes()
    const next = await openPostgres(schema.pool(), UNHURRIED)
    expect((await indexes()).length).toBe(lacking.length + 6)
    await filling.storage.write([basic('two')])
    expect(await next.storage.count(BY_CODE)).toBe(2)
    await filling.close()
    expect((await next.storage.search(BY_CODE)).items.map(({ id }) => id)).toEqual(['one', 'two'])
    await next.close()
  })

  it('gets them from a load that goes on where another was cut short, when that is closed', async () => {
    const cutShort = await openPostgresToFill(schema.pool(), UNHURRIED)
    await cutShort.storage.write([basic('one')])
    const lacking = await indexes()
    const { storage, close } = await openPostgresToFill(schema.pool(), UNHURRIED)
    expect(await indexes()).toEqual(lacking)
    await storage.write([basic('two')])
    await close()
    expect((await indexes()).length).toBe(lacking.length + 6)
    await cutShort.close()
  })

  it.each([
    ['has', []],
    ['had', [{ op: 'delete', type: 'Basic', id: 'zero' }]],
  ] as const)('keeps its indexes where it %s resources', async (_, change) => {
    const { storage, close } = await openPostgres(schema.pool(), UNHURRIED)
    await storage.write([basic('zero'), ...change])
    await close()
    const before = await indexes()
    const filling = await openPostgresToFill(schema.pool(), UNHURRIED)
    expect(await indexes()).toEqual(before)
    await filling.close()
  })
})
