import { connect } from 'node:net'
import fc from 'fast-check'
import { createContext } from 'fhir-ops/context'
import { createBots, type BotEvent } from 'fhir-ops/execute'
import { memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import { r4Definitions, r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANY_CHARACTER, rounds } from '../../../test/effort.js'
import { startServer, type RunningServer } from './running-server.js'

const RUNS = rounds({ quick: 100, all: 300 })

let running: RunningServer
beforeAll(async () => {
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  const storage = memoryStorage()
  running = await startServer({
    context: createContext({ storage, search: { parameters }, definitions: [r4Definitions()] }),
    bots: createBots({ hostBots: [{ id: 'echo', run: (event: BotEvent) => event.input }] }),
  })
})
afterAll(() => running.stop())

const KNOWN = new Set([200, 201, 204, 304, 400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 414, 415, 422, 429, 501])
const word = fc.constantFrom(
  'fhir',
  'R4',
  'Patient',
  'ValueSet',
  'CodeSystem',
  'ConceptMap',
  'Measure',
  'Bot',
  'x',
  'echo',
  '_search',
  '_history',
  'metadata',
  '$translate',
  '$expand',
  '$lookup',
  '$validate',
  '$validate-code',
  '$subsumes',
  '$evaluate-measure',
  '$execute',
  '$closure',
  'auth',
  'me',
  'revoke',
  'oauth2',
  'userinfo',
  'logout',
  '..',
  '.',
  '',
  '%',
  '%ff',
  '%00',
  '%2f',
  '__proto__',
  'constructor',
  ':id',
  '?',
  '&',
  '=',
  '|',
  '#',
  '\\',
  'é',
  '+',
)
const place = fc.constantFrom(
  '',
  '/Patient',
  '/Patient/x',
  '/Patient/_search',
  '/ConceptMap',
  '/ConceptMap/x',
  '/ConceptMap/$translate',
  '/ConceptMap/x/$translate',
  '/ValueSet/x',
  '/ValueSet/$expand',
  '/ValueSet/x/$expand',
  '/ValueSet/$validate-code',
  '/ValueSet/$batch-validate-code',
  '/CodeSystem/x',
  '/CodeSystem/$lookup',
  '/CodeSystem/$validate-code',
  '/CodeSystem/$subsumes',
  '/$closure',
  '/Measure/x',
  '/Measure/x/$evaluate-measure',
  '/Patient/$validate',
  '/ConceptMap/$validate',
  '/Bot/x',
  '/Bot/echo/$execute',
  '/Bot/$execute',
  '/Bundle/x',
  '/metadata',
)
const target = fc.oneof(
  { weight: 9, arbitrary: place.map((path) => `/fhir/R4${path}`) },
  { weight: 1, arbitrary: fc.array(word, { maxLength: 8 }).map((words) => `/fhir/R4/${words.join('/')}`) },
)
const name = fc.constantFrom(
  'url',
  'code',
  'system',
  'identifier',
  'filter',
  'count',
  'offset',
  '_count',
  '_sort',
  '_format',
  '_pretty',
  '_id',
  'name',
  'birthdate',
  '_has:Observation:subject:code',
  'subject.name',
  'coding',
  'periodStart',
  'resource',
  'valueSet',
  'mode',
  'profile',
  '__proto__',
  '_cursor',
  '_elements',
)
const value = fc.oneof(
  fc.string(),
  fc.constantFrom('1', '-1', '999999999999', 'http://x', 'a|b', 'gt2020', '2020-02-30', 'Patient/1', '*', '\\,', '$', '%', 'true'),
)
const query = fc
  .array(fc.tuple(name, value), { maxLength: 3 })
  .map((pairs) => pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&'))
const method = fc.constantFrom('GET', 'GET', 'POST', 'POST', 'POST', 'PUT', 'PUT', 'DELETE', 'HEAD', 'PATCH')
const type = fc.constantFrom(
  'application/fhir+json',
  'application/fhir+json',
  'application/fhir+json',
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'x-application/hl7-v2+er7',
  '',
  'x',
)

const member = fc.constantFrom(
  'resourceType',
  'id',
  'url',
  'parameter',
  'name',
  'valueUri',
  'valueCode',
  'valueCoding',
  'resource',
  'entry',
  'request',
  'method',
  'group',
  'element',
  'target',
  'compose',
  'include',
  'concept',
  'type',
  'meta',
  'system',
  'code',
  'contained',
  'extension',
  'loginId',
  'others',
  'toString',
)
const leaf = fc.oneof(
  fc.constantFrom(
    'Parameters',
    'Patient',
    'Bundle',
    'ConceptMap',
    'ValueSet',
    'CodeSystem',
    'Measure',
    'batch',
    'GET',
    'x',
    'url',
    'code',
    'system',
    'http://x',
  ),
  fc.jsonValue({ maxDepth: 1 }),
)
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ maxDepth: 5 }, leaf, fc.array(tie('tree'), { maxLength: 3 }), fc.dictionary(member, tie('tree'), { maxKeys: 4 })),
}))
const resource = fc
  .tuple(
    fc.constantFrom('Patient', 'Bundle', 'ConceptMap', 'ValueSet', 'CodeSystem', 'Measure', 'Bot'),
    fc.dictionary(member, tree, { maxKeys: 4 }),
  )
  .map(([resourceType, rest]) => ({ ...rest, resourceType, id: 'x' }))
const concept = fc.record({ system: fc.constantFrom('http://x', 'http://y', 5), code: leaf }, { requiredKeys: [] })
const parameter = fc.oneof(
  fc
    .tuple(name, fc.constantFrom('valueUri', 'valueCode', 'valueString', 'valueInteger', 'valueBoolean'), fc.oneof(value, leaf))
    .map(([key, kind, item]) => ({ name: key, [kind]: item })),
  concept.map((coding) => ({ name: 'coding', valueCoding: coding })),
  fc
    .tuple(fc.constantFrom('resource', 'valueSet', 'conceptMap', 'codeSystem', 'tx-resource'), resource)
    .map(([key, item]) => ({ name: key, resource: item })),
  fc.record({ name, part: tree }),
)
const parameters = fc.array(parameter, { maxLength: 5 }).map((list) => ({ resourceType: 'Parameters', parameter: list }))
const entry = fc.record({
  request: fc.record({
    method,
    url: fc.oneof(
      place.map((path) => path.slice(1)),
      fc.string(),
    ),
  }),
  resource: fc.oneof(resource, parameters),
})
const batch = fc.array(fc.oneof(entry, tree), { maxLength: 3 }).map((list) => ({ resourceType: 'Bundle', type: 'batch', entry: list }))
const body = fc.oneof(
  { weight: 4, arbitrary: parameters.map(bytesOf) },
  { weight: 3, arbitrary: resource.map(bytesOf) },
  { weight: 1, arbitrary: batch.map(bytesOf) },
  { weight: 1, arbitrary: fc.json().map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
)

function bytesOf(json: unknown): Buffer {
  return Buffer.from(JSON.stringify(json))
}

describe('any request', () => {
  it('below the FHIR base gives an answer of the declared kinds, and no failure that nobody foresaw', async () => {
    await fc.assert(
      fc.asyncProperty(fc.record({ target, query, method, type, body }), async (sent) => {
        const headers = new Map([
          ['authorization', `Bearer ${running.token}`],
          ['content-type', sent.type],
          ['prefer', 'handling=strict'],
        ])
        const answer = await running.handler.respond({
          method: sent.method,
          target: sent.query === '' ? sent.target : `${sent.target}?${sent.query}`,
          header: (header) => headers.get(header),
          hasBody: true,
          async *body() {
            yield sent.body
          },
          signal: undefined,
        })
        const log = running.logs.at(-1)
        expect(KNOWN.has(answer.status), `${answer.status} ${log?.error} ${log?.stack} ${answer.body}`).toBe(true)
        if (answer.status >= 400)
          expect(JSON.parse(answer.body ?? '{}')).toMatchObject(sent.method === 'HEAD' ? {} : { resourceType: 'OperationOutcome' })
      }),
      { numRuns: RUNS },
    )
  })

  it('with any Authorization header is refused by 400 or 401', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `Bearer ${text}`),
          fc.string().map((text) => `Bearer ${text}.${text}.${text}`),
        ),
        async (authorization) => {
          const header = (asked: string): string | undefined => (asked === 'authorization' ? authorization : undefined)
          const answer = await running.handler.respond({
            method: 'GET',
            target: '/auth/me',
            header,
            hasBody: false,
            async *body() {},
            signal: undefined,
          })
          expect([400, 401]).toContain(answer.status)
          expect(answer.headers.filter(([line]) => line === 'WWW-Authenticate').length).toBe(1)
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('of any bytes on the wire leaves the server working', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'GET ',
        '/fhir/R4/Patient',
        ' HTTP/1.1',
        '\r\n',
        'Host: x',
        'Content-Length: 3',
        'Transfer-Encoding: chunked',
        `Authorization: Bearer ${running.token}`,
        '\r\n\r\n',
        '0',
      ),
      fc.string({ unit: ANY_CHARACTER, maxLength: 20 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        await new Promise<void>((resolve) => {
          const socket = connect(running.port, '127.0.0.1', () => socket.end(pieces.join('')))
          socket.on('error', () => resolve())
          socket.on('close', () => resolve())
          socket.resume()
        })
      }),
      { numRuns: rounds({ quick: 60, all: 200 }) },
    )
    expect((await fetch(`${running.base}/healthz`)).status).toBe(200)
    expect(running.logs.filter(({ level }) => level === 'error')).toEqual([])
  })
})
