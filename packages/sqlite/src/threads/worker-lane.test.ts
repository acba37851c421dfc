import { mkdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { openToWrite } from '../database/node-file.js'
import { migrate } from '../database/migrations.js'
import { countMatches } from '../search/search-page.js'
import { workerLane } from './worker-lane.js'

it('a thread that dies fails its calls, and the next call gets another thread', async () => {
  const folder = await temporaryFolder()
  const task = { file: folder.file('later/data.db'), busyTimeoutMs: 100, synchronous: 'FULL', role: 'reader' } as const
  const lane = workerLane(task)
  const count = async (): Promise<number> => lane.call(countMatches, { type: 'Basic', where: { kind: 'and', conditions: [] } })
  const calls = await Promise.allSettled([count(), count()])
  expect(calls.map((call) => call.status === 'rejected' && call.reason.code)).toEqual(['storage-unavailable', 'storage-unavailable'])
  await mkdir(folder.file('later'))
  const db = openToWrite(task)
  migrate(db)
  expect(await count()).toBe(0)
  await lane.close()
  db.close()
  await folder.remove()
})
