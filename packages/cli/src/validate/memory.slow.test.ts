import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setInterval } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'

const MAIN = builtFile('packages/cli/dist/main.js')
const RESOURCES = 100_000
/** Two threads that validate, and the one that reports. While the latter had the definitions too, it was 340 MB. */
const MOST_MB = 300
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-memory-'))
  const file = createWriteStream(join(folder, 'many.ndjson'))
  for (let n = 0; n < RESOURCES; n++) if (!file.write(`${JSON.stringify(resourceOf(n))}\n`)) await once(file, 'drain')
  file.end()
  await once(file, 'finish')
})

afterAll(() => rm(folder, { recursive: true }))

function resourceOf(n: number): object {
  if (n % 10 === 0) return { resourceType: 'Patient', id: `p${n}`, name: [{ family: `Family${n % 5_000}` }], birthDate: '1970-01-01' }
  return {
    resourceType: 'Observation',
    id: `o${n}`,
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: String(n % 101) }] },
    subject: { reference: `Patient/p${n - (n % 10)}` },
    effectiveDateTime: '2020-01-01',
    valueQuantity: { value: n % 200, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
  }
}

/** The most that the process ever had in memory, as Linux counts it. */
function peakMegabytes(pid: number): number | undefined {
  const status = `/proc/${pid}/status`
  const kilobytes = existsSync(status) ? /VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1] : undefined
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024
}

test.runIf(process.platform === 'linux')('100,000 resources are validated in little memory, whatever was read and found', async () => {
  const child = spawn(process.execPath, [MAIN, 'validate', join(folder, 'many.ndjson'), '--threads', '2'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (out = `${out}${String(bytes)}`.slice(-1_000)))
  const ended = once(child, 'close')
  let most = 0
  const watch = new AbortController()
  void ended.then(() => watch.abort())
  try {
    for await (const _ of setInterval(200, undefined, { signal: watch.signal })) most = peakMegabytes(child.pid ?? 0) ?? most
  } catch {
    // The interval ends with the process.
  }
  const [status] = await ended
  expect({ status, out }).toMatchObject({ status: 0, out: expect.stringContaining(`${RESOURCES} resources checked`) as string })
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(MOST_MB)
})
