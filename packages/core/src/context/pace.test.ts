import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { beginUse, checkpoint, createPace, createScheduler, type Pace } from './pace.js'

const LIMIT_MS = 5_000

describe('an operation whose time limit passes', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  function begun() {
    const request = { scheduler: createScheduler(), threadUse: beginUse(), deadline: performance.now() + LIMIT_MS }
    return { request, pace: createPace(request) }
  }

  function compute(pace: Pace, ms: number): void {
    for (let n = 0; n < ms; n++) {
      vi.advanceTimersByTime(1)
      pace.check()
    }
  }

  it('while it computes is refused for what it asks', () => {
    const { pace } = begun()
    expect(() => compute(pace, LIMIT_MS + 1)).toThrow(expect.objectContaining({ code: 'computation-timeout' }))
  })

  it('while it waits for the storage is to be tried again, whatever continues it afterwards', () => {
    const { request, pace } = begun()
    compute(pace, 10)
    vi.advanceTimersByTime(LIMIT_MS)
    const late = expect.objectContaining({ code: 'storage-timeout' })
    expect(() => pace.check()).toThrow(late)
    expect(() => createPace(request).step()).toThrow(late)
    expect(() => checkpoint(request)).toThrow(late)
  })

  it('after it waited for the storage is refused for what it asks', () => {
    const { request, pace } = begun()
    vi.advanceTimersByTime(LIMIT_MS - 200)
    checkpoint(request)
    expect(() => compute(pace, 201)).toThrow(expect.objectContaining({ code: 'computation-timeout' }))
  })

  it('while it waits for its turn is refused for what it asks', async () => {
    const { pace } = begun()
    const turn = pace.turn()
    vi.advanceTimersByTime(LIMIT_MS + 1)
    await expect(turn).rejects.toMatchObject({ code: 'computation-timeout' })
  })
})
