import { expect, test, vi } from 'vitest'
import { serve } from './serve.js'

test('--audit stores what is worth an audit record as AuditEvents', async () => {
  const errors: string[] = []
  const io = { out: () => {}, err: (line: string) => errors.push(line), stdin: async () => '' }
  const server = await serve({ host: '127.0.0.1', port: 0, storage: 'memory', load: [], devToken: 'good', audit: true }, io)
  const ask = (path: string, token: string): Promise<Response> =>
    fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  expect((await ask('/auth/me', 'bad')).status).toBe(401)
  await vi.waitFor(
    async () => {
      const found = await ask('/fhir/R4/AuditEvent?subtype=token-rejected', 'good')
      expect(await found.json()).toMatchObject({ total: 1, entry: [{ resource: { outcome: '4', outcomeDesc: 'unknown' } }] })
    },
    { timeout: 300_000 },
  )
  await server.close()
  expect(errors).toEqual([])
})
