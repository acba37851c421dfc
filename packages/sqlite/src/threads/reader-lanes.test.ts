import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, it, onTestFinished } from 'vitest'
import { basic, byCode } from '../../../core/test/basics.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { packedEntry, writeEntries } from '../commands/write-entries.js'
import { transaction } from '../database/driver.js'
import { migrate } from '../database/migrations.js'
import { openToWrite } from '../database/node-file.js'
import { scanPage } from '../search/scan.js'
import { countMatches } from '../search/search-page.js'
import { readerLanes } from './lanes.js'

/** A file with one resource. */
async function aFile() {
  const folder = await temporaryFolder()
  const task = { file: folder.file('data.db'), busyTimeoutMs: 100, synchronous: 'FULL' } as const
  const db = openToWrite(task)
  migrate(db)
  transaction(db, () => writeEntries.run(db, { entries: [packedEntry(basic('one'))], now: 0, history: false }))
  db.close()
  onTestFinished(async () => folder.remove())
  return task
}

it('what takes longer than the thread for quick searches gives it is done by the other, unless its time is up', async () => {
  const task = await aFile()
  const searching = readerLanes(task, { quickMs: 0, timeoutMs: 600_000 })
  const late = readerLanes(task, { timeoutMs: 0 })
  expect(await searching.call(countMatches, byCode('a'))).toBe(1)
  await expect(late.call(countMatches, byCode('a'))).rejects.toMatchObject({ code: 'storage-timeout' })
  await searching.close()
  await late.close()
})

it('the pages of scans are read by a thread of their own, which keeps what they share, and not by the one for quick searches first', async () => {
  const task = await aFile()
  const reading = readerLanes(task, { quickMs: 0, timeoutMs: 600_000 })
  const late = readerLanes(task, { timeoutMs: 0 })
  let threads = 0
  const count = (): void => void threads++
  subscribe('worker_threads', count)
  onTestFinished(() => void unsubscribe('worker_threads', count))
  const { items } = await reading.call(scanPage, byCode('a'))
  expect([items.length, threads]).toEqual([1, 1])
  await reading.call(countMatches, byCode('a'))
  expect(threads).toBe(3)
  await expect(late.call(scanPage, byCode('a'))).rejects.toMatchObject({ code: 'storage-timeout' })
  await reading.close()
  await late.close()
})
