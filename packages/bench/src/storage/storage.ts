import { createContext, type OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { putResource, type SearchQuery } from 'fhir-ops/storage'
import { r4, type Release } from '@fhir-ops/r4'
import { evaluateMeasure } from 'fhir-ops/evaluate'
import { parseSearch } from 'fhir-ops/search'
import type { SearchPair } from 'fhir-ops/internal/search'
import { drawsFrom, type Draws } from '../content/draws.js'
import { markdownTable } from '../markdown.js'
import { timed } from '../timing.js'
import { clinicalResource, MEASURE, PER_PATIENT, patientId } from './clinical-resources.js'
import { fill } from './fill.js'
import { STORAGES, type OpenedStorage } from './opened-storages.js'

/**
 * Speed of filling and querying new storages of some sizes: `BENCH_SIZES` are the sizes (default `10000,100000`), `BENCH_STORAGES` the storages
 * (default all). Each result is also printed on standard error immediately. Processor time, which other processes affect less than the time of
 * the clock, is that of this process and, after `+`, that of the database's process; during a load the database also uses others, which help to build an
 * index.
 */
export async function storages(): Promise<string> {
  const sizes = (process.env['BENCH_SIZES'] ?? '10000,100000').split(',').map(Number)
  const release = r4()
  const names = process.env['BENCH_STORAGES']?.split(',') ?? [...STORAGES.keys()]
  const filled: string[][] = []
  const asked: string[][] = []
  for (const name of names) {
    const calls = new Map<string, string[]>()
    for (const size of sizes) {
      const { load, timings } = await measured(name, size, release)
      filled.push(load)
      for (const [call, figures] of timings) calls.set(call, [...(calls.get(call) ?? []), figures])
    }
    asked.push(...[...calls].map(([call, timings]) => [name, call, ...timings]))
  }
  const columns = sizes.map((size) => `${size.toLocaleString('en')}: p50 / p99 ms, processor ms`)
  return [
    markdownTable(['storage', 'resources', 'loaded, resources/s', 'processor µs a resource', 'bytes a resource'], filled),
    markdownTable(['storage', 'call', ...columns], asked),
  ].join('\n\n')
}

/** Minimum number of calls. A storage answers some queries of a kind before it prepares an order or a bitmap for them. */
const LEAST_CALLS = 20

interface Measured {
  readonly load: string[]
  /** Timings by the name of the call. */
  readonly timings: ReadonlyMap<string, string>
}

async function measured(name: string, size: number, release: Release): Promise<Measured> {
  const { indexer, ...rest } = release
  const open = STORAGES.get(name)
  if (open === undefined) throw new TypeError(`There is no storage ${name}.`)
  const [start, own] = [performance.now(), process.cpuUsage()]
  const opened = await open(async (storage) => {
    await storage.write([putResource({ type: 'Measure', id: 'bench', source: MEASURE }, indexer)])
    await fill(storage, indexer, { from: 0, to: size, resourceOf: clinicalResource })
  })
  const perSecond = (size * 1_000) / (performance.now() - start)
  const load = [
    name,
    size.toLocaleString('en'),
    perSecond.toFixed(0),
    timesOf(process.cpuUsage(own), opened.serverMs?.(), { calls: size / 1_000, digits: 0 }),
    ((await opened.bytes()) / size).toFixed(0),
  ]
  process.stderr.write(`${load.join(' ')}\n`)
  await opened.settle?.()
  const ctx = createContext({ storage: opened.storage, ...rest })
  const timings = new Map<string, string>()
  for (const call of callsOver(ctx, { patients: size / PER_PATIENT, draws: drawsFrom(size) })) {
    timings.set(call.name, await timing(call, opened))
    process.stderr.write(`${name} ${call.name}: ${timings.get(call.name)}\n`)
  }
  await opened.close()
  return { load, timings }
}

/** The timing of a call, or its error if the storage gives it up. */
async function timing({ run }: Call, opened: OpenedStorage): Promise<string> {
  const used = usedBy(opened)
  let calls = 0
  const counted = async (): Promise<unknown> => {
    calls++
    return run()
  }
  try {
    const { p50, p99 } = await timed(counted, LEAST_CALLS)
    return `${milliseconds(p50)} / ${milliseconds(p99)}, ${used(calls)}`
  } catch (error) {
    if (error instanceof OperationError) return error.code
    throw error
  }
}

/** Returns a function for the processor time since now, per call. */
function usedBy({ serverMs }: OpenedStorage): (calls: number) => string {
  const own = process.cpuUsage()
  const server = serverMs?.()
  return (calls) =>
    timesOf(process.cpuUsage(own), server === undefined || serverMs === undefined ? undefined : serverMs() - server, { calls, digits: 2 })
}

/** Processor time of this process and of the database's, in milliseconds per call. */
function timesOf(
  { user, system }: NodeJS.CpuUsage,
  serverMs: number | undefined,
  { calls, digits }: { readonly calls: number; readonly digits: number },
): string {
  const times = [(user + system) / 1_000, ...(serverMs === undefined ? [] : [serverMs])]
  return times.map((ms) => (ms / calls).toFixed(digits)).join(' + ')
}

function milliseconds(microseconds: number): string {
  const value = microseconds / 1_000
  return value < 10 ? value.toFixed(2) : value.toFixed(0)
}

/** A call that is repeated, each time for another patient or code. */
interface Call {
  readonly name: string
  readonly run: () => Promise<unknown>
}

/** The calls over a storage with a number of patients. */
function callsOver(ctx: OperationContext, { patients, draws }: { readonly patients: number; readonly draws: Draws }): readonly Call[] {
  const code = (): string => `http://loinc.org|${draws.below(101)}`
  const patient = (): string => patientId(draws.below(patients))
  const page = async (type: string, ...pairs: SearchPair[]): Promise<unknown> =>
    ctx.storage.search(await query(ctx, type, [...pairs, ['_count', '20']]))
  const count = async (type: string, ...pairs: SearchPair[]): Promise<unknown> => ctx.storage.count(await query(ctx, type, pairs))
  return [
    { name: 'read', run: async () => ctx.storage.read('Patient', patient()) },
    { name: 'page: an identifier', run: async () => page('Patient', ['identifier', `http://example.org/mrn|${draws.below(patients)}`]) },
    {
      name: 'page: the Observations of a patient, newest first',
      run: async () => page('Observation', ['subject', `Patient/${patient()}`], ['_sort', '-date']),
    },
    { name: 'page: a code (1 % of the Observations)', run: async () => page('Observation', ['code', code()]) },
    { name: 'page: a code and a year', run: async () => page('Observation', ['code', code()], ['date', `${2016 + draws.below(9)}`]) },
    {
      name: 'page: a code, of female patients',
      run: async () => page('Observation', ['code', code()], ['subject:Patient.gender', 'female']),
    },
    { name: 'page: all Observations, newest first', run: async () => page('Observation', ['_sort', '-date']) },
    { name: 'page: a status (90 %), by date', run: async () => page('Observation', ['status', 'final'], ['_sort', 'date']) },
    { name: 'count: all Observations', run: async () => count('Observation') },
    { name: 'count: a code', run: async () => count('Observation', ['code', code()]) },
    { name: 'count: a code and a year', run: async () => count('Observation', ['code', code()], ['date', `${2016 + draws.below(9)}`]) },
    {
      name: 'count: a status (90 % of all) and a year',
      run: async () => count('Observation', ['status', 'final'], ['date', `${2016 + draws.below(9)}`]),
    },
    {
      name: 'count: a quantity above a number (half of all)',
      run: async () => count('Observation', ['value-quantity', `gt${90 + draws.below(20)}`]),
    },
    { name: 'count: a status (90 % of all)', run: async () => count('Observation', ['status', 'final']) },
    {
      name: '$evaluate-measure, four populations',
      run: async () => evaluateMeasure(ctx, { measure: 'Measure/bench', periodStart: `${2016 + draws.below(9)}`, periodEnd: '2025' }),
    },
  ]
}

async function query(ctx: OperationContext, type: string, pairs: readonly SearchPair[]): Promise<SearchQuery> {
  if (ctx.search === undefined) throw new TypeError('The context has no search parameters.')
  return (await parseSearch(type, pairs, ctx.search)).query
}
