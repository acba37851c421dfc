import { createContext } from 'fhir-ops/context'
import { createBots, type BotEvent } from 'fhir-ops/execute'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { r4 } from '@fhir-ops/r4'
import { beforeAll, describe, expect, it } from 'vitest'
import { createHandler, type Answer, type Handler, type HttpRequest, type RouteDescription } from '../src/index.js'
import { leastStretch, MAX_HEAP, MAX_STRETCH_MS, measuredWork } from '../../../test/measured-work.js'
import { FULL_SCOPES, USER } from './running-server.js'

const MIB = 1024 * 1024
/** Most bytes of an answer here. */
const MAX_ANSWER = 4 * MIB
let handler: Handler
let token = ''

const codes = Array.from({ length: 20_000 }, (_, n) => ({ code: `c${n}`, display: `Concept number ${n}` }))
const system = 'http://w.example/cs'
const json = (value: object): string => JSON.stringify(value)
const tree = 'http://w.example/tree'
const parents = codes.map(({ code }, n) => ({ code, ...(n > 0 && { property: [{ code: 'parent', valueCode: `c${n >> 1}` }] }) }))
const wide = `"language":"${'w'.repeat(20_000)}"`
const nested = `"extension":${'[{"url":"u","extension":'.repeat(45)}[${'1234567890,'.repeat(190_000)}1]${'}]'.repeat(45)}`

const measured = `"component":${json(
  Array.from({ length: 1_000 }, (_, n) => ({ code: { coding: [{ system, code: `c${n}` }] }, valueQuantity: { value: n, unit: 'mg' } })),
)}`

const STORED: readonly (readonly [type: string, id: string, text: string])[] = [
  ['CodeSystem', 'cs', `"url":"${system}","status":"active","content":"complete","concept":[{"code":"root","concept":${json(codes)}}]`],
  ['CodeSystem', 'tree', `"url":"${tree}","status":"active","content":"complete","hierarchyMeaning":"is-a","concept":${json(parents)}`],
  ['ValueSet', 'vs', `"url":"http://w.example/vs","status":"active","compose":{"include":[{"system":"${system}"}]}`],
  [
    'ConceptMap',
    'cm',
    `"url":"http://w.example/cm","status":"active","group":[{"source":"${system}","target":"urn:t","element":[{"code":"c1","target":${json(
      codes.map(({ code, display }) => ({ code, display, equivalence: 'equal' })),
    )}}]}]`,
  ],
  [
    'Measure',
    'm',
    `"url":"http://w.example/m","status":"active","group":${json(
      Array.from({ length: 100 }, () => ({
        population: Array.from({ length: 5 }, (_, n) => ({
          code: { coding: [{ code: 'measure-population' }] },
          criteria: { language: 'application/x-fhir-query', expression: `Patient?_id:not=p${n}` },
        })),
      })),
    )}`,
  ],
  ['Basic', 'nested', nested],
  ...Array.from(
    { length: 1_000 },
    (_, n) => ['Organization', `r${n}`, `"partOf":{"reference":"Organization/r${(n + 1) % 1_000}"}`] as const,
  ),
  ...Array.from({ length: 60 }, (_, n) => ['Observation', `w${n}`, measured] as const),
  ...Array.from({ length: 1_000 }, (_, n) => ['Patient', `p${n}`, `"generalPractitioner":[{"reference":"Basic/nested"}],${wide}`] as const),
]

beforeAll(async () => {
  const storage = memoryStorage()
  const sessions = createSessions({ store: memorySessionStore() })
  const bots = createBots({ hostBots: [{ id: 'long', run: ({ input }: BotEvent) => ({ input, text: 'x'.repeat(3 * MIB) }) }] })
  const context = createContext({ storage, ...r4(), limits: { maxAnswerBytes: MAX_ANSWER } })
  const verifier = { claims: () => true, verify: async () => ({ issuer: 'http://i', sub: USER.sub }) }
  handler = createHandler({
    context,
    sessions,
    bots,
    baseUrl: 'http://x',
    defaultPolicy: 'deny',
    logoutTokens: [verifier],
    validateWrites: 'none',
  })
  for (let n = 0; n < 1_000; n++) ({ token } = await sessions.create({ user: USER, scopes: FULL_SCOPES }))
  for (const [type, id, text] of [...STORED, ...PROFILES]) {
    const { status } = await send({ method: 'PUT', url: `/fhir/R4/${type}/${id}`, body: `{"resourceType":"${type}","id":"${id}",${text}}` })
    expect([id, status]).toEqual([id, 201])
  }
  for (const valueString of ['w', 'tree'])
    await send({ method: 'POST', url: '/fhir/R4/$closure', body: parameters({ name: 'name', valueString }) })
  for (let n = 0; n < 300; n++)
    await send({ method: 'PUT', url: '/fhir/R4/Patient/p0', body: `{"resourceType":"Patient","id":"p0",${wide}}` })
})

interface Sent {
  readonly method?: string
  /** Path and query. */
  readonly url: string
  readonly body?: string
  readonly type?: string
}

function send({ method = 'GET', url, body, type = 'application/fhir+json' }: Sent): Promise<Answer> {
  const headers = new Map([['authorization', `Bearer ${token}`], ...(body === undefined ? [] : [['content-type', type] as const])])
  const request: HttpRequest = {
    method,
    target: url,
    header: (name) => headers.get(name),
    hasBody: body !== undefined,
    async *body() {
      yield new TextEncoder().encode(body)
    },
    signal: undefined,
  }
  return handler.respond(request)
}

interface Served {
  readonly status: number
  readonly bytes: number
  /** The beginning of the answer. */
  readonly start: string
}

/** Serves one request to the end of its answer. */
async function served(sent: Sent): Promise<Served> {
  const { status, body = '', stream, pieces = [body] } = await send(sent)
  let [bytes, start] = [0, '']
  for await (const piece of stream ?? pieces) {
    bytes += Buffer.byteLength(piece)
    if (start === '') start = String(piece).slice(0, 300)
  }
  return { status, bytes, start }
}

/** A body that is as long as bodies may be. */
const BODY = 4 * MIB - 1_000
const filled = (start: string, item: string, end: string): string =>
  start +
  Array<string>(Math.floor((BODY - start.length - end.length) / (item.length + 1)))
    .fill(item)
    .join(',') +
  end
const parameters = (...parameter: readonly object[]): string => json({ resourceType: 'Parameters', parameter })
const codings = (count: number): readonly object[] => codes.slice(0, count).map(({ code }) => ({ system, code }))
/** Parameters that look up a code with supplements of their own, of which some are used. */
const withSupplements = (count: number, used: number): string =>
  parameters(
    ...[`system ${system}`, 'code root', 'property *'].map((pair) => ({ name: pair.split(' ')[0], valueString: pair.split(' ')[1] })),
    ...Array.from({ length: used }, (_, n) => ({ name: 'useSupplement', valueCanonical: `u:${n}` })),
    ...Array.from({ length: count }, (_, n) => ({
      name: 'tx-resource',
      resource: { resourceType: 'CodeSystem', url: `u:${n}`, content: 'supplement', supplements: system },
    })),
  )
/** Parameters that expand a value set of 90 versions of a code system, each by a wildcard, of which there are so many. */
const withVersions = (count: number): string => {
  const include = Array.from({ length: 90 }, (_, n) => ({ system: 'u:c', version: `${n}.x`, concept: [{ code: 'a' }] }))
  const resources = [
    { resourceType: 'ValueSet', url: 'u:v', compose: { include } },
    ...Array.from({ length: count }, (_, n) => ({
      resourceType: 'CodeSystem',
      url: 'u:c',
      version: `${n % 90}.${n}`,
      content: 'complete',
      concept: [{ code: 'a' }],
    })),
  ]
  return parameters({ name: 'url', valueUri: 'u:v' }, ...resources.map((resource) => ({ name: 'tx-resource', resource })))
}
const bundle = (type: string, entry: string, count: number): string =>
  `{"resourceType":"Bundle","type":"${type}","entry":[${Array<string>(count).fill(entry).join(',')}]}`
const form = Array.from({ length: 900 }, (_, n) => `f${n}=${'x'.repeat(4_000)}`).join('&')
const shortForm = form.slice(0, 360_000)
const FORM = 'application/x-www-form-urlencoded'
const longPatient = filled(
  '{"resourceType":"Patient","id":"x","name":[',
  '{"family":"Mustermann-Beispiel","given":["Adelheid","Berta"]}',
  ']}',
)
const slicedProfile = filled(
  '{"resourceType":"StructureDefinition","url":"http://w.example/p","name":"P","status":"draft","kind":"resource","abstract":false,"type":"Patient",' +
    '"baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","derivation":"constraint","differential":{"element":[{"id":"Patient","path":"Patient"},',
  '{"id":"Patient.contact","path":"Patient.contact","min":1}',
  ']}}',
)
/** Steps through a choice of fifty types, as long as an expression may be. */
const longExpression = 'extension.value.'.repeat(490)
const constrainedProfile = filled(
  '{"resourceType":"StructureDefinition","url":"http://w.example/c","name":"P","status":"draft","kind":"resource","abstract":false,"type":"Patient",' +
    '"baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","derivation":"constraint","differential":{"element":[{"id":"Patient","path":"Patient","constraint":[',
  `{"key":"k","severity":"error","human":"x","expression":"${longExpression}id"}`,
  ']}]}}',
)
const profile = (id: string, elements: readonly object[]): readonly [string, string, string] => [
  'StructureDefinition',
  id,
  `"url":"http://w.example/${id}","name":"P","status":"draft","kind":"resource","abstract":false,"type":"Patient",` +
    `"baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","derivation":"constraint","differential":{"element":${json(elements)}}`,
]
const slices = Array.from({ length: 1_000 }, (_, n) => [
  { path: 'Patient.contact', sliceName: `s${n}`, max: '9' },
  { path: 'Patient.contact.name', min: 1, constraint: [{ key: `k${n}`, severity: 'warning', human: 'x', expression: 'text.exists()' }] },
])
const PROFILES = [
  profile('slices', slices.flat()),
  profile(
    'elements',
    Array.from({ length: 25_000 }, (_, n) => ({ id: `Patient.contact.name.x${n}`, path: 'Patient.contact.name.given', min: n % 2 })),
  ),
  profile(
    'paths',
    Array.from({ length: 4_000 }, (_, n) => ({ path: `Patient.contact.x${n}${'.a'.repeat(400)}` })),
  ),
]
const profiles = PROFILES.map(([, id]) => `http://w.example/${id}`)
const contacts = '{"resourceType":"Patient","contact":[{"name":{"family":"Mustermann"}}]}'
const read = '{"request":{"method":"GET","url":"ValueSet/$expand?url=http://w.example/vs"}}'

/** A Group whose members are found by criteria. */
const group = `{"request":{"method":"POST","url":"Group"},"resource":{"resourceType":"Group","member":${json(
  Array.from({ length: 5_000 }, (_, n) => ({ entity: { reference: `Patient?_id=p${n % 1_000}&_id:not=x${n}` } })),
)}}}`

const jsonPatch = (url: string, body: string): Sent => ({ method: 'PATCH', url, body, type: 'application/json-patch+json' })
const pathOperation = (path: string): object => ({
  name: 'operation',
  part: [
    { name: 'type', valueCode: 'delete' },
    { name: 'path', valueString: path },
  ],
})

/** The worst request for each route that its limits let through; several are tried where it is not clear which one is. */
const WORST: Readonly<Record<string, readonly Sent[]>> = {
  'GET /oauth2/userinfo': [{ url: '/oauth2/userinfo' }],
  'POST /oauth2/userinfo': [{ method: 'POST', url: '/oauth2/userinfo', body: form, type: FORM }],
  'POST /oauth2/revoke': [{ method: 'POST', url: '/oauth2/revoke', body: `token=${'x'.repeat(16_000)}`, type: FORM }],
  'GET /.well-known/oauth-protected-resource': [{ url: '/.well-known/oauth-protected-resource' }],
  'GET /auth/me': [{ url: '/auth/me' }],
  'POST /oauth2/backchannel-logout': [{ method: 'POST', url: '/oauth2/backchannel-logout', body: shortForm, type: FORM }],
  'POST $batch-validate-code type': [
    {
      method: 'POST',
      url: '/fhir/R4/ValueSet/$batch-validate-code',
      body: parameters(
        { name: 'url', valueUri: 'http://w.example/vs' },
        ...codings(2_000).map((valueCoding) => ({
          name: 'validation',
          resource: { resourceType: 'Parameters', parameter: [{ name: 'coding', valueCoding }] },
        })),
      ),
    },
  ],
  'POST $closure system': [
    {
      method: 'POST',
      url: '/fhir/R4/$closure',
      body: parameters({ name: 'name', valueString: 'w' }, ...codings(1_000).map((valueCoding) => ({ name: 'concept', valueCoding }))),
    },
    {
      method: 'POST',
      url: '/fhir/R4/$closure',
      body: parameters(
        { name: 'name', valueString: 'tree' },
        ...parents.slice(0, 5_000).map(({ code }) => ({ name: 'concept', valueCoding: { system: tree, code } })),
      ),
    },
  ],
  '$validate-code': [
    { url: `/fhir/R4/ValueSet/$validate-code?url=http://w.example/vs&code=none&system=${system}` },
    {
      method: 'POST',
      url: '/fhir/R4/ValueSet/$validate-code',
      body: parameters(
        { name: 'url', valueUri: 'http://w.example/vs' },
        { name: 'codeableConcept', valueCodeableConcept: { coding: codings(10_000) } },
      ),
    },
    { url: `/fhir/R4/CodeSystem/$validate-code?url=${system}&code=none` },
  ],
  $compare: [{ url: '/fhir/R4/ValueSet/$compare?thisUrl=http://w.example/vs&otherUrl=http://hl7.org/fhir/ValueSet/all-types' }],
  '$evaluate-measure': [
    { url: '/fhir/R4/Measure/m/$evaluate-measure?periodStart=2020&periodEnd=2021' },
    { url: '/fhir/R4/Measure/m/$evaluate-measure?periodStart=2020&periodEnd=2021&subject=Patient/p1&_explain=true' },
  ],
  '$data-requirements': [{ url: '/fhir/R4/Measure/m/$data-requirements?periodStart=2020&periodEnd=2021' }],
  '$collect-data': [{ url: '/fhir/R4/Measure/m/$collect-data?periodStart=2020&periodEnd=2021' }],
  '$submit-data': [
    {
      method: 'POST',
      url: '/fhir/R4/Measure/$submit-data',
      body: parameters(
        { name: 'measureReport', resource: { resourceType: 'MeasureReport', type: 'data-collection' } },
        ...Array.from({ length: 2_000 }, () => ({ name: 'resource', resource: { resourceType: 'Patient' } })),
      ),
    },
  ],
  'GET /fhir/R4/_async/:id': [{ url: '/fhir/R4/_async/none' }],
  'DELETE /fhir/R4/_async/:id': [{ method: 'DELETE', url: '/fhir/R4/_async/none' }],
  $expand: [
    { url: '/fhir/R4/ValueSet/$expand?url=http://w.example/vs' },
    { url: '/fhir/R4/ValueSet/vs/$expand?filter=concept&_pretty=true&includeDefinition=true' },
    { url: '/fhir/R4/ValueSet/vs/$expand?_format=ndjson' },
    { method: 'POST', url: '/fhir/R4/ValueSet/$expand', body: withVersions(8_000) },
  ],
  $lookup: [
    { url: `/fhir/R4/CodeSystem/$lookup?system=${system}&code=root&property=child&_pretty=true` },
    { method: 'POST', url: '/fhir/R4/CodeSystem/$lookup', body: withSupplements(13_000, 13_000) },
    { method: 'POST', url: '/fhir/R4/CodeSystem/$lookup', body: withSupplements(18_000, 100) },
  ],
  $snapshot: [
    { url: '/fhir/R4/StructureDefinition/$snapshot?url=http://hl7.org/fhir/StructureDefinition/ElementDefinition' },
    { method: 'POST', url: '/fhir/R4/StructureDefinition/$snapshot', body: slicedProfile },
    ...profiles.map((url) => ({ url: `/fhir/R4/StructureDefinition/$snapshot?url=${url}` })),
  ],
  $subsumes: [{ url: `/fhir/R4/CodeSystem/$subsumes?system=${system}&codeA=c1&codeB=root` }],
  $translate: [
    { url: `/fhir/R4/ConceptMap/cm/$translate?system=${system}&code=c1&_pretty=true` },
    {
      method: 'POST',
      url: '/fhir/R4/ConceptMap/cm/$translate',
      body: parameters({ name: 'codeableConcept', valueCodeableConcept: { coding: codings(10_000) } }),
    },
  ],
  $validate: [
    { method: 'POST', url: '/fhir/R4/Patient/$validate', body: longPatient },
    { method: 'POST', url: '/fhir/R4/StructureDefinition/$validate', body: constrainedProfile },
    { method: 'POST', url: '/fhir/R4/Basic/$validate', body: `{"resourceType":"Basic",${nested}}` },
    ...profiles.map((url) => ({ method: 'POST', url: `/fhir/R4/Patient/$validate?profile=${url}`, body: contacts })),
  ],
  $versions: [{ url: '/fhir/R4/$versions?_pretty=true' }],
  $execute: [{ method: 'POST', url: '/fhir/R4/Bot/long/$execute', body: longPatient }],
  'GET /fhir/R4/:type/:id': [
    { url: '/fhir/R4/StructureDefinition/Patient' },
    { url: '/fhir/R4/Basic/nested?_pretty=true' },
    { url: '/fhir/R4/CodeSystem/cs?_pretty=true' },
    { url: '/fhir/R4/CodeSystem/cs?_elements=concept' },
  ],
  'GET /fhir/R4/:type/:id/_history/:version': [{ url: '/fhir/R4/Basic/nested/_history/1?_pretty=true' }],
  'GET /fhir/R4/:type/:id/_history': [{ url: '/fhir/R4/Patient/p0/_history?_count=1000' }],
  'GET /fhir/R4/:type/_history': [{ url: '/fhir/R4/Patient/_history?_count=1000' }],
  'GET /fhir/R4/_history': [{ url: '/fhir/R4/_history?_count=1000' }],
  'GET /fhir/R4/:type': [
    { url: '/fhir/R4/Patient?_count=1000&_total=accurate' },
    { url: '/fhir/R4/Patient?_count=150&_include=*&_pretty=true' },
    { url: '/fhir/R4/Patient?_count=1000&_elements=language' },
    { url: '/fhir/R4/StructureDefinition?_count=1000' },
    { url: '/fhir/R4/ValueSet?_summary=count' },
    { url: '/fhir/R4/Organization?partof:below=Organization/r0' },
    { url: '/fhir/R4/Organization?_id=r0&_include:iterate=Organization:partof' },
    { url: '/fhir/R4/Observation?_summary=true' },
  ],
  'POST /fhir/R4/:type/_search': [{ method: 'POST', url: '/fhir/R4/Patient/_search', body: '_count=1000', type: FORM }],
  'GET /fhir/R4/:type/:id/:member': [{ url: '/fhir/R4/Patient/p0/Observation?_count=1000' }],
  'POST /fhir/R4/:type/:id/:member/_search': [
    { method: 'POST', url: '/fhir/R4/Patient/p0/Observation/_search', body: '_count=1000', type: FORM },
  ],
  'GET /fhir/R4/:type/:id/*': [{ url: '/fhir/R4/Patient/p0/*?_count=1000' }],
  'POST /fhir/R4/:type/:id/*/_search': [{ method: 'POST', url: '/fhir/R4/Patient/p0/*/_search', body: '_count=1000', type: FORM }],
  'GET /fhir/R4': [
    { url: '/fhir/R4?_count=1000' },
    { url: '/fhir/R4?_sort=-_lastUpdated&_type=Observation,Organization,Patient&_count=1000' },
  ],
  'POST /fhir/R4/_search': [{ method: 'POST', url: '/fhir/R4/_search', body: '_count=1000', type: FORM }],
  'POST /fhir/R4/:type': [
    { method: 'POST', url: '/fhir/R4/Patient', body: longPatient },
    ...['null', '{}', '[]', '[[]]'].map((item) => ({
      method: 'POST',
      url: '/fhir/R4/Patient',
      body: `{"resourceType":"Patient","name":[${`${item},`.repeat(500_000)}null]}`,
    })),
    { method: 'POST', url: '/fhir/R4/Patient', body: `{"resourceType":"Patient","name":[${'null,'.repeat(199_000)}null]}` },
  ],
  'PUT /fhir/R4/:type/:id': [
    { method: 'PUT', url: '/fhir/R4/Binary/large', body: 'b'.repeat(16 * MIB), type: 'application/octet-stream' },
    { method: 'PUT', url: '/fhir/R4/Patient/x', body: longPatient },
  ],
  'PATCH /fhir/R4/:type/:id': [
    jsonPatch('/fhir/R4/Patient/p1', filled('[', '{"op":"add","path":"/name","value":[{"family":"Mustermann"}]}', ']')),
    jsonPatch('/fhir/R4/Patient/p1', filled('[{"op":"add","path":"/x","value":[]},', '{"op":"add","path":"/x/0","value":1}', ']')),
    jsonPatch('/fhir/R4/CodeSystem/cs', filled('[', '{"op":"test","path":"","value":{}}', ']')),
    jsonPatch('/fhir/R4/CodeSystem/cs', filled('[', '{"op":"copy","from":"/concept","path":"/x"}', ']')),
    jsonPatch('/fhir/R4/Basic/nested', '[{"op":"test","path":"/extension","value":[]},{"op":"copy","from":"/extension","path":"/x"}]'),
    {
      method: 'PATCH',
      url: '/fhir/R4/CodeSystem/cs',
      body: parameters(...Array.from({ length: 2_000 }, () => pathOperation('CodeSystem.descendants().where(code = display)'))),
    },
    { method: 'PATCH', url: '/fhir/R4/Patient/p1', body: parameters(...Array.from({ length: 20_000 }, () => pathOperation('Patient.x'))) },
  ],
  'PATCH /fhir/R4/:type': [jsonPatch('/fhir/R4/Patient?_id=p1', filled('[', '{"op":"test","path":"/id","value":"p1"}', ']'))],
  'DELETE /fhir/R4/:type/:id': [{ method: 'DELETE', url: '/fhir/R4/Patient/x' }],
  'PUT /fhir/R4/:type': [{ method: 'PUT', url: '/fhir/R4/Patient?_id=x', body: longPatient }],
  'DELETE /fhir/R4/:type': [{ method: 'DELETE', url: '/fhir/R4/Patient?_id:not=p1' }],
  'POST /fhir/R4': [
    { method: 'POST', url: '/fhir/R4', body: bundle('transaction', group, 1) },
    { method: 'POST', url: '/fhir/R4', body: bundle('batch', read, 100) },
    { method: 'POST', url: '/fhir/R4', body: bundle('batch', '{"request":{"method":"GET","url":"metadata"}}', 5_000) },
    { method: 'POST', url: '/fhir/R4', body: bundle('batch', '{"request":{"method":"GET","url":"Basic/nested?_pretty=true"}}', 300) },
    { method: 'POST', url: '/fhir/R4', body: bundle('transaction', '{"request":{"method":"GET","url":"CodeSystem/cs"}}', 300) },
    {
      method: 'POST',
      url: '/fhir/R4',
      body: bundle('transaction', '{"request":{"method":"POST","url":"Patient"},"resource":{"resourceType":"Patient"}}', 3_000),
    },
  ],
  'GET /fhir/R4/metadata': [{ url: '/fhir/R4/metadata?_pretty=true' }, { url: '/fhir/R4/metadata?mode=terminology&_pretty=true' }],
  'GET /.well-known/smart-configuration': [{ url: '/.well-known/smart-configuration' }],
  'GET /.well-known/openid-configuration': [{ url: '/.well-known/openid-configuration' }],
  'GET /.well-known/oauth-authorization-server': [{ url: '/.well-known/oauth-authorization-server' }],
  'GET /fhir/R4/.well-known/openid-configuration': [{ url: '/fhir/R4/.well-known/openid-configuration' }],
  'GET /fhir/R4/.well-known/smart-configuration': [{ url: '/fhir/R4/.well-known/smart-configuration' }],
  'GET /openapi.json': [{ url: '/openapi.json' }],
  'GET /healthz': [{ url: '/healthz' }],
  'GET /readyz': [{ url: '/readyz' }],
  // Last, because they end sessions.
  'POST /auth/revoke': [{ method: 'POST', url: '/auth/revoke', body: '{"others":true}' }],
  'POST /oauth2/logout': [{ method: 'POST', url: '/oauth2/logout', body: '{}' }],
}

/** Rows of the route table that do the same: an operation's methods and levels are one, unless there is but one of each. */
function kindsOf({ method, path, operation }: RouteDescription): readonly string[] {
  const place = operation === undefined ? '' : path.includes(':id') ? ' instance' : path.includes(':type') ? ' type' : ' system'
  return operation === undefined ? [`${method} ${path}`] : [operation.name, `${method} ${operation.name}${place}`]
}

describe('the worst request that the limits let through', () => {
  it('is stated for every route, and for no other', () => {
    const kinds = new Set(handler.routes.flatMap(kindsOf))
    expect(handler.routes.filter((route) => !kindsOf(route).some((kind) => kind in WORST)).map(kindsOf)).toEqual([])
    expect(Object.keys(WORST).filter((kind) => !kinds.has(kind))).toEqual([])
  })

  const rows = Object.entries(WORST).flatMap(([kind, requests]) => requests.map((sent, n) => [`${kind} ${n + 1}`, sent] as const))
  it.each(rows)('%s', async (kind, sent) => {
    if (!kind.startsWith('POST /oauth2/logout')) await send(sent)
    const work = (): Promise<Served> => served(sent)
    const { result, heap, stretchMs } = await measuredWork(work)
    const { status, bytes, start } = result
    // What its time limit ends is given up where others keep the processor from it soon after.
    const isGivenUp = status === 503 && start.includes('"code":"timeout"')
    if (!isGivenUp) expect([200, 201, 204, 400, 404, 409, 412, 422]).toContain(status)
    // A write gives back what was sent, content as base64.
    expect(bytes).toBeLessThanOrEqual(Math.max(MAX_ANSWER, ((sent.body?.length ?? 0) * 4) / 3 + 1_000))
    expect(heap).toBeLessThan(MAX_HEAP)
    expect(await leastStretch(work, stretchMs)).toBeLessThan(MAX_STRETCH_MS)
  })
})
