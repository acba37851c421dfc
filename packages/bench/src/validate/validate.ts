import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate as validateResource } from 'fhir-ops/validate'
import { HEART_RATE, MINIMAL_PATIENT } from '../content/content.js'
import { markdownTable } from '../markdown.js'
import { heapBytes, median, timed } from '../timing.js'
import { ajv, medplum, ownChecks, ownChecksOfText, type Contender } from './contenders.js'
import { exampleTexts } from './examples.js'

const WARM_UPS = 5
const ROUNDS = 9

interface Example {
  readonly text: string
  readonly resource: JsonObject
}

/** Validation of the R4 examples compared with peers, in turns; of two small resources; memory; and the first answer of a fresh process. */
export async function validate(): Promise<string> {
  const before = heapBytes()
  const ctx = createContext({ storage: memoryStorage(), ...r4() })
  const examples = exampleTexts().flatMap((text): readonly Example[] => {
    const resource: unknown = JSON.parse(text)
    return isObject(resource) ? [{ text, resource }] : []
  })
  const loaded = heapBytes()
  await round(ownChecks(ctx, '', {}), examples)
  const used = heapBytes()
  return [
    await compared(ctx, examples),
    await smallOnes(ctx),
    markdownTable(
      ['', 'MB'],
      [
        ['context with the definitions, and the examples', megabytes(loaded - before)],
        ['more after all examples were validated', megabytes(used - loaded)],
      ],
    ),
    firstAnswers(),
  ].join('\n\n')
}

async function compared(ctx: OperationContext, examples: readonly Example[]): Promise<string> {
  const peer = await medplum(ctx)
  const contenders: readonly Contender[] = [
    peer,
    ownChecks(ctx, 'fhir-ops, everything', {}),
    ownChecksOfText(ctx, 'fhir-ops, everything, from text'),
    ownChecks(ctx, 'fhir-ops, structure only', { checks: 'structure' }),
    ajv('AJV, published schema', { entries: true }),
    ajv('AJV, published schema, no resources in resources', { entries: false }),
    { name: 'JSON.parse alone', check: (_, text) => isObject(JSON.parse(text)) },
  ]
  const taken = new Map<Contender, Round[]>(contenders.map((one) => [one, []]))
  for (let i = 0; i < WARM_UPS + ROUNDS; i++) {
    for (const one of contenders) {
      const result = await round(one, examples)
      if (i >= WARM_UPS) taken.get(one)?.push(result)
    }
  }
  const timeOf = (one: Contender): number => median((taken.get(one) ?? []).map(({ ms }) => ms))
  const rows = contenders.map((one) => {
    const ms = timeOf(one)
    return [
      one.name,
      ms.toFixed(1),
      ((ms * 1_000) / examples.length).toFixed(0),
      (timeOf(peer) / ms).toFixed(1),
      String(taken.get(one)?.[0]?.invalid),
    ]
  })
  return markdownTable(
    [`${examples.length} R4 examples`, 'ms of processor time', 'µs each', 'times as fast as @medplum/core', 'called invalid'],
    rows,
  )
}

interface Round {
  readonly ms: number
  readonly invalid: number
}

/** Measures processor time of the process instead of time on the clock, which other processes lengthen. */
async function round({ check }: Contender, examples: readonly Example[]): Promise<Round> {
  const start = process.cpuUsage()
  let invalid = 0
  for (const { resource, text } of examples) if (!(await check(resource, text))) invalid++
  const { user, system } = process.cpuUsage(start)
  return { ms: (user + system) / 1_000, invalid }
}

async function smallOnes(ctx: OperationContext): Promise<string> {
  const rows: string[][] = []
  for (const [name, resource, aim] of [
    ['minimal Patient', MINIMAL_PATIENT, '20'],
    ['Observation with a vital-signs profile and bindings', HEART_RATE, '150'],
  ] as const) {
    const { p50, p99 } = await timed(() => validateResource(ctx, { resource }))
    rows.push([name, p50.toFixed(1), p99.toFixed(1), aim])
  }
  return markdownTable(['one resource, everything', 'p50 µs', 'p99 µs', 'aim'], rows)
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}

const PROCESSES = 9

/** Time of fresh processes until their first answer. The minimum counts, because other processes only lengthen it. */
function firstAnswers(): string {
  const entry = fileURLToPath(new URL('./first-answer.js', import.meta.url))
  const taken = Array.from({ length: PROCESSES }, () => {
    const start = performance.now()
    const { stdout } = spawnSync(process.execPath, [entry], { encoding: 'utf8' })
    const printed: unknown = JSON.parse(stdout)
    const millisecondsAt = (name: string): number => (isObject(printed) ? Number(printed[name]) : Number.NaN)
    return {
      process: performance.now() - start,
      processProcessor: millisecondsAt('processorMs'),
      afterImport: millisecondsAt('afterImportMs'),
      afterImportProcessor: millisecondsAt('afterImportProcessorMs'),
    }
  })
  const least = (of: (one: (typeof taken)[number]) => number): string => Math.min(...taken.map(of)).toFixed(0)
  return markdownTable(
    ['first answer of a fresh process, profile of the size of US Core', 'ms', 'processor time ms'],
    [
      [
        'from the end of its imports: context, profile, validation',
        least(({ afterImport }) => afterImport),
        least(({ afterImportProcessor }) => afterImportProcessor),
      ],
      ['the whole process', least((one) => one.process), least(({ processProcessor }) => processProcessor)],
    ],
  )
}
