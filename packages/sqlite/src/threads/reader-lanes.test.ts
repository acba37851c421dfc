import { expect, it } from 'vitest'
import { basic, byCode } from '../../../core/test/basics.js'
import { temporaryFolder } from '../../test/temporary-folder.js'
import { packedEntry, writeEntries } from '../commands/write-entries.js'
import { transaction } from '../database/driver.js'
import { migrate } from '../database/migrations.js'
import { openToWrite } from '../database/node-file.js'
import { countMatches } from '../search/search-page.js'
import { readerLanes } from './reader-lanes.js'

it('what takes longer than the thread for quick searches gives it is done by the other, unless its time is up', async () => {
  const folder = await temporaryFolder()
  const task = { file: folder.file('data.db'), busyTimeoutMs: 100, synchronous: 'FULL' } as const
  const db = openToWrite(task)
  migrate(db)
  transaction(db, () => writeEntries.run(db, { entries: [packedEntry(basic('one'))], now: 0, history: false }))
  const searching = readerLanes(task, { quickMs: 0, timeoutMs: 600_000 })
  const late = readerLanes(task, { timeoutMs: 0 })
  expect(await searching.call(countMatches, byCode('a'))).toBe(1)
  await expect(late.call(countMatches, byCode('a'))).rejects.toMatchObject({ code: 'storage-timeout' })
  await searching.close()
  await late.close()
  db.close()
  await folder.remove()
})
