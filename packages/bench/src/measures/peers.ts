import type { JsonObject } from 'fhir-ops/internal/json'
import cql from 'cql-execution'
import { PatientSource } from 'cql-exec-fhir'
import { Calculator } from 'fqm-execution'
import { LIBRARY_URL, PERIOD, recordOf, VALUE_SETS } from './clinic.js'

/** ELM of the library and of FHIRHelpers. */
export interface Elm {
  readonly library: object
  readonly helpers: object
}

/** Patients per second of a peer, from Bundles in memory, and its counts. */
export interface PeerTiming {
  readonly perSecond: number
  readonly counts: readonly number[]
}

/** The definitions of a measure that are counted. */
export type Definitions = readonly string[]

/** cql-execution with cql-exec-fhir: every definition of the library is evaluated. */
export async function byCqlExecution(elm: Elm, definitions: Definitions, patients: number): Promise<PeerTiming> {
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
export async function byFqmExecution(elm: Elm, measure: JsonObject, patients: number): Promise<PeerTiming> {
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
