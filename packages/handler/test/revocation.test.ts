import { afterAll, beforeAll, expect, it } from 'vitest'
import { at, send, startServer, USER, userInfo, type Reply, type RunningServer } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServer({ smartConfiguration: { issuer: 'https://issuer.example' } })
})
afterAll(() => running.stop())

const revoke = (body: string, type = 'application/x-www-form-urlencoded'): Promise<Reply> =>
  send(`${running.base}/oauth2/revoke`, { method: 'POST', headers: { 'content-type': type }, body })

it('ends the session of the token in the form, and answers alike when there is none', async () => {
  const { token } = await running.sessions.create({ user: USER, scopes: ['openid'] })
  expect((await userInfo(running, token)).status).toBe(200)
  const replies = [
    await revoke(`token=${token}&token_type_hint=access_token`),
    await revoke(`token=${token}`),
    await revoke('token=nonsense'),
  ]
  expect(replies.map(({ status, text }) => [status, text])).toEqual(replies.map(() => [200, '']))
  expect((await userInfo(running, token)).status).toBe(401)
  expect((await userInfo(running, running.token)).status).toBe(200)
})

it.each([
  ['', 400],
  ['token=', 400],
  ['token=a&token=b', 400],
  [`token=${'x'.repeat(20_000)}`, 413],
])('refuses the form %.20s with %i', async (body, status) => {
  const reply = await revoke(body)
  expect([reply.status, at(reply.json, 'error')]).toEqual([status, 'invalid_request'])
})

it('says of a form that is not well-formed that it is the form', async () => {
  for (const body of ['token=%', 'token=%ff', 'token=a%00']) {
    expect([body, at((await revoke(body)).json, 'error_description')]).toEqual([
      body,
      'The form is not well-formed: percent-encoded UTF-8 is expected.',
    ])
  }
})

it('takes forms only', async () => {
  expect((await revoke('{"token":"x"}', 'application/json')).status).toBe(415)
})

it('is named in the SMART configuration, and the issuer in the metadata of the protected resource', async () => {
  const smart = await send(`${running.base}/.well-known/smart-configuration`)
  expect(at(smart.json, 'revocation_endpoint')).toBe(`${running.base}/oauth2/revoke`)
  const { json } = await send(`${running.base}/.well-known/oauth-protected-resource`)
  expect(json).toMatchObject({ resource: `${running.base}/fhir/R4`, authorization_servers: ['https://issuer.example'] })
})
