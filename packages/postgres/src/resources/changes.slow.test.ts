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
