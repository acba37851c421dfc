import { afterEach, expect, test, vi } from 'vitest'
import { createExecutor } from './executor.js'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('the first job of a clock that has just started has its time limit, too', async () => {
  vi.useFakeTimers()
  const start = Date.now()
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now() - start)
  const executor = createExecutor({ concurrency: 1, queue: 1, closeMs: 1 })
  const ended = vi.fn()
  void Promise.resolve(executor.run({ timeoutMs: 100, run: () => new Promise(() => {}) })).catch(ended)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ended).toHaveBeenCalledWith(expect.objectContaining({ code: 'storage-timeout' }))
})
