import fc from 'fast-check'
import { containedType, type Storage, type WriteEntry } from 'fhir-ops/storage'
import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { basic } from '../../../core/test/basics.js'
import { rounds, SEED } from '../../../../test/effort.js'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { openPostgres, type PostgresDatabase } from '../index.js'

const database = await sharedDatabase()

const RUNS = rounds({ quick: 7, all: 20 })

describe.skipIf(database.url === undefined)('changes of what several processes write (needs a PostgreSQL server)', () => {
  let schema: TestSchema
  const opened: PostgresDatabase[] = []
  const clients: pg.Client[] = []
  beforeEach(async () => {
    schema = await database.schema()
    return async () => {
      for (const client of clients.splice(0)) await client.end()
      for (const db of opened.splice(0)) await db.close()
      await schema.drop()
    }
  })
  const open = async (): Promise<Storage> => {
    const db = await openPostgres(schema.pool({ max: 4 }), { ...UNHURRIED, notify: false })
    opened.push(db)
    return db.storage
  }
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: schema.url })
    await client.connect()
    clients.push(client)
    return client
  }

  it('are told of a transaction that ends long after others which began later', async () => {
    const storage = await open()
    await storage.write(['slow', 'fast', 'still'].map((id) => basic(id)))
    const [slow, still] = [await connect(), await connect()]
    await slow.query(`BEGIN; ${updateOf('slow')}`)
    await still.query(`BEGIN; ${updateOf('still')}`)
    await storage.write([basic('fast')])
    const before = await since(storage)
    expect((await since(storage, before.mark)).changed).toEqual([])
    await slow.query('COMMIT')
    const after = await since(storage, before.mark)
    expect(after.changed).toEqual(['slow'])
    await still.query('ROLLBACK')
    expect((await since(storage, after.mark)).changed).toEqual([])
  })

  it('are told of what another program writes into the table, such as a version before, which knows nothing of them', async () => {
    const storage = await open()
    const other = await connect()
    const { mark } = await since(storage)
    await other.query(`INSERT INTO fhir_resource (type, id, version, updated, text) VALUES ('Basic', 'new', 1, 0, '{}')`)
    const next = await since(storage, mark)
    expect(next.changed).toEqual(['new'])
    await other.query(updateOf('new'))
    // As of a table that a subscription of another database fills.
    await other.query(`SET session_replication_role = replica; INSERT INTO fhir_resource (type, id, version, updated, text, changed_in)
      VALUES ('Basic', 'sent', 1, 0, '{}', '1')`)
    const last = await since(storage, next.mark)
    expect(last.changed).toEqual(['new', 'sent'])
    await other.query(`SET session_replication_role = origin; BEGIN; DELETE FROM fhir_resource WHERE id = 'new'`)
    await storage.write([basic('meanwhile')])
    const meanwhile = await since(storage, last.mark)
    await other.query('COMMIT')
    expect((await since(storage, meanwhile.mark)).changed).toEqual(['new'])
  })

  it('are not known after the table was emptied or filled with what was saved', async () => {
    const storage = await open()
    await storage.write([basic('one')])
    const { mark } = await since(storage)
    const other = await connect()
    await other.query('TRUNCATE fhir_resource')
    const emptied = await since(storage, mark)
    expect(emptied.changed).toBe('unknown')
    // Rows of a dump bear the transactions of the server that it is from.
    await other.query(`ALTER TABLE fhir_resource DISABLE TRIGGER ALL; INSERT INTO fhir_resource (type, id, version, updated, text, changed_in)
      VALUES ('Basic', 'saved', 1, 0, '{}', '99999999999'); ALTER TABLE fhir_resource ENABLE ALWAYS TRIGGER fhir_resource_changed`)
    const { mark: filled } = await since(storage)
    await storage.write([basic('two')])
    expect((await since(storage, filled)).changed).toEqual(['two'])
  })

  it('are not known when they are more than some thousand', async () => {
    const storage = await open()
    const { mark } = await since(storage)
    await storage.write(Array.from({ length: 4_000 }, (_, n) => basic(`b${n}`)))
    expect((await since(storage, mark)).changed).toHaveLength(4_000)
    await storage.write([basic('one-more')])
    expect((await since(storage, mark)).changed).toBe('unknown')
  })

  it('leave out what is within others', async () => {
    const storage = await open()
    const { mark } = await since(storage)
    await storage.write([{ ...basic('container'), contained: [{ type: containedType('Basic'), id: 'Basic/container#1', entries: [] }] }])
    expect((await since(storage, mark)).changed).toEqual(['container'])
  })

  it('brings a copy up to date, whoever writes while it is read', async () => {
    const [reading, ...writing] = [await open(), await open(), await open(), await open()]
    const ids = Array.from({ length: 12 }, (_, n) => `b${n}`)
    const batches = fc.array(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...ids), fc.boolean()), { selector: ([id]) => id, minLength: 1, maxLength: 4 }),
      {
        minLength: 3,
        maxLength: 9,
      },
    )
    const copy = new Map<string, string | undefined>()
    let mark: string | undefined
    const bringUpToDate = async (): Promise<void> => {
      const { changed, mark: next } = await since(reading, mark)
      for (const id of changed === 'unknown' ? ids : changed) copy.set(id, (await reading.read('Basic', id))?.versionId)
      mark = next
    }
    await fc.assert(
      fc.asyncProperty(fc.tuple(batches, batches, batches), async (all) => {
        let areDone = false
        const writes = Promise.all(
          all.map(async (own, writer) => {
            for (const batch of own) await writing[writer]?.write(batch.map(([id, isPut]) => entryOf(id, isPut)))
          }),
        ).finally(() => (areDone = true))
        while (!areDone) await bringUpToDate()
        await writes
        await bringUpToDate()
        for (const id of ids) expect(copy.get(id), id).toBe((await reading.read('Basic', id))?.versionId)
      }),
      { numRuns: RUNS, seed: SEED },
    )
  })

  it('are left out over an engine that lacks what they need, which does the rest', async () => {
    const other = await connect()
    const name = `lacking_${Math.random().toString(36).slice(2)}`
    await other.query(`CREATE DATABASE ${name}`)
    const url = new URL(schema.url ?? '')
    url.pathname = name
    url.search = ''
    const lacking = new pg.Client({ connectionString: url.href })
    await lacking.connect()
    await lacking.query('DROP EXTENSION plpgsql')
    await lacking.end()
    for (let time = 1; time <= 2; time++) {
      const { storage, close } = await openPostgres(new pg.Pool({ connectionString: url.href }), UNHURRIED)
      expect(storage.changes).toBeUndefined()
      expect(await storage.write([basic('one')])).toMatchObject([{ versionId: String(time) }])
      await close()
    }
    await other.query(`DROP DATABASE ${name}`)
  })
})

function updateOf(id: string): string {
  return `UPDATE fhir_resource SET version = version + 1 WHERE type = 'Basic' AND id = '${id}'`
}

function entryOf(id: string, isPut: boolean): WriteEntry {
  return isPut ? basic(id) : { op: 'delete', type: 'Basic', id }
}

/** The ids of what was put or deleted since a mark, and the next mark. */
async function since(storage: Storage, from?: string): Promise<{ readonly mark: string; readonly changed: readonly string[] | 'unknown' }> {
  const { mark, changed } = (await storage.changes?.(from)) ?? expect.fail('The storage tells no changes.')
  return { mark, changed: changed === 'unknown' ? changed : [...new Set(changed.map(({ id }) => id))].toSorted() }
}
