import { describe, expect, it } from 'vitest'
import { createKeyedLock, createLimiter } from './index.js'

describe('a limiter', () => {
  const bounds = { concurrency: 2, queue: 1, refusal: 'Too many.' }

  it('runs so many at once, keeps so many waiting and refuses the rest', async () => {
    const limiter = createLimiter(bounds)
    const gate = Promise.withResolvers<void>()
    const seen: string[] = []
    const work = (name: string) => async (): Promise<void> => {
      seen.push(name)
      await gate.promise
    }
    const accepted = ['a', 'b', 'c'].map((name) => limiter.run(work(name)))
    await expect(limiter.run(work('d'))).rejects.toMatchObject({
      code: 'throttled',
      message: 'Too many.',
      detail: { retryAfterSeconds: 1 },
    })
    expect(seen).toEqual(['a', 'b'])
    gate.resolve()
    await Promise.all(accepted)
    await limiter.idle()
    expect(seen).toEqual(['a', 'b', 'c'])
  })

  it('gives the room of work that failed to the next', async () => {
    const limiter = createLimiter({ ...bounds, concurrency: 1 })
    const failed = limiter.run(() => Promise.reject(new Error('no')))
    const next = limiter.run(async () => 'yes')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('yes')
  })

  it('does not begin what was cancelled, and refuses what waits too long', async () => {
    const limiter = createLimiter({ ...bounds, concurrency: 1, queue: 2, waitMs: 1 })
    const gate = Promise.withResolvers<void>()
    const running = limiter.run(() => gate.promise)
    const gone = new AbortController()
    let begun = 0
    const cancelled = limiter.run(async () => void begun++, { signal: gone.signal })
    gone.abort()
    await expect(cancelled).rejects.toMatchObject({ code: 'aborted' })
    await expect(limiter.run(async () => void begun++)).rejects.toMatchObject({ code: 'throttled' })
    gate.resolve()
    await running
    expect(begun).toBe(0)
  })
})

describe('tasks of different weights', () => {
  const entered = (wait: Promise<void> | undefined, name: string, seen: string[]): void => {
    if (wait === undefined) seen.push(name)
    else
      void wait.then(
        () => seen.push(name),
        ({ code }: { code: string }) => seen.push(`${name} ${code}`),
      )
  }

  it('run together up to the total; who waits goes first, also before lighter ones', async () => {
    const limiter = createLimiter({ concurrency: 10, queue: 9, refusal: 'Too many.' })
    const seen: string[] = []
    entered(limiter.enter(undefined, 6), 'a', seen)
    entered(limiter.enter(undefined, 4), 'b', seen)
    entered(limiter.enter(undefined, 5), 'c', seen)
    entered(limiter.enter(undefined, 1), 'd', seen)
    expect(seen).toEqual(['a', 'b'])
    limiter.leave(4)
    await Promise.resolve()
    expect(seen).toEqual(['a', 'b'])
    limiter.leave(6)
    await expect.poll(() => seen).toEqual(['a', 'b', 'c', 'd'])
    limiter.leave(5)
    limiter.leave(1)
    await limiter.idle()
  })

  it('let others pass when they stop waiting', async () => {
    const limiter = createLimiter({ concurrency: 10, queue: 9, refusal: 'Too many.' })
    const seen: string[] = []
    const gone = new AbortController()
    entered(limiter.enter(undefined, 6), 'a', seen)
    entered(limiter.enter({ signal: gone.signal }, 8), 'b', seen)
    entered(limiter.enter(undefined, 4), 'c', seen)
    gone.abort()
    await expect.poll(() => seen.toSorted()).toEqual(['a', 'b aborted', 'c'])
  })
})

describe('a lock per key', () => {
  it('lets works that share a key run one after the other, in order, and others meanwhile', async () => {
    const lock = createKeyedLock()
    const seen: string[] = []
    const gate = Promise.withResolvers<void>()
    const first = lock(['a', 'b'], async () => {
      await gate.promise
      seen.push('first')
    })
    const second = lock(['b'], async () => void seen.push('second'))
    const third = lock(['c', 'b'], async () => void seen.push('third'))
    await lock(['x'], async () => void seen.push('other'))
    await lock([], async () => void seen.push('none'))
    gate.resolve()
    await Promise.all([first, second, third])
    expect(seen).toEqual(['other', 'none', 'first', 'second', 'third'])
  })

  it('goes on after work that failed, which is reported to its own caller', async () => {
    const lock = createKeyedLock()
    const failed = lock(['a'], () => Promise.reject(new Error('no')))
    const next = lock(['a'], async () => 'yes')
    await expect(failed).rejects.toThrow('no')
    expect(await next).toBe('yes')
  })
})
