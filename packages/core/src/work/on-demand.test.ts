import { expect, it } from 'vitest'
import { onDemand } from './index.js'

it('loads once, by the first call, and again where loading failed', async () => {
  let loads = 0
  const load = async (): Promise<string> => {
    loads++
    if (loads === 1) throw new Error('away')
    return 'loaded'
  }
  const loaded = onDemand(load)
  expect(loads).toBe(0)
  await expect(loaded()).rejects.toThrow('away')
  expect(await Promise.all([loaded(), loaded()])).toEqual(['loaded', 'loaded'])
  expect(loads).toBe(2)
})
