import type { Request } from 'autocannon'
import { LARGE_SYSTEM, PATIENT } from '../content/content.js'

/** A request that is sent repeatedly. */
export interface BenchRequest {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** A code in path or body that each request replaces by another one. If absent, all requests are the same. */
  readonly varies?: string
}

const FHIR_JSON = { 'content-type': 'application/fhir+json' }
const parameters = (...parameter: readonly object[]): string => JSON.stringify({ resourceType: 'Parameters', parameter })
const ALL = encodeURIComponent('http://example.org/bench/all')

const CODE = 'c77777'
const SYSTEM = encodeURIComponent(LARGE_SYSTEM)
const TRANSLATE = {
  method: 'POST',
  path: '/fhir/R4/ConceptMap/$translate',
  headers: FHIR_JSON,
  body: parameters(
    { name: 'url', valueUri: 'http://example.org/bench/map' },
    { name: 'system', valueUri: LARGE_SYSTEM },
    { name: 'code', valueCode: CODE },
  ),
} as const
const VALIDATE_CODE = {
  method: 'GET',
  path: `/fhir/R4/ValueSet/$validate-code?url=${ALL}&system=${SYSTEM}&code=${CODE}`,
  headers: {},
} as const
const PAGE = { method: 'GET', path: `/fhir/R4/ValueSet/$expand?url=${ALL}&count=20&offset=77777`, headers: {} } as const

/** The operations, as applications call them. */
export const REQUESTS: readonly BenchRequest[] = [
  { name: '$translate, map of 100,000 elements', ...TRANSLATE, varies: CODE },
  { name: '$translate, asked again', ...TRANSLATE },
  { name: '$expand, page of 20', ...PAGE, varies: '77777' },
  { name: '$expand, page of 20, asked again', ...PAGE },
  {
    name: '$expand, filter, page of 20, asked again',
    method: 'GET',
    path: `/fhir/R4/ValueSet/$expand?url=${ALL}&filter=frac&count=20`,
    headers: {},
  },
  { name: '$expand, all 100,000', method: 'GET', path: `/fhir/R4/ValueSet/$expand?url=${ALL}`, headers: {} },
  { name: '$validate-code', ...VALIDATE_CODE, varies: CODE },
  { name: '$validate-code, asked again', ...VALIDATE_CODE },
  { name: 'read, Patient', method: 'GET', path: '/fhir/R4/Patient/p', headers: {} },
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

/** The request for autocannon, each time with another code if its codes vary. */
export function sentRequest({ path, method, headers, body, varies }: BenchRequest): Request {
  const sent = { path, method, headers: { ...headers }, ...(body !== undefined && { body }) }
  if (varies === undefined) return sent
  let count = 0
  const other = (text: string): string => text.replace(varies, varies.replace(/\d+/, '') + String(10_000 + (count % 80_000)))
  const setupRequest = (before: Request): Request => {
    count += 1
    return { ...before, path: other(path), ...(body !== undefined && { body: other(body) }) }
  }
  return { ...sent, setupRequest }
}
