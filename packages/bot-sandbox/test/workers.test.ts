import { setTimeout as after } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { rounds } from '../../../test/effort.js'
import { runCode } from './runs.js'

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

  const deaths = rounds({ quick: 10, all: 100 })

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

test('more bots than threads wait for each other', async () => {
  const sandbox = openBotSandbox({ workers: 1 })
  const runs = Array.from({ length: 12 }, (_, n) => runCode(sandbox, `export const handler = () => ${n}`))
  expect(await Promise.all(runs)).toEqual(Array.from({ length: 12 }, (_, n) => n))
  await sandbox.close()
})

test('eight bots run at once', async () => {
  const sandbox = openBotSandbox({ workers: 8 })
  const met = Promise.withResolvers<void>()
  let arrived = 0
  const read = async () => {
    arrived += 1
    if (arrived === 8) met.resolve()
    await met.promise
    return { arrived }
  }
  const capabilities = { storage: { read, search: async () => [], write: async () => ({}) } }
  const code = 'export const handler = async (event, { storage }) => (await storage.read("Patient", "a")).arrived'
  const runs = Array.from({ length: 8 }, () => runCode(sandbox, code, { capabilities }))
  expect(await Promise.all(runs)).toEqual(Array.from({ length: 8 }, () => 8))
  await sandbox.close()
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
