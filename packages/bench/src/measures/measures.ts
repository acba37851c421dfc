import { cqlLanguage } from '@fhir-ops/cql'
import { createTranslator } from '@fhir-ops/cql/translator'
import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { createLiveMeasure, evaluateMeasure, type EvaluateMeasureResult } from 'fhir-ops/evaluate'
import type { TypeModel } from 'fhir-ops/fhirpath'
import type { JsonObject } from 'fhir-ops/internal/json'
import cql from 'cql-execution'
import { PatientSource } from 'cql-exec-fhir'
import { Calculator } from 'fqm-execution'
import { markdownTable } from '../markdown.js'
import { fill } from '../storage/fill.js'
import { STORAGES } from '../storage/opened-storages.js'
import { HELPERS_TEXT, LIBRARY_TEXT, LIBRARY_URL, MEASURE_A, MEASURE_B, PERIOD, recordOf, VALUE_SETS } from './clinic.js'

const PEER_PATIENTS = 200
const PATIENTS = (process.env['MEASURE_PATIENTS'] ?? '2000').split(',').map(Number)
const ENGINES = new Map([...STORAGES].filter(([name]) => process.env['MEASURE_STORAGES']?.split(',').includes(name) ?? true))

/** The measures, and the names of the definitions that they count. */
const MEASURES: readonly (readonly [string, JsonObject, readonly string[]])[] = [
  ['A: one retrieve by code', MEASURE_A, ['Cholesterol measured']],
  ['B: four populations', MEASURE_B, ['Initial Population', 'Denominator', 'Denominator Exclusion', 'Numerator']],
]

/**
 * Patients per second of measures in CQL, from storages with 147 resources per patient, compared with other JavaScript engines that evaluate Bundles in
 * memory. The first evaluation after the load is cold; the second reads everything again; warm is the median of 15 over a kept population,
 * each for another year; live is a live measure, evaluated again after one patient got a resource.
 *
 * `MEASURE_PATIENTS` is the number of patients (default 2,000; several with commas), `MEASURE_STORAGES` the storages (default all); the peers evaluate
 * 200. The counts of the first 200 must agree.
 */
export async function measures(): Promise<string> {
  if (!PATIENTS.every((count) => Number.isInteger(count) && count > 0))
    throw new TypeError('MEASURE_PATIENTS takes counts, such as 150,10000.')
  const { indexer, ...release } = r4()
  const elm = await translated(release.types)
  const rows: string[][] = []
  for (const [name, measure, definitions] of MEASURES) {
    const cql = await byCqlExecution(elm, definitions, PEER_PATIENTS)
    const fqm = await byFqmExecution(elm, measure, PEER_PATIENTS)
    rows.push([name, 'cql-execution', String(PEER_PATIENTS), cql.perSecond.toFixed(0), '', '', '', cql.counts.join(' ')])
    rows.push([name, 'fqm-execution', String(PEER_PATIENTS), fqm.perSecond.toFixed(0), '', '', '', fqm.counts.join(' ')])
  }
  const library = {
    resourceType: 'Library',
    id: 'BloodPressure',
    url: LIBRARY_URL,
    name: 'BloodPressure',
    version: '1',
    status: 'active',
    type: { text: 'logic-library' },
    content: [{ contentType: 'application/elm+json', data: Buffer.from(JSON.stringify(elm.library)).toString('base64') }],
  }
  for (const patients of [PEER_PATIENTS, ...PATIENTS])
    for (const [kind, open] of ENGINES) {
      const { storage, close } = await open()
      await fill(storage, indexer, resources([library, MEASURE_A, MEASURE_B, ...VALUE_SETS]))
      await fill(storage, indexer, records(patients))
      const ctx = createContext({ ...release, storage, limits: { operationTimeoutMs: 600_000 } })
      const live = { ctx, patients, write: (resource: JsonObject) => fill(storage, indexer, resources([resource])) }
      for (const [name, { id }] of MEASURES) rows.push([name, kind, String(patients), ...(await timings(live, `Measure/${String(id)}`))])
      await close()
    }
  return markdownTable(
    [
      'measure in CQL',
      'engine, storage',
      'patients',
      'patients/s, cold',
      'patients/s, again',
      'patients/s, warm',
      'patients/s, live',
      'counts',
    ],
    rows,
  )
}

/** A filled storage over which measures are timed. */
interface Timed {
  readonly ctx: OperationContext
  readonly patients: number
  readonly write: (resource: JsonObject) => Promise<void>
}

const YEARS = [2013, 2014, 2015, 2016].map((year) => ({ periodStart: `${year}-01-01`, periodEnd: `${year}-12-31` }))
/** Number of evaluations before warm ones: they read the population, and let the JavaScript engine compile hot code. */
const BEFORE_WARM = 12
const WARM = 15
const KEEP_BYTES = 8 * 1024 ** 3

/** Patients per second: cold, again, warm and live, and the counts. */
async function timings({ ctx, patients, write }: Timed, measure: string): Promise<readonly string[]> {
  const input = { measure, periodStart: PERIOD.start, periodEnd: PERIOD.end }
  const options = { languages: [cqlLanguage()] }
  const perSecond: string[] = []
  let last: EvaluateMeasureResult | undefined
  const timed = async (evaluate: () => Promise<EvaluateMeasureResult>): Promise<void> => {
    const began = performance.now()
    last = await evaluate()
    perSecond.push(((patients * 1_000) / (performance.now() - began)).toFixed(0))
  }
  await timed(() => evaluateMeasure(ctx, input, options))
  await timed(() => evaluateMeasure(ctx, input, options))
  const keeping = { languages: [cqlLanguage({ keepBytes: KEEP_BYTES })] }
  perSecond.push(await warm(patients, (year) => evaluateMeasure(ctx, { ...input, ...year }, keeping)))
  const live = createLiveMeasure(ctx, input, { ...options, settlingMs: 0 })
  for (const changed of [recordOf(0), recordOf(1)]) {
    await live.evaluate()
    for (const resource of changed.slice(-1)) await write(resource)
  }
  await timed(() => live.evaluate())
  return [...perSecond, (last?.groups ?? []).flatMap(({ populations }) => populations.map(({ count }) => count)).join(' ')]
}

/** Patients per second in the median of several evaluations, each for another year than the one before. */
async function warm(patients: number, evaluate: (year: (typeof YEARS)[number]) => Promise<unknown>): Promise<string> {
  const times: number[] = []
  for (let time = 0; time < BEFORE_WARM + WARM; time++) {
    const year = YEARS[time % YEARS.length]
    if (year === undefined) continue
    const began = performance.now()
    await evaluate(year)
    if (time >= BEFORE_WARM) times.push(performance.now() - began)
  }
  const middle = times.toSorted((a, b) => a - b)[WARM >> 1] ?? Number.NaN
  return ((patients * 1_000) / middle).toFixed(0)
}

function resources(all: readonly JsonObject[]): Parameters<typeof fill>[2] {
  return { from: 0, to: all.length, resourceOf: (n) => all[n] ?? {} }
}

/** The resources of a number of patients, one record after the other. */
function records(patients: number): Parameters<typeof fill>[2] {
  const size = recordOf(0).length
  let current: { readonly patient: number; readonly record: readonly JsonObject[] } = { patient: 0, record: recordOf(0) }
  return {
    from: 0,
    to: patients * size,
    resourceOf: (n) => {
      const patient = Math.floor(n / size)
      if (patient !== current.patient) current = { patient, record: recordOf(patient) }
      return current.record[n % size] ?? {}
    },
  }
}

async function translated(types: TypeModel): Promise<Elm> {
  const translator = await createTranslator({ model: types })
  const [library, helpers] = [await translator.translate(LIBRARY_TEXT), await translator.translate(HELPERS_TEXT)]
  const problems = [...library.problems, ...helpers.problems].filter(({ severity }) => severity === 'error')
  if (problems.length > 0) throw new Error(`The library of the bench has errors: ${JSON.stringify(problems.slice(0, 3))}`)
  return JSON.parse(JSON.stringify({ library: library.elm, helpers: helpers.elm }))
}

/** ELM of the library and of FHIRHelpers. */
interface Elm {
  readonly library: object
  readonly helpers: object
}

/** Patients per second of a peer, from Bundles in memory, and its counts. */
interface PeerTiming {
  readonly perSecond: number
  readonly counts: readonly number[]
}

/** The definitions of a measure that are counted. */
type Definitions = readonly string[]

/** cql-execution with cql-exec-fhir: every definition of the library is evaluated. */
async function byCqlExecution(elm: Elm, definitions: Definitions, patients: number): Promise<PeerTiming> {
  const repository = new cql.Repository({ FHIRHelpers: elm.helpers })
  const library = new cql.Library(elm.library, repository)
  const codes = Object.fromEntries(VALUE_SETS.map((set) => [String(set['url']), { '1': codesOf(set) }]))
  const source = PatientSource.FHIRv401()
  source.loadBundles(bundles(patients))
  const [start, end] = [cql.DateTime.parse(`${PERIOD.start}T00:00:00.000Z`), cql.DateTime.parse(`${PERIOD.end}T23:59:59.999Z`)]
  const executor = new cql.Executor(library, new cql.CodeService(codes), { 'Measurement Period': new cql.Interval(start, end) })
  const began = performance.now()
  const { patientResults }: { readonly patientResults: Readonly<Record<string, Readonly<Record<string, unknown>>>> } =
    await executor.exec(source)
  const perSecond = (patients * 1_000) / (performance.now() - began)
  const counts = definitions.map((name) => Object.values(patientResults).filter((results) => results[name] === true).length)
  return { perSecond, counts }
}

/** fqm-execution, which evaluates a Measure with cql-execution. */
async function byFqmExecution(elm: Elm, measure: JsonObject, patients: number): Promise<PeerTiming> {
  const library = (name: string, url: string, node: object): object => ({
    resourceType: 'Library',
    id: name,
    name,
    url,
    version: name === 'FHIRHelpers' ? '4.0.1' : '1',
    status: 'active',
    type: {},
    content: [{ contentType: 'application/elm+json', data: Buffer.from(JSON.stringify(node)).toString('base64') }],
  })
  const libraries = [
    library('BloodPressure', LIBRARY_URL, elm.library),
    library('FHIRHelpers', 'http://hl7.org/fhir/Library/FHIRHelpers', elm.helpers),
  ]
  const sets = VALUE_SETS.map((set) => ({ ...set, expansion: { timestamp: '2026-01-01', contains: codesOf(set) } }))
  const all = [measure, ...libraries, ...sets].map((resource) => ({ resource }))
  const measureBundle: fhir4.Bundle = JSON.parse(JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry: all }))
  const given = bundles(patients)
  const began = performance.now()
  const calculated = await Calculator.calculateAggregateMeasureReport(measureBundle, given, {
    measurementPeriodStart: PERIOD.start,
    measurementPeriodEnd: PERIOD.end,
    calculateHTML: false,
    calculateSDEs: false,
    reportType: 'summary',
  })
  const perSecond = (patients * 1_000) / (performance.now() - began)
  const report: fhir4.MeasureReport = JSON.parse(JSON.stringify(calculated.results))
  return { perSecond, counts: (report.group?.[0]?.population ?? []).map(({ count = 0 }) => count) }
}

function codesOf(set: JsonObject): { readonly code: string; readonly system: string; readonly version: string }[] {
  const { compose }: { compose?: { include: { system: string; concept: { code: string }[] }[] } } = JSON.parse(JSON.stringify(set))
  return (compose?.include ?? []).flatMap(({ system, concept }) => concept.map(({ code }) => ({ code, system, version: '' })))
}

function bundles(patients: number): fhir4.Bundle[] {
  return Array.from({ length: patients }, (_, n): fhir4.Bundle =>
    JSON.parse(JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry: recordOf(n).map((resource) => ({ resource })) })),
  )
}
