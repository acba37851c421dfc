import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { basic } from '../../../core/test/basics.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { packedEntry, writeEntries } from '../commands/write-entries.js'
import { openToRead, openToWrite } from '../database/node-file.js'
import { migrate } from '../database/migrations.js'
import { countMatches } from '../search/search-page.js'
import { workerLane } from './lanes.js'

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

it('a thread without calls ends after a while, and calls that come meanwhile are carried out in their order', async () => {
  const folder = await temporaryFolder()
  const task = { file: folder.file('data.db'), busyTimeoutMs: 0, synchronous: 'FULL', role: 'writer' } as const
  const db = openToWrite(task)
  migrate(db)
  db.close()
  // As in the calling thread: a connection that only reads, and leaves the log as it is when it is closed last.
  const points = openToRead(task)
  expect(countMatches.run(points, { type: 'Basic', where: { kind: 'and', conditions: [] } })).toBe(0)
  const started: Worker[] = []
  const note = (worker: Worker): void => void started.push(worker)
  process.on('worker', note)
  const lane = workerLane(task, { idleMs: 50 })
  const write = async (n: number): Promise<string | undefined> => {
    const written = await lane.call(writeEntries, { entries: [packedEntry(basic('one'))], now: n, history: true })
    return written[0]?.versionId
  }
  expect(await write(1)).toBe('1')
  for (let n = 1; n <= 4; n += 3) {
    const [last] = started.slice(-1)
    if (last !== undefined) await once(last, 'exit')
    expect(await Promise.all([write(n + 1), write(n + 2), write(n + 3)])).toEqual([n + 1, n + 2, n + 3].map(String))
  }
  expect(started).toHaveLength(3)
  // Asked for while the thread is about to end, or has just been told to.
  for (let n = 8; n < 16; n++) {
    await new Promise((resolve) => setTimeout(resolve, 48 + (n % 8)))
    expect(await write(n)).toBe(String(n))
  }
  const [last] = started.slice(-1)
  if (last !== undefined) await once(last, 'exit')
  process.off('worker', note)
  points.close()
  expect(existsSync(folder.file('data.db-wal'))).toBe(true)
  await lane.close()
  // The log is moved into the file, whether there is a thread or not.
  expect(existsSync(folder.file('data.db-wal'))).toBe(false)
  await folder.remove()
})
