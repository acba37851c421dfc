import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { rounds } from '../../../test/effort.js'
import { sharedClaims, tellBegun } from '../src/protocol.js'
import { givenRuns, type Given, type GivenRuns, type BotRun } from '../src/given-runs.js'
import { createCrew, createPool, type Pool } from '../src/pool.js'
import { createRunState } from '../src/run-state.js'
import { EVENT, LIMITS, runCode } from './runs.js'

/** Holds the engine in one native call, so that only killing the thread ends it. */
const UNSTOPPABLE = 'export const handler = () => new Array(2 ** 32 - 1).join("x").length'
const codeOf = (run: Promise<unknown>) =>
  run.then(
    () => 'answered',
    (error: { code: string }) => error.code,
  )

describe('when a thread is killed', () => {
  test('that run fails, no other is affected, and another thread takes its place', async () => {
    const sandbox = openBotSandbox({ workers: 2 })
    await Promise.all([runCode(sandbox, 'export const handler = () => 1'), runCode(sandbox, 'export const handler = () => 1')])
    const killed = runCode(sandbox, UNSTOPPABLE, { limits: { timeoutMs: 100 } })
    const other = runCode(sandbox, 'export const handler = async () => { for (let i = 0; i < 1e6; i++); return "other" }')
    expect(await codeOf(killed)).toBe('bot-timeout')
    const both = await Promise.all([runCode(sandbox, 'export const handler = () => 2'), runCode(sandbox, 'export const handler = () => 3')])
    expect(both).toEqual([2, 3])
    expect(await other).toBe('other')
    await sandbox.close()
  })

  const deaths = rounds({ quick: 3, all: 100 })

  test(`${deaths} deaths in a row leave the sandbox right`, async () => {
    const sandbox = openBotSandbox({ workers: 1 })
    for (let death = 0; death < deaths; death++) {
      const caller = new AbortController()
      const dying = `export const handler = async (event, { storage }) => { await storage.read('', ''); return new Array(2 ** 32 - 1).join('x') }`
      const storage = { read: async () => void setTimeout(() => caller.abort()), search: async () => [], write: async () => ({}) }
      expect(await codeOf(runCode(sandbox, dying, { capabilities: { storage }, signal: caller.signal }))).toBe('aborted')
    }
    expect(await runCode(sandbox, 'export const handler = (event) => event.input.a')).toBe(1)
    await sandbox.close()
  })
})

describe('a run that a thread has been given', () => {
  const given = (): { readonly claims: Int32Array; readonly runs: GivenRuns; readonly run: Given } => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const claims = sharedClaims(1)
    const runs = givenRuns(claims, () => {})
    const task = { code: '', event: EVENT, capabilities: {}, limits: { ...LIMITS, timeoutMs: 100 }, log: () => {} }
    const work = { code: '', isOnlyCompiled: false, event: [''], grants: {}, limits: task.limits }
    runs.start()
    return { claims, runs, run: runs.add({ id: 0, task, work, askedAt: 0, end() {}, fail() {} }) }
  }

  test('has its time from when its code begins: not that in which the thread makes its engine', () => {
    const { claims, runs, run } = given()
    vi.advanceTimersByTime(5_000)
    expect(runs.overdue(150)).toBeUndefined()
    tellBegun(claims, run)
    expect(runs.overdue(150)).toBeUndefined()
    vi.advanceTimersByTime(250)
    expect(runs.overdue(150)).toBeUndefined()
    vi.advanceTimersByTime(1)
    expect(runs.overdue(150)).toBe(run)
  })

  test('is given up when its code never begins', () => {
    const { runs, run } = given()
    vi.advanceTimersByTime(10_101)
    expect(runs.overdue(150)).toBe(run)
  })
})

test('a thread without runs ends after a while, and the next run starts another', async () => {
  const started: Worker[] = []
  const note = (worker: Worker): void => void started.push(worker)
  process.on('worker', note)
  const pool = createPool({ usual: 1, most: 1, idleMs: 50 })
  for (let turn = 1; turn <= 3; turn++) {
    expect(await runCode(pool, QUICK)).toMatchObject({ outcome: { value: '1' } })
    expect(started).toHaveLength(turn)
    const [last] = started.slice(-1)
    if (last !== undefined) await once(last, 'exit')
  }
  process.off('worker', note)
  await pool.close()
})

describe('a second thread', () => {
  /** A pool whose clock only the test moves, and the number of threads that it has started. */
  const pooled = (): { readonly pool: Pool; readonly started: () => number } => {
    vi.useFakeTimers({ toFake: ['performance'] })
    let started = 0
    const note = (): void => void started++
    process.on('worker', note)
    const pool = createPool({ usual: 2, most: 2 })
    onTestFinished(async () => {
      process.off('worker', note)
      vi.useRealTimers()
      await pool.close()
    })
    return { pool, started: () => started }
  }

  test('starts for what waits behind a late run', async () => {
    const { pool, started } = pooled()
    await runCode(pool, QUICK)
    const [begun, caller] = [Promise.withResolvers<void>(), new AbortController()]
    const read = async () => {
      begun.resolve()
      return undefined
    }
    const capabilities = { storage: { read, search: async () => [], write: async () => ({}) } }
    const endless = codeOf(runCode(pool, CALLS_AND_LOOPS, { capabilities, signal: caller.signal }))
    const first = runCode(pool, QUICK)
    await begun.promise
    expect(started()).toBe(1)
    vi.advanceTimersByTime(5)
    await Promise.all([first, runCode(pool, QUICK)])
    expect(started()).toBe(2)
    caller.abort()
    await endless
  })

  test('starts when the first has had short runs for half a second without a pause, and not before', async () => {
    const { pool, started } = pooled()
    await runCode(pool, QUICK)
    let ms = 0
    const manyUntil = async (end: number): Promise<void> => {
      while (ms < end) await runCode(pool, QUICK)
    }
    const untilTime = async (end: number): Promise<void> => {
      for (; ms < end; ms++) {
        vi.advanceTimersByTime(1)
        await runCode(pool, QUICK)
      }
    }
    await Promise.all([untilTime(490), manyUntil(490), manyUntil(490)])
    expect(started()).toBe(1)
    await Promise.all([untilTime(1_100), manyUntil(1_100), manyUntil(1_100)])
    expect(started()).toBe(2)
  })
})

test('a thread is given runs in advance, but none with a long event, of which it would have a copy meanwhile', async () => {
  const crew = createCrew({ usual: 1, most: 1 }, { onRoom() {}, onLeft() {} })
  const run = (id: number, length: number): BotRun => {
    const task = { code: 'exports.handler = () => new Promise(() => {})', event: EVENT, capabilities: {}, limits: LIMITS, log: () => {} }
    const work = { code: task.code, isOnlyCompiled: false, event: ['x'.repeat(length)], grants: {}, limits: task.limits }
    return { id, task, work, askedAt: 0, end() {}, fail() {} }
  }
  const runs = [run(0, 1_000_000), run(1, 1_000_000), run(2, 1_000)]
  expect(runs.map((one) => crew.give(one))).toEqual([true, false, true])
  for (const one of runs) crew.abort(one)
  await crew.closeIdle()
})

test('more bots than threads wait for each other', async () => {
  const sandbox = openBotSandbox({ workers: 1 })
  const runs = Array.from({ length: 12 }, (_, n) => runCode(sandbox, `export const handler = () => ${n}`))
  expect(await Promise.all(runs)).toEqual(Array.from({ length: 12 }, (_, n) => n))
  await sandbox.close()
})

const ENDLESS = 'export const handler = () => { for (;;); }'
/** Its call shows that it has begun. */
const CALLS_AND_LOOPS = "export const handler = (event, { storage }) => { storage.read('', ''); for (;;); }"
const QUICK = 'export const handler = (event) => event.input.a'

test('of twelve bots that never end eight run at once, however few cores there are, and when their callers go the threads are free again', async () => {
  const sandbox = openBotSandbox()
  expect(sandbox.concurrency).toBe(8)
  const [met, callers] = [Promise.withResolvers<void>(), new AbortController()]
  let begun = 0
  // Three loop from their start, the others when all are there: eight loops on two cores would keep the last threads from starting for seconds.
  const read = async () => {
    begun += 1
    if (begun === 8) met.resolve()
    if (begun > 3) await met.promise
    return undefined
  }
  const capabilities = { storage: { read, search: async () => [], write: async () => ({}) } }
  const code = "export const handler = async (event, { storage }) => { await storage.read('', ''); for (;;); }"
  const runs = Array.from({ length: 12 }, () => codeOf(runCode(sandbox, code, { capabilities, signal: callers.signal })))
  await met.promise
  await after(100)
  expect(begun).toBe(8)
  callers.abort()
  expect(await Promise.all(runs)).toEqual(Array.from({ length: 12 }, () => 'aborted'))
  expect(await runCode(sandbox, QUICK)).toBe(1)
  await sandbox.close()
})

describe('what a thread was given ahead', () => {
  test('does not wait for a bot that never ends while another thread is free', async () => {
    const sandbox = openBotSandbox({ workers: 2 })
    const caller = new AbortController()
    const endless = codeOf(runCode(sandbox, ENDLESS, { signal: caller.signal }))
    const quick = await Promise.all(Array.from({ length: 40 }, (_, a) => runCode(sandbox, QUICK, { event: { input: { a } } })))
    expect(quick).toEqual(Array.from({ length: 40 }, (_, a) => a))
    caller.abort()
    expect(await endless).toBe('aborted')
    await sandbox.close()
  })

  test('is done by the next thread when that one is killed', async () => {
    const sandbox = openBotSandbox({ workers: 1 })
    // A thread that first starts may take longer than the time limit below.
    await runCode(sandbox, QUICK, { event: { input: { a: 0 } } })
    const killed = codeOf(runCode(sandbox, UNSTOPPABLE, { limits: { timeoutMs: 100 } }))
    const behind = Array.from({ length: 12 }, (_, a) => runCode(sandbox, QUICK, { event: { input: { a } } }))
    expect(await killed).toBe('bot-timeout')
    expect(await Promise.all(behind)).toEqual(Array.from({ length: 12 }, (_, a) => a))
    await sandbox.close()
  })

  test('is not begun when its caller goes, and nothing else ends with it', async () => {
    const sandbox = openBotSandbox({ workers: 1 })
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const log: string[] = []
    const read = async () => {
      begun.resolve()
      await gate.promise
      return undefined
    }
    const capabilities = { storage: { read, search: async () => [], write: async () => ({}) } }
    const waits = 'export const handler = async (event, { storage }) => { await storage.read("", ""); return "waited" }'
    const first = runCode(sandbox, waits, { capabilities })
    const caller = new AbortController()
    const cancelled = codeOf(runCode(sandbox, 'export const handler = (event, { log }) => log("begun")', { signal: caller.signal, log }))
    const last = runCode(sandbox, QUICK)
    await begun.promise
    caller.abort()
    expect(await cancelled).toBe('aborted')
    gate.resolve()
    expect([await first, await last, log]).toEqual(['waited', 1, []])
    await sandbox.close()
  })

  test('waits no longer than a run may take', async () => {
    const sandbox = openBotSandbox({ workers: 1 })
    const caller = new AbortController()
    const endless = codeOf(runCode(sandbox, ENDLESS, { signal: caller.signal }))
    expect(await codeOf(runCode(sandbox, QUICK, { limits: { timeoutMs: 100 } }))).toBe('throttled')
    caller.abort()
    expect(await endless).toBe('aborted')
    expect(await runCode(sandbox, QUICK)).toBe(1)
    await sandbox.close()
  })
})

test('a sandbox that closes refuses the thousand that wait, and ends what it has begun', async () => {
  const sandbox = openBotSandbox({ workers: 2 })
  const codes = Array.from({ length: 1_000 }, () => codeOf(runCode(sandbox, QUICK)))
  await sandbox.close()
  const counted = Object.groupBy(await Promise.all(codes), (code) => code)
  expect(Object.keys(counted).toSorted()).toEqual(['answered', 'unavailable'])
  expect(counted['answered']?.length).toBeLessThan(20)
})

test('what a thread sleeps, or is kept from the processor, does not count as computed: it is no reason to start another', async () => {
  const state = createRunState(LIMITS)
  await after(100)
  expect(state.computedMs()).toBeLessThan(10)
  // As long as that takes where others have the processor.
  while (state.computedMs() <= 10 && state.elapsedMs() < 60_000);
  expect(state.computedMs()).toBeGreaterThan(10)
})

test('the event loop of the host goes on while bots loop', async () => {
  const sandbox = openBotSandbox({ workers: 1 })
  const [caller, looping] = [new AbortController(), Promise.withResolvers<void>()]
  const read = async () => {
    looping.resolve()
    return undefined
  }
  const capabilities = { storage: { read, search: async () => [], write: async () => ({}) } }
  const code = "export const handler = (event, { storage }) => { storage.read('', ''); for (;;); }"
  const run = codeOf(runCode(sandbox, code, { capabilities, signal: caller.signal }))
  await looping.promise
  for (let turn = 0; turn < 5; turn++) await after(10)
  caller.abort()
  expect(await run).toBe('aborted')
  await sandbox.close()
})

test('a caller that goes ends the run, and not its time limit', async () => {
  const sandbox = openBotSandbox({ workers: 1 })
  await runCode(sandbox, 'export const handler = () => 1')
  const caller = new AbortController()
  const run = codeOf(runCode(sandbox, 'export const handler = () => { for (;;); }', { signal: caller.signal }))
  caller.abort()
  expect(await run).toBe('aborted')
  expect(await runCode(sandbox, 'export const handler = () => 2')).toBe(2)
  await sandbox.close()
})

test('a closed sandbox runs nothing', async () => {
  const sandbox = openBotSandbox({ workers: 1 })
  await sandbox.close()
  expect(await codeOf(runCode(sandbox, 'export const handler = () => 1'))).toBe('unavailable')
})

describe('a process that can run no bot', () => {
  /** Runs a bot in another process, closes the sandbox, and prints how the run ended. */
  const elsewhere = (flags: readonly string[], before = '', addressesKib: number | 'unlimited' = 'unlimited'): string => {
    const program = `${before}
      import('@fhir-ops/bot-sandbox').then(async ({ openBotSandbox }) => {
        const sandbox = openBotSandbox()
        const task = { code: 'export const handler = () => 1', event: ${JSON.stringify(EVENT)}, capabilities: {}, limits: ${JSON.stringify(LIMITS)}, log() {} }
        await sandbox.run(task).catch(({ code, message }) => console.log(code, message))
        await sandbox.close()
      })`
    const limited = ['-c', `ulimit -c 0; ulimit -v ${addressesKib}; exec "$0" "$@"`, process.execPath, ...flags, '-e', program]
    return execFileSync('sh', limited, { cwd: join(import.meta.dirname, '..'), encoding: 'utf8' })
  }
  const permitted = ['--permission', '--allow-fs-read=*']

  test.each([
    ['WebAssembly', ['--jitless'], '', 'not-supported Stored bots run in WebAssembly, which this process does not have (node --jitless).'],
    [
      'the right to start threads',
      permitted,
      '',
      'not-supported Stored bots run in threads, which this process may not start (node --allow-worker permits it).',
    ],
    ['a thread to be had', permitted, 'process.permission.has = () => true', 'unavailable The runtime of bots does not start.'],
  ])('for want of %s says so, and can be closed', (_what, flags, before, words) => {
    expect(elsewhere(flags, before)).toBe(`${words}\n`)
  })

  // Node itself takes 1.3 GB of addresses here; 0.6 GB more for the thread ended the process.
  test.runIf(platform() === 'linux')('is not one whose address space is limited (ulimit -v)', () => {
    expect(elsewhere([], '', 1_750_000)).toBe('')
  })
})
