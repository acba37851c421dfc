import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
})
