import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { createBots } from 'fhir-ops/execute'
import { expect, test } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { comparableMs } from '../../../../test/processor-time.js'
import { wholeService } from '../security/service.js'

/** Uses up the memory of its engine, which takes the thread with it. */
const GREEDY = 'export const handler = () => { for (const all = []; ; ) all.push("x".repeat(10_000_000) + all.length) }'
const DEATHS = rounds({ quick: 1, all: 20 })

test('a bot that takes its thread with it is 422 for its caller, within a second of work the next bot runs, and other requests are answered meanwhile', async () => {
  const runtime = openBotSandbox({ workers: 1 })
  const { call, close } = wholeService([], { bots: createBots({ runtime, limits: { timeoutMs: 100_000 } }) })
  const stored = async (id: string, code: string): Promise<number> =>
    (await call('PUT', `/Bot/${id}`, JSON.stringify({ resourceType: 'Bot', id, code }))).status
  expect(await Promise.all([stored('greedy', GREEDY), stored('quick', 'export const handler = () => "done"')])).toEqual([201, 201])
  const run = (id: string): Promise<Response> => call('GET', `/Bot/${id}/$execute`)
  await run('quick')
  const workMs: number[] = []
  for (let death = 0; death < DEATHS; death++) {
    const dying = run('greedy')
    const others = await Promise.all(Array.from({ length: 10 }, () => call('GET', '/Bot/quick')))
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]))
    const { status, headers } = await dying
    expect([status, headers.get('content-type')]).toEqual([422, 'application/fhir+json; charset=utf-8'])
    const died = process.cpuUsage()
    expect(await (await run('quick')).text()).toBe('done')
    // The time of the clock would be that of everything else on the machine, too.
    const { user, system } = process.cpuUsage(died)
    workMs.push((user + system) / 1_000)
  }
  // Other tests of this process work at the same time now and then.
  const median = workMs.toSorted((a, b) => a - b)[Math.floor(DEATHS / 2)] ?? Infinity
  expect(comparableMs(median, 1_000)).toBeLessThan(1_000)
  await Promise.all([runtime.close(), close()])
})
