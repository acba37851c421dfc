import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { BOT, largeCodeSystem, largeMap, OBSERVATION, PATIENT } from '../content/content.js'
import { REQUESTS, type BenchRequest } from '../http/requests.js'
import { clinicalResource, MEASURE } from '../storage/clinical-resources.js'

const RESOURCES = 10_000
const BATCH = 100
const HEADERS = { 'content-type': 'application/fhir+json' }

/** Requests that store the content of the HTTP bench on a server, and patients with observations in batches. */
export const CONTENT_REQUESTS: readonly BenchRequest[] = [
  ...[...largeCodeSystem(), largeMap(), PATIENT, BOT, MEASURE].map((resource) => put(resource)),
  ...Array.from({ length: RESOURCES / BATCH }, (_, at) => batch(at * BATCH)),
]

function put(resource: JsonObject): BenchRequest {
  const path = `/fhir/R4/${addressOf(resource)}`
  return { name: path, method: 'PUT', path, headers: HEADERS, body: JSON.stringify(resource) }
}

function batch(from: number): BenchRequest {
  const entry = Array.from({ length: BATCH }, (_, at) => {
    const resource = clinicalResource(from + at)
    return { resource, request: { method: 'PUT', url: addressOf(resource) } }
  })
  return {
    name: 'batch',
    method: 'POST',
    path: '/fhir/R4',
    headers: HEADERS,
    body: JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry }),
  }
}

function addressOf(resource: JsonObject): string {
  return `${stringAt(resource, 'resourceType')}/${stringAt(resource, 'id')}`
}

const entry = Array.from({ length: 20 }, (_, n) => ({
  fullUrl: `http://example.org/fhir/Observation/o${n}`,
  resource: { ...OBSERVATION, id: `o${n}` },
}))

/** Typical requests of applications: those of the HTTP bench, searches, a Bundle to validate, a measure. */
export const WORK_LOAD: readonly BenchRequest[] = [
  ...REQUESTS,
  { name: 'search, page of 20', method: 'GET', path: '/fhir/R4/Observation?code=http://loinc.org%7C7&_count=20', headers: {} },
  { name: 'search, count', method: 'GET', path: '/fhir/R4/Observation?code=http://loinc.org%7C7&status=final&_summary=count', headers: {} },
  {
    name: '$validate, Bundle of 20',
    method: 'POST',
    path: '/fhir/R4/Bundle/$validate',
    headers: HEADERS,
    body: JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry }),
  },
  {
    name: '$evaluate-measure',
    method: 'GET',
    path: '/fhir/R4/Measure/bench/$evaluate-measure?periodStart=2016-01-01&periodEnd=2026-12-31',
    headers: {},
  },
]

const MIB = 1024 * 1024
const ALL = encodeURIComponent('http://example.org/bench/all')

/** Requests that are designed to take as much memory as possible: long or deep bodies, whole expansions, large pages, greedy bots. */
export const HOSTILE_REQUESTS: readonly BenchRequest[] = [
  post('a body of many members', '/Patient/$validate', {
    resourceType: 'Patient',
    extension: Array.from({ length: 40_000 }, (_, n) => ({ url: `urn:${n}` })),
  }),
  post('a long text', '/Patient/$validate', { resourceType: 'Patient', text: { status: 'generated', div: 'x'.repeat(3 * MIB) } }),
  post('a deep body', '/Parameters/$validate', deep(45)),
  { name: 'whole expansions', method: 'GET', path: `/fhir/R4/ValueSet/$expand?url=${ALL}`, headers: {} },
  { name: 'filtered expansions', method: 'GET', path: `/fhir/R4/ValueSet/$expand?url=${ALL}&filter=a&count=50000`, headers: {} },
  { name: 'the longest page', method: 'GET', path: '/fhir/R4/Patient?_count=1000&_include=*&_revinclude=Observation:subject', headers: {} },
  { name: 'all that there is', method: 'GET', path: '/fhir/R4?_type=Patient,Observation,CodeSystem,ConceptMap&_count=1000', headers: {} },
  { name: 'a large resource', method: 'GET', path: '/fhir/R4/CodeSystem/large', headers: {} },
  { name: 'a large resource, laid out', method: 'GET', path: '/fhir/R4/ConceptMap/large?_pretty=true', headers: {} },
  post('a bundle of reads', '', {
    resourceType: 'Bundle',
    type: 'batch',
    entry: Array.from({ length: 200 }, () => ({ request: { method: 'GET', url: 'Observation?_count=100' } })),
  }),
  post('a system with the request', '/CodeSystem/$lookup', {
    resourceType: 'Parameters',
    parameter: [
      { name: 'code', valueCode: 'c1' },
      { name: 'system', valueUri: 'urn:own' },
      {
        name: 'tx-resource',
        resource: {
          resourceType: 'CodeSystem',
          url: 'urn:own',
          status: 'active',
          content: 'complete',
          concept: Array.from({ length: 30_000 }, (_, n) => ({ code: `c${n}`, display: `Concept ${n}` })),
        },
      },
    ],
  }),
  {
    name: 'a bot of a long input',
    method: 'POST',
    path: `/fhir/R4/Bot/${String(BOT['id'])}/$execute`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'x'.repeat(2 * MIB) }),
  },
]

function post(name: string, path: string, resource: object): BenchRequest {
  return { name, method: 'POST', path: `/fhir/R4${path}`, headers: HEADERS, body: JSON.stringify(resource) }
}

function deep(levels: number): object {
  let part: object[] = Array.from({ length: 20_000 }, (_, n) => ({ name: `n${n}`, valueString: 'x' }))
  for (let level = 0; level < levels; level++) part = [{ name: 'part', part }]
  return { resourceType: 'Parameters', parameter: part }
}
