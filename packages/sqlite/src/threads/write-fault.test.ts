import { DatabaseSync } from 'node:sqlite'
import { OperationError } from 'fhir-ops/errors'
import type { Storage } from 'fhir-ops/storage'
import { describe, expect, it } from 'vitest'
import { basic, byCode } from '../../../core/test/basics.js'
import { packedEntry } from '../commands/write-entries.js'
import { sqliteDriver, type SqliteDriver } from '../database/driver.js'
import { migrate } from '../database/migrations.js'
import { sqliteStorage, type SqliteConnection, type SqliteStatement } from '../index.js'
import { runGroup, type Call } from './write-group.js'

interface Fault {
  /** Calls of the driver until one fails; that one is never carried out. */
  callsLeft: number
  readonly error: object
}

/** A connection whose n-th call fails. */
function faulty(db: DatabaseSync, fault: Fault): SqliteConnection {
  const guarded = <T>(work: () => T): T => {
    if (fault.callsLeft-- === 0) throw Object.assign(new Error('injected'), fault.error)
    return work()
  }
  return {
    exec: (sql) => guarded(() => db.exec(sql)),
    prepare(sql): SqliteStatement {
      const statement = guarded(() => db.prepare(sql))
      return { run: (...values) => guarded(() => statement.run(...values)), all: (...values) => guarded(() => statement.all(...values)) }
    },
    function: (name, implementation) => db.function(name, implementation),
    close: () => db.close(),
    get isTransaction() {
      return db.isTransaction
    },
  }
}

const IO_ERROR = { code: 'ERR_SQLITE_ERROR', errcode: 10 }
const FULL = { code: 'ERR_SQLITE_ERROR', errcode: 13 }

/** What callers can see: versions and what searches find. */
async function seen(storage: Storage): Promise<unknown> {
  const ids = ['kept', 'changed', 'gone', 'new']
  const versions = await Promise.all(ids.map(async (id) => (await storage.read('Basic', id))?.versionId))
  const found = await Promise.all(['a', 'b'].map(async (code) => (await storage.search(byCode(code))).items.map((item) => item.id)))
  return { versions, found, count: await storage.count(byCode('a')) }
}

async function filled(): Promise<DatabaseSync> {
  const db = new DatabaseSync(':memory:')
  await sqliteStorage(db).write([basic('kept'), basic('changed'), basic('gone')])
  return db
}

const CHANGES = [basic('changed', { code: 'b' }), basic('new', { code: 'b' }), { op: 'delete', type: 'Basic', id: 'gone' }] as const

describe('whatever call of the driver fails', () => {
  it('a write is done as a whole or not at all, and the next one works', async () => {
    const whole = await filled()
    const before = await seen(sqliteStorage(whole))
    await sqliteStorage(whole).write(CHANGES)
    const after = await seen(sqliteStorage(whole))
    let faults = 0
    for (let n = 0, failed = true; failed; n++) {
      const db = await filled()
      const fault = { callsLeft: Infinity, error: IO_ERROR }
      const storage = sqliteStorage(faulty(db, fault))
      fault.callsLeft = n
      failed = await storage.write(CHANGES).then(
        () => false,
        (error: unknown) => error instanceof OperationError && error.code === 'storage-unavailable',
      )
      fault.callsLeft = Infinity
      if (failed) faults++
      expect(await seen(storage), `call ${n}`).toEqual(failed ? before : after)
      if (failed) await storage.write(CHANGES)
      expect(await seen(storage), `call ${n}, again`).toEqual(after)
    }
    expect(faults).toBeGreaterThan(10)
  })

  it('reads fail with a code and work again', async () => {
    const db = await filled()
    const expected = await seen(sqliteStorage(db))
    for (let n = 0, failed = true; failed; n++) {
      const fault = { callsLeft: Infinity, error: IO_ERROR }
      const storage = sqliteStorage(faulty(db, fault))
      fault.callsLeft = n
      failed = await seen(storage).then(
        () => false,
        (error: unknown) => error instanceof OperationError && error.code === 'storage-unavailable',
      )
      fault.callsLeft = Infinity
      expect(await seen(storage), `call ${n}`).toEqual(expected)
    }
  })
})

describe('a group of writes', () => {
  const calls: readonly Call[] = [1, 2, 3].map((id) => ({
    id,
    command: 'write',
    args: { entries: [packedEntry(basic(`n${id}`))], now: id, history: true },
  }))

  function group(error: object): { readonly db: DatabaseSync; readonly driver: SqliteDriver; readonly fault: Fault } {
    const db = new DatabaseSync(':memory:')
    const fault = { callsLeft: Infinity, error }
    const driver = sqliteDriver(faulty(db, fault))
    migrate(driver)
    return { db, driver, fault }
  }

  it('whatever call fails, every answer tells what is there', () => {
    for (let n = 0, faults = 1; faults > 0; n++) {
      const { db, driver, fault } = group(FULL)
      fault.callsLeft = n
      const answers = runGroup(driver, calls)
      faults = Number(fault.callsLeft < 0)
      fault.callsLeft = Infinity
      const told = answers.flatMap((answer) => ('code' in answer ? [] : [`n${answer.id}`]))
      const there = db
        .prepare('SELECT id FROM resource ORDER BY id')
        .all()
        .map(({ id }) => id)
      expect(told, `call ${n}`).toEqual(there)
      expect(answers.map(({ id }) => id)).toEqual([1, 2, 3])
      expect(db.isTransaction).toBe(false)
    }
  })

  it('is not tried again when its commit fails', () => {
    const { db, driver, fault } = group(IO_ERROR)
    const failing: SqliteDriver = {
      ...driver,
      exec(sql) {
        if (sql === 'COMMIT') fault.callsLeft = 0
        driver.exec(sql)
      },
    }
    expect(runGroup(failing, calls).map((answer) => 'code' in answer && answer.code)).toEqual(Array(3).fill('storage-unavailable'))
    expect(db.prepare('SELECT count(*) AS n FROM resource').get()).toEqual({ n: 0 })
  })
})
