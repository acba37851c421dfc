import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setInterval } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { useOf, type ProcessUse } from '../child-process-use.js'
import { markdownTable } from '../markdown.js'
import { exampleTexts } from './examples.js'

const RESOURCES = 100_000
const SAMPLE_MS = 100
const COMMAND = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url))

/** `fhir-ops validate` of files with 100,000 resources on all cores: clinical ones, and repetitions of the R4 examples of all types. */
export async function validateFiles(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-files-'))
  const examples = exampleTexts()
  const contents: readonly (readonly [string, (n: number) => string])[] = [
    ['Patients and Observations', clinicalText],
    [`${examples.length} R4 examples of all types, repeated`, (n) => examples[n % examples.length] ?? ''],
  ]
  try {
    const rows: string[][] = []
    for (const [name, textOf] of contents) {
      const file = join(folder, 'resources.ndjson')
      const megabytes = await write(file, textOf)
      const { seconds, use } = await validated(file)
      rows.push([
        name,
        megabytes.toFixed(0),
        (RESOURCES / seconds).toFixed(0),
        use === undefined ? '–' : ((use.processorMs * 1_000) / RESOURCES).toFixed(0),
        use === undefined ? '–' : use.mostMb.toFixed(0),
        String(availableParallelism()),
      ])
    }
    return markdownTable(
      [`NDJSON of ${RESOURCES} resources`, 'MB of text', 'resources/s', 'µs of processor time each', 'MB at most', 'threads that validate'],
      rows,
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}

function clinicalText(n: number): string {
  const resource =
    n % 10 === 0
      ? { resourceType: 'Patient', id: `p${n}`, name: [{ family: `Family${n % 5_000}` }], birthDate: '1970-01-01' }
      : {
          resourceType: 'Observation',
          id: `o${n}`,
          status: 'final',
          code: { coding: [{ system: 'http://loinc.org', code: String(n % 101) }] },
          subject: { reference: `Patient/p${n - (n % 10)}` },
          effectiveDateTime: '2020-01-01',
          valueQuantity: { value: n % 200, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
        }
  return JSON.stringify(resource)
}

async function write(path: string, textOf: (n: number) => string): Promise<number> {
  const file = createWriteStream(path)
  for (let n = 0; n < RESOURCES; n++) if (!file.write(`${textOf(n)}\n`)) await once(file, 'drain')
  file.end()
  await once(file, 'finish')
  return file.bytesWritten / 1_000_000
}

/** Validates a file. Findings are discarded, and are not a failure. */
async function validated(file: string): Promise<{ readonly seconds: number; readonly use: ProcessUse | undefined }> {
  const start = performance.now()
  const child = spawn(process.execPath, [COMMAND, 'validate', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => (said = `${said}${bytes.toString('utf8')}`.slice(-500)))
  const sampling = new AbortController()
  void once(child, 'close').then(() => sampling.abort())
  let use: ProcessUse | undefined
  try {
    for await (const _ of setInterval(SAMPLE_MS, undefined, { signal: sampling.signal })) use = useOf(child.pid) ?? use
  } catch (error) {
    // The interval ends with the process.
    if (!sampling.signal.aborted) throw error
  }
  if (!said.includes(`${RESOURCES} resources checked`)) throw new Error(said)
  return { seconds: (performance.now() - start) / 1_000, use }
}
