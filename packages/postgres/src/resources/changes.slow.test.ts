import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { basic } from '../../../core/test/basics.js'
import { failoverPair } from '../../test/failover-pair.js'
import { testServer, type TestServer } from '../../test/test-server.js'
import { openPostgres } from '../index.js'

it.each([
  ['a server that was killed and started again', () => testServer()],
  ['a standby that took over', failoverPair],
])('changes since a mark are not known to %s, and from then on again (needs PostgreSQL servers)', async (_, start) => {
  const server: TestServer | undefined = await start()
  if (server === undefined) return
  onTestFinished(() => server.remove())
  const { storage, close } = await openPostgres(new pg.Pool({ connectionString: server.url }))
  await storage.write([basic('one')])
  const before = await storage.changes?.()
  expect(await storage.changes?.(before?.mark)).toEqual({ mark: before?.mark, changed: [] })
  await server.stop('kill')
  await server.start()
  const after = await storage.changes?.(before?.mark)
  expect(after?.changed).toBe('unknown')
  await storage.write([basic('two')])
  expect((await storage.changes?.(after?.mark))?.changed).toEqual([{ type: 'Basic', id: 'two' }])
  await close()
})

it('changes since a mark are not known after a recovery within one run of the server, which gives numbers of lost transactions again (needs a PostgreSQL server)', async () => {
  const server = await testServer()
  if (server === undefined) return
  onTestFinished(() => server.remove())
  const pool = new pg.Pool({ connectionString: server.url })
  const { storage, close } = await openPostgres(pool)
  const run = async (): Promise<{ readonly started: string; readonly hasRecovered: boolean } | undefined> =>
    (await pool.query('SELECT pg_postmaster_start_time()::text AS started, pg_last_wal_replay_lsn() IS NOT NULL AS "hasRecovered"')).rows[0]
  const before = await run()
  await storage.write([basic('one')])
  const marked = await storage.changes?.()
  await killOneProcess(server.url)
  // The server may still answer until it has ended its other processes.
  await expect.poll(async () => run().catch(() => undefined), { timeout: 60_000 }).toEqual({ ...before, hasRecovered: true })
  const after = await storage.changes?.(marked?.mark)
  expect(after?.changed).toBe('unknown')
  expect(await storage.changes?.(after?.mark)).toEqual({ mark: after?.mark, changed: [] })
  await close()
})

/** Kills one process of a server, which then ends all others and recovers. */
async function killOneProcess(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const ended = new Promise((resolve) => void client.once('end', resolve))
  process.kill(rows[0]?.pid ?? 0, 'SIGKILL')
  await ended
}
