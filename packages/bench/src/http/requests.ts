import { LARGE_SYSTEM, PATIENT } from '../content/content.js'

/** One request that is sent again and again. */
export interface BenchRequest {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const FHIR_JSON = { 'content-type': 'application/fhir+json' }
const parameters = (...parameter: readonly object[]): string => JSON.stringify({ resourceType: 'Parameters', parameter })
const ALL = encodeURIComponent('http://example.org/bench/all')

/** The operations, as applications call them. */
export const REQUESTS: readonly BenchRequest[] = [
  {
    name: '$translate, map of 100,000 elements',
    method: 'POST',
    path: '/fhir/R4/ConceptMap/$translate',
    headers: FHIR_JSON,
    body: parameters(
      { name: 'url', valueUri: 'http://example.org/bench/map' },
      { name: 'system', valueUri: LARGE_SYSTEM },
      { name: 'code', valueCode: 'c77777' },
    ),
  },
  { name: '$expand, count=20', method: 'GET', path: `/fhir/R4/ValueSet/$expand?url=${ALL}&count=20`, headers: {} },
  { name: '$expand, filter, count=20', method: 'GET', path: `/fhir/R4/ValueSet/$expand?url=${ALL}&filter=frac&count=20`, headers: {} },
  {
    name: '$validate, Patient',
    method: 'POST',
    path: '/fhir/R4/Patient/$validate',
    headers: FHIR_JSON,
    body: JSON.stringify(PATIENT),
  },
  {
    name: '$execute, stored bot',
    method: 'POST',
    path: '/fhir/R4/Bot/echo/$execute',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  },
]
