import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { askFhir, send, startServer, type RunningServer } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServer()
})
afterAll(() => running.stop())

describe('the log', () => {
  it('has one line per request with the template of the route, and nothing that was sent', async () => {
    running.logs.length = 0
    await askFhir(running, '/Patient/secretid?name=secretname', { headers: { 'user-agent': 'x', 'x-request-id': 'log-test' } })
    expect(running.logs).toMatchObject([
      { level: 'info', requestId: 'log-test', method: 'GET', route: '/fhir/R4/:type/:id', status: 404, sub: 'ann', error: 'not-found' },
    ])
    expect(JSON.stringify(running.logs)).not.toMatch(/secret|fo_/)
  })

  it.each([
    ['a refused token', 'GET', '/fhir/R4/Patient/p', { authorization: 'Bearer wrong' }, [401, '/fhir/R4/:type/:id']],
    ['no token', 'POST', '/fhir/R4/ConceptMap/$translate', {}, [401, '/fhir/R4/:type/$translate']],
    ['a method that is not offered', 'DELETE', '/auth/me', {}, [401, '/auth/me']],
    ['OPTIONS', 'OPTIONS', '/auth/me', {}, [204, '/auth/me']],
    ['a path that there is not', 'GET', '/elsewhere', {}, [401, 'none']],
    ['a URL that cannot be read', 'GET', '/fhir/R4/Patient/%ff', {}, [400, 'none']],
  ])('tells the route of %s', async (_, method, path, headers, expected) => {
    running.logs.length = 0
    await send(`${running.base}${path}`, { method, headers })
    expect(running.logs.map(({ status, route }) => [status, route])).toEqual([expected])
  })

  it('has the failure of an answer whose headers no server can write, and the caller an answer', async () => {
    const storage = memoryStorage()
    const read = storage.read.bind(storage)
    const oddRead = async (type: string, id: string) => {
      const stored = await read(type, id)
      return stored && { ...stored, versionId: 'one\u2026\n' }
    }
    const strange = await startServer({ context: createContext({ storage: Object.assign(storage, { read: oddRead }) }) })
    await askFhir(strange, '/Basic/a', { method: 'PUT', body: '{"resourceType":"Basic","id":"a","code":{"text":"x"}}' })
    strange.logs.length = 0
    const reply = await askFhir(strange, '/Basic/a', { headers: { 'x-request-id': 'unwritable' } })
    expect([reply.status, reply.headers['x-request-id'], reply.text.includes('Reference: unwritable')]).toEqual([503, 'unwritable', true])
    expect(strange.logs).toMatchObject([{ level: 'error', status: 503, error: 'unforeseen', stack: expect.stringContaining('ETag') }])
    await strange.stop()
  })
})
