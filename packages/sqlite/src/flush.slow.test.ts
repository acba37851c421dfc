import { afterAll, describe, expect, it } from 'vitest'
import { canWatchCalls, flushesBeforeAcknowledgements } from '../test/flushes.js'
import { temporaryFolder } from '../test/temporary-folder.js'

const folder = await temporaryFolder()
afterAll(async () => folder.remove())

describe.skipIf(!canWatchCalls)('acknowledged writes (needs strace)', () => {
  it('are flushed to disk before they are acknowledged, each of them', async () => {
    const flushes = await flushesBeforeAcknowledgements(folder, 'FULL')
    expect(flushes).toHaveLength(20)
    expect(Math.min(...flushes)).toBeGreaterThan(0)
  })

  it('are not, where synchronous is NORMAL', async () => {
    expect(Math.min(...(await flushesBeforeAcknowledgements(folder, 'NORMAL')))).toBe(0)
  })
})
