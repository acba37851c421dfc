import { cqlLanguage, cqlOperations } from '@fhir-ops/cql'
import type { openWorkerTranslator as Open } from '@fhir-ops/cql/node'
import { createHandler, OPERATIONS, type Handler } from '@fhir-ops/handler'
import { createMcpHandler } from '@fhir-ops/mcp'
import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { measureOperations } from 'fhir-ops/evaluate'
import { createBots, type BotEvent } from 'fhir-ops/execute'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile } from '../../../../test/built.js'
import { leastStretch, MAX_HEAP, MAX_STRETCH_MS, measuredWork } from '../../../../test/measured-work.js'

// The worst requests to what the handler does not have by itself; those to its own routes are beside it.

const BASE = 'http://x'
const MIB = 1024 * 1024
const MAX_ANSWER = 4 * MIB
/** A body that is as long as bodies may be. */
const BODY = 4 * MIB - 1_000

let handler: Handler
let mcp: (request: Request) => Promise<Response>
let translator: ReturnType<typeof Open>
let token = ''

const json = (value: unknown): string => JSON.stringify(value)
const system = 'http://w.example/cs'
const codes = Array.from({ length: 20_000 }, (_, n) => ({ code: `c${n}`, display: `Concept number ${n}` }))
const filled = (start: string, item: string, end: string): string =>
  start + Array.from({ length: Math.floor((BODY - start.length - end.length) / (item.length + 1)) }, () => item).join(',') + end
const repeated = (start: string, item: string, count: number, end: string): string =>
  start + Array.from({ length: count }, () => item).join(',') + end
const longPatient = filled(
  '{"resourceType":"Patient","id":"long","name":[',
  '{"family":"Mustermann-Beispiel, an example of a long name","given":["Adelheid"]}',
  ']}',
)
const largestOutcome = (count: number): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'x' },
  component: Array.from({ length: count }, () => ({ code: { coding: [{ system, code: 'c1' }] }, valueInteger: 1.5, valueString: '' })),
})

const CQL = `library Heavy version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
context Patient
define Rows: expand Interval[1, 15000] per 1
define Sums: Sum(Rows R where R mod 7 = 3 return all R * 2 + 1)
define Pairs: Count(from Rows A, Rows B where A = B return all A)
define Lists: Rows R return all Tuple { number: R, text: ToString(R) + ' is a number' }
define Grown: exists ([Observation] O where O.value as FHIR.Quantity > 3 'mg')
`

const CRITERIA = ['exists (Heavy.Rows R where R = 14999)', 'Heavy.Sums > 3', 'Heavy.Grown']

const STORED: readonly object[] = [
  { resourceType: 'CodeSystem', id: 'cs', url: system, status: 'active', content: 'complete', concept: [{ code: 'root', concept: codes }] },
  { resourceType: 'ValueSet', id: 'vs', url: 'http://w.example/vs', status: 'active', compose: { include: [{ system }] } },
  {
    resourceType: 'ConceptMap',
    id: 'cm',
    url: 'http://w.example/cm',
    status: 'active',
    group: [
      { source: system, target: 'urn:t', element: [{ code: 'c1', target: codes.map((code) => ({ ...code, equivalence: 'equal' })) }] },
    ],
  },
  {
    resourceType: 'Library',
    id: 'heavy',
    url: 'http://w.example/Library/Heavy',
    name: 'Heavy',
    version: '1',
    status: 'active',
    type: { coding: [{ code: 'logic-library' }] },
    content: [{ contentType: 'text/cql', data: btoa(CQL) }],
  },
  {
    resourceType: 'Measure',
    id: 'heavy',
    status: 'active',
    library: ['http://w.example/Library/Heavy'],
    scoring: { coding: [{ code: 'cohort' }] },
    group: Array.from({ length: 30 }, (_, n) => ({
      population: [
        {
          code: { coding: [{ code: 'initial-population' }] },
          criteria: { language: 'text/cql-expression', expression: CRITERIA[n % CRITERIA.length] },
        },
      ],
    })),
  },
  {
    resourceType: 'StructureDefinition',
    id: 'sliced',
    url: 'http://w.example/sliced',
    name: 'Sliced',
    status: 'draft',
    kind: 'resource',
    abstract: false,
    type: 'Patient',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
    derivation: 'constraint',
    differential: {
      element: [
        {
          id: 'Patient.identifier',
          path: 'Patient.identifier',
          slicing: { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' },
        },
        ...Array.from({ length: 1_000 }, (_, n) => [
          { id: `Patient.identifier:s${n}`, path: 'Patient.identifier', sliceName: `s${n}`, max: '1' },
          { id: `Patient.identifier:s${n}.system`, path: 'Patient.identifier.system', min: 1, fixedUri: `urn:s${n}` },
        ]).flat(),
      ],
    },
  },
  JSON.parse(longPatient),
  ...Array.from({ length: 200 }, (_, n) => ({
    resourceType: 'Patient',
    id: `p${n}`,
    birthDate: '1980-01-01',
    contact: Array.from({ length: 300 }, () => ({ name: { family: 'Mustermann "Beispiel"' } })),
  })),
]

beforeAll(async () => {
  // The build, since a thread needs a file.
  const { openWorkerTranslator }: { readonly openWorkerTranslator: typeof Open } = await import(
    builtFile('packages/cql/dist/node/index.js')
  )
  const { indexer, types, ...release } = r4()
  translator = openWorkerTranslator({ model: types })
  const measures = measureOperations({ languages: [cqlLanguage({ translator })] })
  const others = OPERATIONS.filter(({ name }) => !measures.some((measure) => measure.name === name))
  const context = createContext({
    storage: memoryStorage(STORED, { indexer }),
    types,
    ...release,
    limits: { operationTimeoutMs: 20_000 },
  })
  const sessions = createSessions({ store: memorySessionStore() })
  const bots = createBots({
    hostBots: [
      { id: 'same', run: ({ input }: BotEvent) => input },
      { id: 'long', run: () => ({ text: '"'.repeat(3 * MIB) }) },
    ],
  })
  handler = createHandler({
    context,
    sessions,
    indexer,
    bots,
    baseUrl: BASE,
    defaultPolicy: 'deny',
    operations: [...others, ...measures, ...cqlOperations({ translator })],
  })
  mcp = createMcpHandler({ handler, context, baseUrl: BASE })
  const scopes = ['openid', 'system/*.cruds', 'system/Bot.cruds']
  token = (await sessions.create({ user: 'ann', scopes })).token
})
afterAll(() => translator.close())

interface Sent {
  readonly method?: string
  /** Path and query. */
  readonly url: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Served {
  readonly status: number
  readonly bytes: number
  readonly headers: Headers
  /** The beginning of the answer. */
  readonly start: string
}

const FHIR = { 'content-type': 'application/fhir+json' }
const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Serves one request to the end of its answer. */
async function served({ method, url, body, headers = FHIR }: Sent): Promise<Served> {
  const request = new Request(`${BASE}${url}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body !== undefined && { body }),
  })
  const answer = await (url === '/mcp' ? mcp(request) : handler(request))
  const bytes = new Uint8Array(await answer.arrayBuffer())
  return { status: answer.status, bytes: bytes.length, headers: answer.headers, start: new TextDecoder().decode(bytes.subarray(0, 300)) }
}

/** Serves a request asynchronously, to the end of its result. */
async function servedLater(sent: Sent): Promise<Served> {
  const begun = await served({ ...sent, headers: { ...sent.headers, ...FHIR, prefer: 'respond-async' } })
  expect([begun.status, begun.start]).toEqual([202, ''])
  const url = (begun.headers.get('content-location') ?? '').slice(BASE.length)
  for (;;) {
    const answer = await served({ url })
    if (answer.status !== 202) {
      await served({ method: 'DELETE', url })
      return answer
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const parameters = (...parameter: readonly object[]): string => json({ resourceType: 'Parameters', parameter })
const expression = (text: string, ...more: readonly object[]): Sent => ({
  url: '/fhir/R4/$cql',
  body: parameters({ name: 'expression', valueString: text }, ...more),
})
const message = (method: string, params: unknown): string => json({ jsonrpc: '2.0', id: 1, method, params })
const asked = (method: string, params: object): Sent => ({ url: '/mcp', body: message(method, params), headers: MCP })
const tool = (name: string, input: object): Sent => asked('tools/call', { name, arguments: input })
/** A message whose members at the mark are these. */
const holding = (start: object, item: (n: number) => string, count: number): Sent => ({
  url: '/mcp',
  headers: MCP,
  body: json(start).replace('"here":0', () => Array.from({ length: count }, (_, n) => item(n)).join(',')),
})
const call = (input: object, name = 'lookup'): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: input },
})

const data = {
  name: 'data',
  resource: {
    resourceType: 'Bundle',
    type: 'collection',
    entry: [
      { resource: { resourceType: 'Patient', id: 'p1' } },
      ...Array.from({ length: 10_000 }, (_, n) => ({
        resource: {
          resourceType: 'Observation',
          id: `o${n}`,
          status: 'final',
          code: { text: 'x' },
          subject: { reference: 'Patient/p1' },
          valueQuantity: { value: n, code: 'mg' },
        },
      })),
    ],
  },
}
/** An operator twelve times on each of many rows. */
const dense = (operator: string): Sent =>
  expression(`Count((expand Interval[1, 30000] per 1) N return all { ${Array.from({ length: 12 }, () => operator).join(', ')} })`)
const amount = (value: string, unit: string): string => `System.Quantity { value: ${value}, unit: ${unit} }`
const sums = repeated('', '1', 20_000, '').replaceAll(',', ' + ')

const WORST: Readonly<Record<string, readonly Sent[]>> = {
  $cql: [
    expression('Count(expand Interval[1, 50000] per 1)'),
    expression('expand Interval[1, 90000] per 1'),
    expression("(expand Interval[1, 30000] per 1) N return all Tuple { number: N, text: ToString(N) + ' is a number' }"),
    expression('Count(from (expand Interval[1, 30000] per 1) A, (expand Interval[1, 30000] per 1) B where A = B return all A)'),
    expression('Count(distinct ((expand Interval[1, 30000] per 1) N return all N * 1.5))'),
    expression("Count([Observation] O where O.value as FHIR.Quantity > 3 'mg')", { name: 'subject', valueString: 'Patient/p1' }, data),
    expression('Sum(expand Interval[1, 9000] per 1)', { name: '_explain', valueBoolean: true }),
    expression(`${'('.repeat(400)}1${')'.repeat(400)}`),
    expression(sums),
    expression(`{ ${repeated('', "'a text'", 30_000, '')} }`),
    expression(`'${'x'.repeat(400_000)}'`),
    dense('N + 1 month'),
    dense('Power(1.001, N mod 100)'),
    dense('N * 1234567890123.12345678 * 3.3'),
    dense('N / 7 ~ N / 11'),
    dense('successor of DateTime(2000 + N mod 100, 1, 1)'),
    dense("ToRatio(ToString(N) + ':128')"),
    dense(`${amount('N / 7', "'mg'")} - ${amount('N / 11', "'kg'")}`),
    dense(`${amount('1.0', "'m' + ToString(N)")} < 1 'g'`),
    dense("ReplaceMatches(ToString(N), '(1)([0-9])', '$2$1')"),
    expression(`Count(expand Interval[1, 9] per 1)`, ...Array.from({ length: 20_000 }, () => ({ name: 'x', valueString: 'y' }))),
  ],
  $evaluate: [
    { url: '/fhir/R4/Library/heavy/$evaluate?subject=Patient/p1' },
    { url: '/fhir/R4/Library/heavy/$evaluate?subject=Patient/p1&expression=Lists&_explain=true' },
  ],
  '$evaluate-measure': [
    { url: '/fhir/R4/Measure/heavy/$evaluate-measure?periodStart=2020&periodEnd=2021' },
    { url: '/fhir/R4/Measure/heavy/$evaluate-measure?periodStart=2020&periodEnd=2021&subject=Patient/p1&_explain=true' },
  ],
  'tools/list': [
    asked('tools/list', {}),
    holding({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { here: 0 } }, (n) => `"m${n}":1`, 150_000),
  ],
  'tools/call, members': [
    holding(call({ here: 0 }), (n) => `"m${n}":1`, 150_000),
    holding(call({ id: 'same', input: { here: 0 } }, 'execute_bot'), (n) => `"m${n}":1`, 150_000),
    holding(call({ code: 'x', system: [{ here: 0 }] }), (n) => `"m${n}":{}`, 150_000),
    holding({ ...call({}), here: 0 }, (n) => `"m${n}":1`, 150_000),
    holding(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'lookup', arguments: {}, _meta: { here: 0 } } },
      (n) => `"m${n}":1`,
      150_000,
    ),
    tool('x'.repeat(900_000), {}),
  ],
  expand: [tool('expand', { url: 'http://w.example/vs', count: 200, filter: 'concept' }), tool('expand', { url: 'x'.repeat(900_000) })],
  lookup: [tool('lookup', { system, code: 'root' }), tool('lookup', { system, code: 'x'.repeat(900_000) })],
  validate_code: [tool('validate_code', { system, code: 'c1', valueSet: 'http://w.example/vs' })],
  subsumes: [tool('subsumes', { system, codeA: 'root', codeB: 'c9' })],
  translate: [tool('translate', { system, code: 'c1', url: 'http://w.example/cm' })],
  validate: [tool('validate', { resource: JSON.parse(longPatient) }), tool('validate', { resource: largestOutcome(10_000) })],
  read: [
    tool('read', { type: 'Patient', id: 'long' }),
    tool('read', { type: 'CodeSystem', id: 'cs' }),
    asked('resources/read', { uri: 'fhir:///Patient/long' }),
  ],
  search: [
    tool('search', { type: 'Patient', count: 200 }),
    tool('search', { type: 'Patient', next: '_count=1000' }),
    tool('search', { type: 'StructureDefinition', next: '_count=1000' }),
    asked('resources/list', {}),
    asked('resources/list', { cursor: 'StructureDefinition?_count=1000' }),
  ],
  evaluate_measure: [tool('evaluate_measure', { id: 'heavy', periodStart: '2020-01-01', periodEnd: '2020-12-31' })],
  execute_bot: [tool('execute_bot', { id: 'long', input: {} }), tool('execute_bot', { id: 'same', input: JSON.parse(longPatient) })],
  json_schema: [tool('json_schema', { url: 'Patient' }), tool('json_schema', { url: 'http://w.example/sliced' })],
  'prompts/get': [asked('prompts/get', { name: 'fix_resource', arguments: { resource: 'x'.repeat(900_000) } })],
}

describe('the worst request that the limits let through', () => {
  it('is stated for every tool', async () => {
    const { tools } = JSON.parse(
      await (
        await mcp(
          new Request(`${BASE}/mcp`, {
            method: 'POST',
            headers: { ...MCP, authorization: `Bearer ${token}` },
            body: message('tools/list', {}),
          }),
        )
      ).text(),
    ).result
    const names: readonly string[] = tools.map(({ name }: { readonly name: string }) => name)
    expect(names.filter((name) => !(name in WORST))).toEqual([])
  })

  const rows = Object.entries(WORST).flatMap(([kind, requests]) => requests.map((sent, n) => [`${kind} ${n + 1}`, sent, served] as const))
  const later = ['$cql', '$evaluate', '$evaluate-measure'].flatMap((kind) =>
    (WORST[kind] ?? []).map((sent, n) => [`${kind} ${n + 1}, later`, sent, servedLater] as const),
  )
  it.each([...rows, ...later])('%s', async (_, sent, serve) => {
    await serve(sent)
    const work = (): Promise<Served> => serve(sent)
    const { result, heap, stretchMs } = await measuredWork(work)
    const { status, bytes } = result
    expect([200, 400, 404, 422]).toContain(status)
    expect(bytes).toBeLessThanOrEqual(MAX_ANSWER + 1_000)
    expect(heap).toBeLessThan(MAX_HEAP)
    expect(await leastStretch(work, stretchMs)).toBeLessThan(MAX_STRETCH_MS)
  })
})
