import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askFhir, at, fhirHeaders, send, startServer, USER, type Reply, type RunningServer } from './running-server.js'

const url = 'http://example.org/fhir/StructureDefinition/named-patient'
const PROFILE = {
  resourceType: 'StructureDefinition',
  id: 'named-patient',
  url,
  name: 'NamedPatient',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Patient',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
  derivation: 'constraint',
  differential: { element: [{ path: 'Patient.name', min: 1 }] },
}
const WRONG = {
  ...PROFILE,
  id: 'wrong',
  url: `${url}-wrong`,
  differential: { element: [{ path: 'Patient.nam' }, { path: 'Patient.gendr' }] },
}

let running: RunningServer
beforeAll(async () => {
  const storage = memoryStorage([PROFILE, WRONG])
  running = await startServer({ storage, context: createContext({ storage, ...r4() }) })
})
afterAll(() => running.stop())

const ask = (path: string, body?: object): Promise<Reply> =>
  askFhir(running, `/StructureDefinition${path}`, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })

const PARAMETERS = { resourceType: 'Parameters', parameter: [{ name: 'definition', resource: PROFILE }] }

it.each([
  ['by id', `/named-patient/$snapshot`, undefined],
  ['by url', `/$snapshot?url=${encodeURIComponent(url)}`, undefined],
  ['as body', '/$snapshot', PROFILE],
  ['as parameter', '/$snapshot', PARAMETERS],
  ['by id, whatever the parameters say', '/named-patient/$snapshot?url=urn:other', {}],
] as const)('$snapshot of a definition %s', async (_, path, body) => {
  const { status, json } = await ask(path, body !== undefined && Object.keys(body).length === 0 ? { resourceType: 'Parameters' } : body)
  expect(status).toBe(200)
  const elements = at(json, 'snapshot', 'element')
  expect(at(json, 'url')).toBe(url)
  expect(elements).toContainEqual(expect.objectContaining({ id: 'Patient.name', min: 1, max: '*' }))
  expect(elements).toContainEqual(expect.objectContaining({ id: 'Patient.gender', max: '1' }))
})

it('what cannot be applied is an error with its place, each problem an issue', async () => {
  const { status, json } = await ask('/wrong/$snapshot')
  expect([status, at(json, 'issue', 0, 'code'), at(json, 'issue', 0, 'expression', 0)]).toEqual([
    422,
    'invalid',
    'StructureDefinition.differential.element[0]',
  ])
  expect(at(json, 'issue', 1, 'expression', 0)).toBe('StructureDefinition.differential.element[1]')
})

it.each([
  ['/$snapshot', undefined, 400, 'required'],
  ['/none/$snapshot', undefined, 404, 'not-found'],
  ['/$snapshot?url=urn:none', undefined, 404, 'not-found'],
  [`/$snapshot?url=${encodeURIComponent(url)}`, PROFILE, 400, 'invalid'],
  ['/$snapshot', { ...PROFILE, baseDefinition: 'urn:none' }, 422, 'not-found'],
  ['/$snapshot', { ...PROFILE, differential: undefined }, 422, 'invalid'],
  [
    '/$snapshot',
    { resourceType: 'Parameters', parameter: [{ name: 'definition', resource: { resourceType: 'Patient' } }] },
    422,
    'invalid',
  ],
] as const)('%s is refused', async (path, body, status, code) => {
  const reply = await ask(path, body)
  expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([status, code])
})

it('needs the right to read definitions', async () => {
  const { token } = await running.sessions.create({ user: USER, scopes: ['user/Patient.rs'] })
  const reply = await send(`${running.base}/fhir/R4/StructureDefinition/$snapshot?url=${encodeURIComponent(url)}`, {
    headers: fhirHeaders(token),
  })
  expect(reply.status).toBe(403)
})
