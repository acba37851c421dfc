import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wholeService } from './service.js'

let canary: Server
let connections = 0
let url = ''
const service = wholeService()

beforeAll(async () => {
  canary = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(canary, 'listening')
  const address = canary.address()
  url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/x`
})

afterAll(async () => {
  canary.close()
  await service.close()
})

const parameters = (...parameter: readonly object[]): string => JSON.stringify({ resourceType: 'Parameters', parameter })
const patient = (more: object): string => JSON.stringify({ resourceType: 'Patient', ...more })

const REQUESTS: readonly (readonly [string, () => readonly [string, string, string?]])[] = [
  ['expand by url', () => ['GET', `/ValueSet/$expand?url=${encodeURIComponent(url)}`]],
  [
    'expand of an import and a system',
    () => [
      'POST',
      '/ValueSet/$expand',
      parameters({
        name: 'valueSet',
        resource: { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: url }, { valueSet: [url] }] } },
      }),
    ],
  ],
  ['lookup', () => ['GET', `/CodeSystem/$lookup?system=${encodeURIComponent(url)}&code=x`]],
  ['validate-code', () => ['GET', `/ValueSet/$validate-code?url=${encodeURIComponent(url)}&system=${encodeURIComponent(url)}&code=x`]],
  [
    'translate by url and source',
    () => [
      'POST',
      '/ConceptMap/$translate',
      parameters({ name: 'url', valueUri: url }, { name: 'system', valueUri: url }, { name: 'code', valueCode: 'x' }),
    ],
  ],
  [
    'translate with another map to go on with',
    () => [
      'POST',
      '/ConceptMap/$translate',
      parameters(
        {
          name: 'conceptMap',
          resource: {
            resourceType: 'ConceptMap',
            status: 'active',
            group: [{ source: url, target: url, element: [], unmapped: { mode: 'other-map', url } }],
          },
        },
        { name: 'system', valueUri: url },
        { name: 'code', valueCode: 'x' },
      ),
    ],
  ],
  ['validate with a profile parameter', () => ['POST', `/Patient/$validate?profile=${encodeURIComponent(url)}`, patient({})]],
  [
    'validate with canonicals, references and attachments everywhere',
    () => [
      'POST',
      '/Patient/$validate',
      patient({
        meta: { profile: [url] },
        implicitRules: url,
        extension: [{ url, valueString: 'x' }],
        photo: [{ url, contentType: 'image/png' }],
        managingOrganization: { reference: url },
        text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml"><img src="${url}" alt="x"/></div>` },
      }),
    ],
  ],
  [
    'evaluate with a library and a foreign query',
    () => [
      'PUT',
      '/Measure/canary',
      JSON.stringify({
        resourceType: 'Measure',
        id: 'canary',
        status: 'active',
        library: [url],
        group: [{ population: [{ criteria: { language: 'application/x-fhir-query', expression: `${url}/Patient` } }] }],
      }),
    ],
  ],
  ['evaluating it', () => ['GET', '/Measure/canary/$evaluate-measure?periodStart=2020&periodEnd=2021']],
  [
    'storing a resource that refers to it',
    () => ['PUT', '/Patient/canary', patient({ id: 'canary', managingOrganization: { reference: url } })],
  ],
]

test.each(REQUESTS)('%s connects to nothing', async (_, request) => {
  const [method, path, body] = request()
  const answer = await service.call(method, path, body)
  expect(answer.status).not.toBe(503)
  await new Promise((resolve) => setImmediate(resolve))
  expect(connections).toBe(0)
})

test('the canary notices a connection', async () => {
  await fetch(url).catch(() => {})
  expect(connections).toBe(1)
})
