import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import type { Storage } from 'fhir-ops/storage'
import { r4Definitions, r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { at, fhirHeaders, send, startServer, USER, type Reply, type RunningServer } from './running-server.js'

const storage = memoryStorage()
let running: RunningServer
beforeAll(async () => {
  running = await start(storage)
  await put({ resourceType: 'Medication', id: 'plain', code: { text: 'x' } })
  const mix =
    '{"resourceType":"Medication","id":"mix","code":{"text":"x"},"amount":{"numerator":{"value":1.50}},"manufacturer":{"reference":"Organization/o"}}'
  const other = '{"resourceType":"Medication","id":"other","code":{"text":"x"}}'
  for (const [id, patient] of [
    ['a', 'p'],
    ['b', 'q'],
  ])
    await put(
      `{"resourceType":"MedicationRequest","id":"${id}","status":"active","intent":"order","contained":[${mix},${other}],"medicationReference":{"reference":"#mix"},"subject":{"reference":"Patient/${patient}"}}`,
    )
  await put({ resourceType: 'Patient', id: 'p' })
  await put({ resourceType: 'Organization', id: 'o', name: 'Maker' })
})
afterAll(() => running.stop())

function start(over: Storage, policy?: Parameters<typeof startServer>[0]): Promise<RunningServer> {
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  const context = createContext({ storage: over, search: { parameters }, definitions: [r4Definitions()] })
  return startServer({ storage: over, context, ...policy })
}

function put(
  resource: string | { readonly resourceType: string; readonly id: string; readonly code?: object; readonly name?: string },
): Promise<Reply> {
  const body = typeof resource === 'string' ? resource : JSON.stringify(resource)
  const { resourceType, id } = JSON.parse(body)
  return send(`${running.base}/fhir/R4/${resourceType}/${id}`, { method: 'PUT', headers: fhirHeaders(running.token), body })
}

const get = (path: string, { base, token } = running): Promise<Reply> =>
  send(`${base}/fhir/R4${path}`, { headers: { authorization: `Bearer ${token}` } })
const entriesOf = ({ json }: Reply): readonly unknown[] => (at(json, 'entry') as unknown[] | undefined) ?? []
const urlsOf = (reply: Reply): readonly unknown[] => entriesOf(reply).map((entry) => String(at(entry, 'fullUrl')).replace(/^.*\/R4\//, ''))

async function tokenFor(scopes: readonly string[], patient?: string): Promise<RunningServer> {
  const { token } = await running.sessions.create({ user: USER, scopes, ...(patient !== undefined && { patient }) })
  return { ...running, token }
}

describe('contained resources', () => {
  it.each([
    ['/Medication?code:text=x', ['Medication/plain']],
    ['/Medication?code:text=x&_contained=false', ['Medication/plain']],
    ['/Medication?code:text=x&_contained=true', ['MedicationRequest/a', 'MedicationRequest/b']],
    ['/Medication?code:text=x&_contained=both', ['Medication/plain', 'MedicationRequest/a', 'MedicationRequest/b']],
    ['/Medication?_id=mix&_contained=true&_containedType=contained', ['MedicationRequest/a#mix', 'MedicationRequest/b#mix']],
    [
      '/Medication?_id=mix,plain&_contained=both&_containedType=contained',
      ['Medication/plain', 'MedicationRequest/a#mix', 'MedicationRequest/b#mix'],
    ],
    ['/Medication?manufacturer.name=maker&_contained=true', ['MedicationRequest/a', 'MedicationRequest/b']],
    ['/MedicationRequest?medication.manufacturer.name=maker&subject=q', ['MedicationRequest/b']],
  ])('%s', async (path, expected) => {
    const reply = await get(path)
    expect(urlsOf(reply)).toEqual(expected)
    expect(reply.json).toMatchObject({ total: expected.length })
    expect((await get(`${path}&_summary=count`)).json).toMatchObject({ total: expected.length })
  })

  it('are given as they stand, without version, numbers with their digits', async () => {
    const { text, json } = await get('/Medication?_id=mix&_contained=true&_containedType=contained&_count=1')
    expect(text).toContain('{"resourceType":"Medication","id":"mix","code":{"text":"x"},"amount":{"numerator":{"value":1.50}},')
    expect(at(json, 'entry', 0, 'resource')).not.toHaveProperty('meta')
  })

  it.each(['container', 'contained'])('are paged by next links (%s)', async (shown) => {
    const urls: unknown[] = []
    for (
      let url: unknown = `${running.base}/fhir/R4/Medication?_contained=both&_containedType=${shown}&_count=1`;
      typeof url === 'string';
    ) {
      const page = await send(url, { headers: { authorization: `Bearer ${running.token}` } })
      urls.push(...urlsOf(page))
      url = at(page.json, 'link', 1, 'url')
    }
    expect(urls).toEqual(urlsOf(await get(`/Medication?_contained=both&_containedType=${shown}`)))
  })

  it('bring what they refer to, and are cut to elements', async () => {
    const reply = await get('/Medication?_id=mix&_contained=true&_containedType=contained&_include=Medication:manufacturer&_elements=code')
    expect(urlsOf(reply)).toEqual(['MedicationRequest/a#mix', 'MedicationRequest/b#mix', 'Organization/o'])
    expect(entriesOf(reply)[0]).not.toHaveProperty('resource.amount')
  })

  it('go with their container', async () => {
    await put(
      '{"resourceType":"Basic","id":"c","contained":[{"resourceType":"Device","id":"d"}],"code":{"text":"x"},"subject":{"reference":"#d"}}',
    )
    expect(urlsOf(await get('/Device?_contained=true'))).toEqual(['Basic/c'])
    await put('{"resourceType":"Basic","id":"c","code":{"text":"x"}}')
    expect(urlsOf(await get('/Device?_contained=true'))).toEqual([])
  })

  it('are seen by who may see their container only', async () => {
    const mine = await tokenFor(['patient/MedicationRequest.rs', 'user/Medication.rs'], 'p')
    expect(urlsOf(await get('/Medication?_contained=both', mine))).toEqual(['Medication/plain', 'MedicationRequest/a'])
    expect((await get('/Medication?_contained=both&_summary=count', mine)).json).toMatchObject({ total: 2 })
    expect((await get('/Medication?_contained=true&_containedType=contained', mine)).status).toBe(403)
    expect(urlsOf(await get('/Medication?_contained=true', await tokenFor(['user/Medication.rs'])))).toEqual([])
    const hiding = await start(storage, { sessions: running.sessions, policy: ({ id }) => (id === 'a' ? 'hide' : 'allow') })
    const there = { ...hiding, token: running.token }
    expect(urlsOf(await get('/Medication?_contained=true&_containedType=contained', there))).toEqual([
      'MedicationRequest/b#mix',
      'MedicationRequest/b#other',
    ])
    expect((await get('/Medication?_contained=true&_containedType=contained&_summary=count', there)).json).toMatchObject({ total: 2 })
    await hiding.stop()
  })

  it.each([
    '/Medication?_contained=maybe',
    '/Medication?_containedType=both',
    '/Medication?_contained=true&_contained=true',
    '/Medication?_contained=true&_sort=code',
    '/Patient/p/MedicationRequest?_contained=true',
    '?_type=Medication&_contained=true',
    '/%23Medication?code:text=x',
    '/%23Medication/MedicationRequest%2Fa%23mix',
  ])('%s is refused', async (path) => {
    const { status, json } = await get(path)
    expect([400, 404]).toContain(status)
    expect(json).toMatchObject({ resourceType: 'OperationOutcome' })
  })

  it('are refused over a storage that does not find them', async () => {
    const without = await start({ ...storage, capabilities: { ...storage.capabilities, contained: false } }, { sessions: running.sessions })
    const { status, text } = await get('/Medication?_contained=true', { ...without, token: running.token })
    expect(status).toBe(400)
    expect(text).toContain('_contained')
    await without.stop()
  })
})
