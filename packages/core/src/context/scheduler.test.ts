import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { OperationError } from '../errors/index.js'
import type { Work } from '../work/index.js'
import { createPace, createScheduler, type Scheduler } from './index.js'

/** Time passes only where a test says so, and timers run when it waits. */
let now = 0
beforeEach(() => {
  now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => void vi.restoreAllMocks())

interface Outcome {
  readonly name: string
  readonly endedAt: number
  readonly error?: string
  readonly retryAfter?: number | undefined
}

/** An operation that uses so many milliseconds, each a step. */
async function operation(scheduler: Scheduler, { name = '', ms, limit }: { name?: string; ms: number; limit?: number }): Promise<Outcome> {
  const pace = createPace({ scheduler, ...(limit !== undefined && { deadline: now + limit }) })
  try {
    for (let used = 0; used < ms; used++) {
      now += 1
      const wait = pace.step()
      if (wait !== undefined) await wait
    }
    return { name, endedAt: now }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    return { name, endedAt: now, error: error.code, retryAfter: error.detail.retryAfterSeconds }
  }
}

/** The longest time that went by between two moments in which other work could run. */
async function longestGap(work: Promise<unknown>): Promise<number> {
  let running = true
  let longest = 0
  const others = (async () => {
    let last = now
    while (running) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      longest = Math.max(longest, now - last)
      last = now
    }
  })()
  await work
  running = false
  await others
  return longest
}

test('long steps let other work run from the first on, also where short ones came before', async () => {
  function* steps(count: number, ms: number): Work<void> {
    for (let step = 0; step < count; step++) {
      now += ms
      yield
    }
  }
  const pace = createPace({ scheduler: createScheduler() })
  await pace.run(steps(1_000, 0))
  const soon = Promise.resolve().then(() => pace.run(steps(20, 5)))
  expect(await longestGap(soon)).toBeLessThan(20)
})

describe('operations that arrive together', () => {
  test('leave room for other work before they have had a turn, too', async () => {
    const scheduler = createScheduler()
    const sixty = Promise.all(Array.from({ length: 60 }, () => operation(scheduler, { ms: 40 })))
    // Each begins with a step before anybody looks at the time.
    expect(await longestGap(sixty)).toBeLessThan(60 + 30)
  })

  test('that are short end without waiting for the long ones', async () => {
    const scheduler = createScheduler()
    const long = Promise.all(Array.from({ length: 20 }, () => operation(scheduler, { ms: 150 })))
    while (now < 100) await new Promise((resolve) => setTimeout(resolve, 0))
    const before = now
    const short = await operation(scheduler, { ms: 1 })
    expect(short.endedAt - before).toBeLessThan(20)
    await long
  })

  test('that need a few turns get them while long ones wait', async () => {
    const scheduler = createScheduler()
    const long = Promise.all(Array.from({ length: 4 }, () => operation(scheduler, { ms: 500 })))
    while (now < 600) await new Promise((resolve) => setTimeout(resolve, 0))
    const before = now
    const middle = await operation(scheduler, { ms: 24 })
    expect(middle.endedAt - before).toBeLessThan(300)
    await long
  })

  test('end in the order in which they began', async () => {
    const scheduler = createScheduler()
    const outcomes: string[] = []
    await Promise.all(['a', 'b', 'c'].map(async (name) => outcomes.push((await operation(scheduler, { name, ms: 500 })).name)))
    expect(outcomes).toEqual(['a', 'b', 'c'])
  })

  test('and are too many are refused before they begin, so that as many end as would one after the other', async () => {
    const scheduler = createScheduler()
    const limit = 5_000
    const outcomes = await Promise.all(Array.from({ length: 300 }, () => operation(scheduler, { ms: 400, limit })))
    const ended = outcomes.filter(({ error }) => error === undefined)
    const refused = outcomes.filter(({ error }) => error === 'throttled')
    expect(ended.length).toBeGreaterThanOrEqual(limit / 450 - 2)
    expect(ended.length + refused.length).toBeGreaterThanOrEqual(295)
    expect(refused.every(({ retryAfter = 0 }) => retryAfter >= 1)).toBe(true)
    // Most of them within a second.
    expect(refused.filter(({ endedAt }) => endedAt < 1_000).length).toBeGreaterThan(200)
  })

  test('are never refused when their work has no time limit of its own', async () => {
    const scheduler = createScheduler()
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => operation(scheduler, { ms: 120 })))
    expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([])
  })

  test('are not refused because of long ones of a time ago', async () => {
    const scheduler = createScheduler()
    await Promise.all(Array.from({ length: 3 }, () => operation(scheduler, { ms: 1_500 })))
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => operation(scheduler, { ms: 100, limit: 5_000 })))
    expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([])
  })
})

test('an operation that is alone runs for a whole stretch, then lets others run', async () => {
  const scheduler = createScheduler()
  let turns = 0
  await operation({ ...scheduler, turn: async () => void turns++ }, { ms: 8 })
  expect(turns).toBe(0)
  await operation({ ...scheduler, turn: async () => void turns++ }, { ms: 90 })
  expect(turns).toBe(10)
})

test('steps that take no time are counted, and nothing else is done', () => {
  const pace = createPace({ scheduler: createScheduler() })
  const looks = vi.mocked(performance.now).mock.calls.length
  for (let i = 0; i < 1_600; i++) expect(pace.step()).toBeUndefined()
  expect(vi.mocked(performance.now).mock.calls.length - looks).toBeLessThan(110)
})

test('operations take turns where a test controls the timers, too: only the clock is theirs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate'] })
  try {
    expect(await operation(createScheduler(), { name: 'long', ms: 100 })).toEqual({ name: 'long', endedAt: 100 })
  } finally {
    vi.useRealTimers()
  }
})
