import { createHandler, type Handler } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { createBots, type BotEvent } from 'fhir-ops/execute'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { simplerText, type FuzzTarget } from './fuzz.js'
import { changed, ODD, type Random } from './random.js'

/** A request; `body` as text. */
interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly query: readonly (readonly [string, string])[]
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

const BASE = 'http://fhir.example.org'

const RESOURCES = [
  { resourceType: 'Patient', id: 'x', name: [{ family: 'Lovell' }], gender: 'female', birthDate: '1980-12-10' },
  { resourceType: 'Observation', id: 'x', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/x' } },
  {
    resourceType: 'CodeSystem',
    id: 'x',
    url: 'http://x/cs',
    status: 'active',
    content: 'complete',
    caseSensitive: true,
    concept: [{ code: 'a', display: 'A', concept: [{ code: 'b' }] }, { code: 'c' }],
  },
  { resourceType: 'ValueSet', id: 'x', url: 'http://x/vs', status: 'active', compose: { include: [{ system: 'http://x/cs' }] } },
  {
    resourceType: 'ConceptMap',
    id: 'x',
    url: 'http://x/cm',
    status: 'active',
    group: [{ source: 'http://x/cs', target: 'http://x/cs', element: [{ code: 'a', target: [{ code: 'c', equivalence: 'equivalent' }] }] }],
  },
  {
    resourceType: 'Measure',
    id: 'x',
    url: 'http://x/m',
    status: 'active',
    group: [
      {
        population: [
          {
            code: { coding: [{ code: 'initial-population' }] },
            criteria: { language: 'application/x-fhir-query', expression: 'Patient?gender=female' },
          },
        ],
      },
    ],
  },
]

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']
const TYPES = ['Patient', 'Observation', 'CodeSystem', 'ValueSet', 'ConceptMap', 'Measure', 'Bot', 'Bundle', 'Basic', 'Nothing']
const OPERATIONS =
  '$translate $expand $lookup $validate-code $batch-validate-code $subsumes $closure $compare $validate $evaluate-measure $execute $nothing'.split(
    ' ',
  )
const NAMES =
  'url code system coding identifier filter count offset _count _sort _format _pretty _id _lastUpdated _include _revinclude _has:Observation:subject:code _total _elements _summary _contained name name:exact birthdate gender:not subject subject:Patient.name value-quantity near _filter _text _cursor codeA codeB thisUrl otherUrl valueSet property displayLanguage periodStart periodEnd reportType mode profile version tx-resource _explain resource input'.split(
    ' ',
  )
const VALUES =
  'http://x/cs http://x/vs http://x/vs|1 http://x/cm a b zz 1 -1 0 999999999999 gt2020 2020-02-30 2020-01-01T00:00:00Z Patient/x Patient:subject * $ , | a|b |a \\, true json xml name,-birthdate eq5.4|http://x|mg male female x'.split(
    ' ',
  )
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  accept: ['application/fhir+json', 'application/json', 'text/html', '*/*', 'application/fhir+xml', 'x;q=2', 'application/x-ndjson', ''],
  'content-type': [
    'application/fhir+json',
    'application/fhir+json',
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'x-application/hl7-v2+er7',
    '',
  ],
  'if-match': ['W/"1"', '"1"', '*', 'x'],
  'if-none-exist': ['name=x', 'identifier=a|b', '%'],
  'if-modified-since': ['Wed, 21 Oct 2026 07:28:00 GMT', 'x'],
  prefer: ['return=minimal', 'respond-async', 'handling=strict', 'x=y'],
  authorization: ['Bearer x', 'Basic x', 'DPoP x', 'Bearer'],
  'x-forwarded-for': ['::1', 'x'],
  origin: ['http://x'],
}

/** Random requests to the whole service over memory, without a socket. Resources that earlier requests wrote stay for a while. */
export function requestTarget(): FuzzTarget<FuzzRequest> {
  let [handler, age] = [serviceHandler(), 0]
  return {
    name: 'requests',
    input: requestOf,
    simpler: simplerRequests,
    async take({ method, path, query, headers, body }) {
      // A new service, so that the growth of the heap shows leaks and not stored resources.
      if (++age % 2_000 === 0) handler = serviceHandler()
      const search = query.map((pair) => pair.map(encoded).join('=')).join('&')
      const request = new Request(`${BASE}${path}${search === '' ? '' : `?${search}`}`, {
        method,
        headers: headers.map(([name, value]) => [name, value]),
        ...(method !== 'GET' && method !== 'HEAD' && { body }),
      })
      const response = await handler(request)
      const text = await response.text()
      if (response.status === 500 || /"severity":"(?:error|fatal)","code":"exception"/.test(text))
        throw new Error(`status ${response.status}: ${text.slice(0, 500)}`)
    },
    // Not every text is a valid header or address; the platform rejects the others before there is a request.
    isForeseen: (error) => error instanceof TypeError && /Headers|Invalid URL|Failed to parse URL|HTTP method/.test(error.message),
  }
}

function serviceHandler(): Handler {
  const { indexer, ...release } = r4()
  return createHandler({
    context: createContext({ storage: memoryStorage(RESOURCES, { indexer }), ...release }),
    sessions: createSessions({ store: memorySessionStore() }),
    indexer,
    bots: createBots({ hostBots: [{ id: 'echo', run: (event: BotEvent) => event.input }] }),
    baseUrl: BASE,
    auth: 'off',
    defaultPolicy: 'allow-authenticated',
  })
}

/** Encodes a text, with lone surrogates replaced, because they cannot be encoded. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function requestOf(random: Random): FuzzRequest {
  return {
    method: random.one(METHODS),
    path: pathOf(random),
    query: random.some(
      random.seldom(30) ? 60 : 3,
      () => [random.one(NAMES), random.seldom(6) ? random.one(ODD) : random.one(VALUES)] as const,
    ),
    headers: [...headerOf(random, 'content-type'), ...random.some(2, () => headerOf(random, random.one(Object.keys(HEADERS)))).flat()],
    body: bodyOf(random, 2),
  }
}

function headerOf(random: Random, name: string): readonly (readonly [string, string])[] {
  return [[name, random.one(HEADERS[name] ?? [''])]]
}

function pathOf(random: Random): string {
  const type = random.one(TYPES)
  const operation = random.one(OPERATIONS)
  const [path] = [
    random.one([
      '',
      `/${type}`,
      `/${type}/x`,
      `/${type}/${operation}`,
      `/${type}/x/${operation}`,
      `/${operation}`,
      `/${type}/x/_history`,
      `/${type}/_search`,
      `/${type}/x/_history/1`,
      '/Patient/x/Observation',
      '/metadata',
      '/_history',
      '/Bot/echo/$execute',
    ]),
  ]
  if (random.seldom(30))
    return random.one([
      '/auth/me',
      '/oauth2/userinfo',
      '/oauth2/logout',
      '/auth/revoke',
      '/healthz',
      '/readyz',
      '/.well-known/smart-configuration',
      '//',
      '/%',
    ])
  return `/fhir/R4${random.seldom(20) ? encodeURI(changed(random, path, ['/', '..', '$', '%2f']).toWellFormed()) : path}`
}

function bodyOf(random: Random, depth: number): string {
  const kind = random.whole(10)
  if (kind === 0) return random.one(ODD)
  if (kind === 1) return 'a=b&name=x&_count=1'
  const text = JSON.stringify(kind < 5 ? parametersOf(random) : kind < 7 && depth > 0 ? bundleOf(random, depth) : random.one(RESOURCES))
  return random.seldom(3)
    ? changed(random, text, ['"', '{', '}', '[', ']', ',', ':', 'null', '1', '"resourceType"', '"extension":[{"url":"u"}],'])
    : text
}

function parametersOf(random: Random): object {
  const one = (): object => {
    const value = random.seldom(6) ? random.one(ODD) : random.one(VALUES)
    return random.one([
      { name: random.one(NAMES), valueString: value },
      { name: random.one(NAMES), valueUri: value },
      { name: random.one(NAMES), valueCode: value },
      { name: 'coding', valueCoding: { system: 'http://x/cs', code: value } },
      { name: random.one(['valueSet', 'resource', 'tx-resource', 'codeSystem', 'conceptMap']), resource: random.one(RESOURCES) },
    ])
  }
  return { resourceType: 'Parameters', parameter: random.some(5, one) }
}

function bundleOf(random: Random, depth: number): object {
  const entry = (): object => {
    const { method, path, query } = requestOf(random)
    const url = `${path.replace('/fhir/R4/', '')}?${query.map((pair) => pair.map(encoded).join('=')).join('&')}`
    const resource: unknown = random.seldom(2) ? random.one(RESOURCES) : nested(random, depth)
    return { fullUrl: random.one(['urn:uuid:1b2', 'http://x/Patient/x']), resource, request: { method, url } }
  }
  return { resourceType: 'Bundle', type: random.one(['batch', 'transaction', 'document', 'x']), entry: random.some(6, entry) }
}

function nested(random: Random, depth: number): unknown {
  try {
    return JSON.parse(bodyOf(random, depth - 1))
  } catch {
    return undefined
  }
}

function* simplerRequests(request: FuzzRequest): Generator<FuzzRequest> {
  for (const index of request.headers.keys()) yield { ...request, headers: request.headers.toSpliced(index, 1) }
  for (const index of request.query.keys()) yield { ...request, query: request.query.toSpliced(index, 1) }
  if (request.body !== '') for (const body of simplerText(request.body)) yield { ...request, body }
}
