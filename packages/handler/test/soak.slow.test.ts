import { createContext } from 'fhir-ops/context'
import { createBots, type BotEvent } from 'fhir-ops/execute'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { collectGarbage } from '../../../test/garbage.js'
import { askFhir, startServer, type RunningServer, type Sending } from './running-server.js'

const MIB = 1024 * 1024
const ROUNDS = 15
const REQUESTS = 300
/** Rounds in which caches fill. */
const WARM = 5
/** A leak of a kilobyte in each request would be three times as much. */
const MAX_GROWTH = MIB

const SYSTEM = 'http://x/cs'
const concept = Array.from({ length: 500 }, (_, n) => ({ code: `c${n}`, display: `Concept ${n}` }))
const STORED = [
  { resourceType: 'CodeSystem', id: 'cs', url: SYSTEM, status: 'active', content: 'complete', concept },
  { resourceType: 'ValueSet', id: 'vs', url: 'http://x/vs', status: 'active', compose: { include: [{ system: SYSTEM }] } },
  ...Array.from({ length: 100 }, (_, n) => ({ resourceType: 'Patient', id: `p${n}`, name: [{ family: `Family${n}` }] })),
]

let running: RunningServer
beforeAll(async () => {
  const { indexer, ...release } = r4()
  const bots = createBots({ hostBots: [{ id: 'same', run: ({ input }: BotEvent) => input }] })
  const context = createContext({ storage: memoryStorage(STORED, { indexer }), ...release })
  running = await startServer({ context, indexer, bots, log: () => {} })
})
afterAll(() => running.stop())

const post = (body: unknown, type = 'application/fhir+json'): Sending => ({
  method: 'POST',
  headers: { 'content-type': type },
  body: JSON.stringify(body),
})

/** What a service is asked, each time for something else, so that no cache has it. Nothing is stored. */
const KINDS: readonly ((n: number) => Promise<unknown>)[] = [
  (n) => askFhir(running, `/ValueSet/$expand?url=http://x/vs&filter=${n}`),
  (n) => askFhir(running, `/CodeSystem/$lookup?system=${SYSTEM}&code=none${n}`),
  (n) => askFhir(running, `/ValueSet/vs/$validate-code?system=${SYSTEM}&code=c${n}`),
  (n) => askFhir(running, `/Patient?family=Family${n}&_count=1`),
  (n) => askFhir(running, `/Patient/none${n}`),
  (n) => askFhir(running, '/Patient/$validate', post({ resourceType: 'Patient', name: [{ family: `N${n}` }], unknown: n })),
  (n) => askFhir(running, '/Bot/same/$execute', post({ n }, 'application/json')),
  (n) =>
    askFhir(running, '', post({ resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url: `Patient/p${n}` } }] })),
  (n) => askFhir(running, '/Patient', { headers: { authorization: `Bearer wrong${n}` } }),
  (n) => askFhir(running, `/unknown${n}`),
]

async function liveBytes(): Promise<number> {
  running.audit.length = 0
  // What a request leaves behind may hang on timers that are due.
  await new Promise((resolve) => setTimeout(resolve, 200))
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

it('under steady load, memory is flat once caches are filled', async () => {
  const live: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const numbers = Array.from({ length: REQUESTS }, (_, n) => round * REQUESTS + n)
    for (let at = 0; at < REQUESTS; at += 20) await Promise.all(numbers.slice(at, at + 20).map(async (n) => KINDS[n % KINDS.length]?.(n)))
    live.push(await liveBytes())
  }
  const grown = Math.min(...live.slice(-WARM)) - Math.min(...live.slice(WARM, 2 * WARM))
  expect(grown, live.map((bytes) => (bytes / MIB).toFixed(1)).join(' ')).toBeLessThan(MAX_GROWTH)
})
