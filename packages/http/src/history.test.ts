import { afterAll, beforeAll, expect, it } from 'vitest'
import { json, startScriptedServer, type ScriptedServer } from '../test/scripted-server.js'
import { httpStorage } from './index.js'

let server: ScriptedServer
beforeAll(async () => {
  server = await startScriptedServer()
})
afterAll(async () => server.stop())

const PATIENT = { resourceType: 'Patient', id: 'a', meta: { versionId: '1', lastUpdated: '2024-01-01T00:00:00.000+00:00' } }

function historySet(...entry: readonly object[]): object {
  return { resourceType: 'Bundle', type: 'history', entry }
}

it('reads a history whose entries have full addresses, a method of their own and no status', async () => {
  server.behave = json(
    historySet(
      {
        request: { method: 'DELETE', url: `${server.baseUrl}/Patient/a/_history/3` },
        response: { status: '204 No Content', lastModified: '2024-01-03T00:00:00Z' },
      },
      {
        resource: { resourceType: 'Patient', id: 'a', meta: { lastUpdated: '2024-01-02T00:00:00Z' } },
        request: { method: 'PUT', url: 'Patient/a/_history/2' },
      },
      { resource: PATIENT, request: { method: 'POST', url: 'Patient' } },
    ),
  )
  const { history } = httpStorage({ baseUrl: server.baseUrl, history: true })
  const { items } = (await history?.page({ types: ['Patient'], id: 'a' })) ?? { items: [] }
  expect(items).toMatchObject([
    { type: 'Patient', id: 'a', versionId: '3', lastUpdated: '2024-01-03T00:00:00.000Z', created: false },
    { versionId: '2', lastUpdated: '2024-01-02T00:00:00.000Z', created: false, stored: { id: 'a', versionId: '2' } },
    { versionId: '1', lastUpdated: '2024-01-01T00:00:00.000Z', created: true, stored: { id: 'a', versionId: '1' } },
  ])
  expect(items[0]?.stored).toBeUndefined()
})

it('leaves out other types of the history of everything', async () => {
  server.behave = json(
    historySet(
      { resource: PATIENT, request: { method: 'POST' } },
      { resource: { resourceType: 'Group', id: 'g' }, request: { method: 'POST' } },
    ),
  )
  const { history } = httpStorage({ baseUrl: server.baseUrl, history: true })
  expect((await history?.page({ types: ['Patient', 'Observation'] }))?.items.map(({ id }) => id)).toEqual(['a'])
  expect(server.requests.at(-1)).toBe('GET /fhir/_history')
})

it('has no history unless the upstream is said to keep one', () => {
  expect(httpStorage({ baseUrl: server.baseUrl }).history).toBeUndefined()
})

it('refuses by name to ask what was current at a time', async () => {
  const { history } = httpStorage({ baseUrl: server.baseUrl, history: true })
  await expect(history?.page({ types: ['Patient'], at: { from: 0, to: 1 } })).rejects.toMatchObject({
    code: 'search-unsupported',
    message: 'The upstream FHIR server cannot be asked for the versions that were current at a time.',
  })
})
