import { MedplumClient } from '@medplum/core'
import { createBots, type BotEvent } from 'fhir-ops/execute'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, USER, FULL_SCOPES, userInfo, type RunningServer } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  const hostBots = [{ id: 'echo', run: ({ input, contentType }: BotEvent) => ({ input, contentType }) }]
  running = await startServer({ bots: createBots({ hostBots }) })
})
afterAll(() => running.stop())

interface SignedIn {
  readonly client: MedplumClient
  readonly token: string
  readonly loginId: string
}

async function signedIn(): Promise<SignedIn> {
  const { token, loginId } = await running.sessions.create({ user: USER, scopes: FULL_SCOPES })
  const client = new MedplumClient({ baseUrl: `${running.base}/`, fetch: (...request) => fetch(...request) })
  client.setAccessToken(token)
  return { client, token, loginId }
}

const statusFor = async (token: string): Promise<number> => (await userInfo(running, token)).status

describe('the client that most users of such servers have, as it is', () => {
  it('signOut ends the session', async () => {
    const { client, token } = await signedIn()
    expect(await statusFor(token)).toBe(200)
    await client.signOut()
    expect(await statusFor(token)).toBe(401)
  })

  it('post("auth/revoke") ends another session of the user', async () => {
    const [mine, other] = [await signedIn(), await signedIn()]
    await mine.client.post('auth/revoke', { loginId: other.loginId })
    expect([await statusFor(mine.token), await statusFor(other.token)]).toEqual([200, 401])
  })

  it.each([
    ['an object', { weightKg: 61.5, heightM: 1.68 }],
    ['a resource', { resourceType: 'Patient', active: true }],
  ])('executeBot passes %s on to the bot', async (_, input) => {
    const { client } = await signedIn()
    expect(await client.executeBot('echo', input)).toEqual({ input, contentType: 'application/fhir+json' })
  })

  it('executeBot passes a text on', async () => {
    const { client } = await signedIn()
    expect(await client.executeBot('echo', 'plain', 'text/plain')).toEqual({ input: 'plain', contentType: 'text/plain' })
  })
})
