import { createContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { putResource } from 'fhir-ops/storage'
import { r4, type Release } from '@fhir-ops/r4'
import { drawsFrom } from '../content/draws.js'
import { markdownTable } from '../markdown.js'
import { timed } from '../timing.js'
import { callsOver, type Call } from './calls.js'
import { clinicalResource, MEASURE, PER_PATIENT } from './clinical-resources.js'
import { fill } from './fill.js'
import { STORAGES, type OpenedStorage } from './opened-storages.js'

/**
 * How fast storages are filled and asked, as they grow: `BENCH_SIZES` are the sizes (default `10000,100000`), `BENCH_STORAGES` the
 * storages (default all). Each grows from size to size; what was measured last is printed on standard error at once. Processor time, which other
 * processes lengthen less than the time of the clock, is that of this process and, behind `+`, that of the database's, of which a load has some in others, too.
 */
export async function storages(): Promise<string> {
  const sizes = (process.env['BENCH_SIZES'] ?? '10000,100000').split(',').map(Number)
  const release = r4()
  const names = process.env['BENCH_STORAGES']?.split(',') ?? [...STORAGES.keys()]
  const filled: string[][] = []
  const asked: string[][] = []
  for (const name of names) {
    const opened = await STORAGES.get(name)?.()
    if (opened === undefined) throw new TypeError(`There is no storage ${name}.`)
    const grown = await growing(opened, { name, sizes, release })
    filled.push(...grown.filled)
    asked.push(...grown.asked)
    await opened.close()
  }
  const columns = sizes.map((size) => `${size.toLocaleString('en')}: p50 / p99 ms, processor ms`)
  return [
    markdownTable(['storage', 'resources', 'loaded, resources/s', 'processor µs a resource', 'bytes a resource'], filled),
    markdownTable(['storage', 'call', ...columns], asked),
  ].join('\n\n')
}

interface Growing {
  readonly name: string
  readonly sizes: readonly number[]
  readonly release: Release
}

async function growing(
  opened: OpenedStorage,
  { name, sizes, release }: Growing,
): Promise<{ readonly filled: string[][]; readonly asked: string[][] }> {
  const { indexer, ...rest } = release
  const ctx = createContext({ storage: opened.storage, ...rest })
  const filled: string[][] = []
  const asked = new Map<string, string[]>()
  let size = 0
  await opened.storage.write([putResource({ type: 'Measure', id: 'bench', source: MEASURE }, indexer)])
  for (const next of sizes) {
    const start = performance.now()
    const used = usedBy(opened)
    await fill(opened.storage, indexer, { from: size, to: next, resourceOf: clinicalResource })
    const perSecond = ((next - size) * 1_000) / (performance.now() - start)
    const each = used((next - size) / 1_000, 0)
    size = next
    filled.push([name, size.toLocaleString('en'), perSecond.toFixed(0), each, ((await opened.bytes()) / size).toFixed(0)])
    process.stderr.write(`${filled.at(-1)?.join(' ')}\n`)
    await opened.settle?.()
    for (const call of callsOver(ctx, { patients: size / PER_PATIENT, draws: drawsFrom(size) })) {
      asked.set(call.name, [...(asked.get(call.name) ?? []), await timing(call, opened)])
      process.stderr.write(`${name} ${call.name}: ${asked.get(call.name)?.at(-1)}\n`)
    }
  }
  return { filled, asked: [...asked].map(([call, timings]) => [name, call, ...timings]) }
}

/** A call that the storage gives up has its error instead. */
async function timing({ run }: Call, opened: OpenedStorage): Promise<string> {
  const used = usedBy(opened)
  let calls = 0
  const counted = async (): Promise<unknown> => {
    calls++
    return run()
  }
  try {
    const { p50, p99 } = await timed(counted)
    return `${milliseconds(p50)} / ${milliseconds(p99)}, ${used(calls, 2)}`
  } catch (error) {
    if (error instanceof OperationError) return error.code
    throw error
  }
}

/** Processor time from now on of so many, each, in milliseconds: of this process and of the database's. */
function usedBy({ serverMs }: OpenedStorage): (calls: number, digits: number) => string {
  const own = process.cpuUsage()
  const server = serverMs?.()
  return (calls, digits) => {
    const { user, system } = process.cpuUsage(own)
    const times = [(user + system) / 1_000, ...(server === undefined || serverMs === undefined ? [] : [serverMs() - server])]
    return times.map((ms) => (ms / calls).toFixed(digits)).join(' + ')
  }
}

function milliseconds(microseconds: number): string {
  const value = microseconds / 1_000
  return value < 10 ? value.toFixed(2) : value.toFixed(0)
}
