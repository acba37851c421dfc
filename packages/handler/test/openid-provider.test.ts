import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jwtVerifier } from '../src/index.js'
import { at, send, startServer, type Reply, type RunningServer } from './running-server.js'
import { AUDIENCE, CLIENT, testProvider, type TestProvider } from './test-provider.js'

const SCOPE = 'openid profile user/Patient.rs'

let provider: TestProvider
let running: RunningServer
let config: client.Configuration

beforeAll(async () => {
  provider = await testProvider(SCOPE)
  running = await startServer({ verifiers: [jwtVerifier({ ...provider.keys, audience: AUDIENCE })] })
  provider.open()
  config = await provider.config()
})
afterAll(async () => {
  await running.stop()
  provider.stop()
})

const accessToken = async (scope = SCOPE): Promise<string> =>
  (await client.clientCredentialsGrant(config, { scope, resource: AUDIENCE })).access_token

/** The client's view of a service whose tokens come from the provider and whose user information comes from us. */
function ourConfig(): client.Configuration {
  const ours = new client.Configuration({ issuer: provider.issuer, userinfo_endpoint: `${running.base}/oauth2/userinfo` }, CLIENT.client_id)
  client.allowInsecureRequests(ours)
  return ours
}

const get = (path: string, token: string): Promise<Reply> =>
  send(`${running.base}${path}`, { headers: { authorization: `Bearer ${token}` } })

describe('tokens of an OpenID provider', () => {
  it('are accepted at the user-information endpoint, by a client that checks its answer', async () => {
    expect(await client.fetchUserInfo(ourConfig(), await accessToken(), 'app')).toEqual({ sub: 'app' })
  })

  it('are refused in a way that the client understands', async () => {
    const failure = await client.fetchUserInfo(ourConfig(), `${await accessToken()}x`, 'app').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(client.WWWAuthenticateChallengeError)
    expect((failure as client.WWWAuthenticateChallengeError).cause).toMatchObject([
      { scheme: 'bearer', parameters: { error: 'invalid_token' } },
    ])
  })

  it('give what their scopes say', async () => {
    const token = await accessToken()
    expect([(await get('/fhir/R4/Patient/1', token)).status, (await get('/fhir/R4/Observation/1', token)).status]).toEqual([404, 403])
    const narrow = await accessToken('profile')
    expect((await get('/oauth2/userinfo', narrow)).status).toBe(403)
  })

  it('have a session that is listed and can be ended from another one', async () => {
    const [mine, other] = [await accessToken(), await accessToken()]
    await get('/oauth2/userinfo', other)
    const list = await get('/auth/me', mine)
    const sessions = at(list.json, 'sessions') as { loginId: string; current: boolean; authMethod: string; remoteHost: string }[]
    expect(sessions.find(({ current }) => current)).toMatchObject({ authMethod: provider.issuer, remoteHost: '127.0.0.1' })
    for (const { loginId } of sessions.filter(({ current }) => !current)) {
      const headers = { authorization: `Bearer ${mine}`, 'content-type': 'application/json' }
      await send(`${running.base}/auth/revoke`, { method: 'POST', headers, body: JSON.stringify({ loginId }) })
    }
    expect([(await get('/auth/me', other)).status, (await get('/auth/me', mine)).status]).toEqual([401, 200])
  })

  it('are ended by logout', async () => {
    const token = await accessToken()
    expect((await send(`${running.base}/oauth2/logout`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status).toBe(
      200,
    )
    expect((await get('/auth/me', token)).status).toBe(401)
  })
})
