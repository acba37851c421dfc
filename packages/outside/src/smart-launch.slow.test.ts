import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { discoverIssuer, jwtVerifier, type HandlerOptions } from '@fhir-ops/handler'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { calledServer } from '../../handler/test/called-server.js'
import { CLIENT_PAGE, clientPage, presentPage, type CallRow } from '../../handler/test/client-page.js'
import type { RunningServer } from '../../handler/test/running-server.js'
import { AUDIENCE, GRANTED, smartProvider, type SmartProvider } from '../../handler/test/smart-provider.js'
import { freePort } from '../../postgres/test/free-port.js'
import { chromium, CHROMIUM_ARGS } from '../../../test/chromium.js'
import { installedTools, TOOLS } from './tools.js'

const FHIRCLIENT = join(import.meta.dirname, '../../handler/node_modules/fhirclient')
const browser = installedTools() === undefined ? undefined : chromium()

/** Starts the app with a server, in Chromium. @returns What it shows at the end. */
async function launched(port: number, base: string): Promise<Record<string, unknown>> {
  const page = { program: browser, args: CHROMIUM_ARGS, folder: join(TOOLS, 'smart-launch'), fhirclient: FHIRCLIENT }
  const asked = JSON.stringify({ ...page, port, server: `${base}/fhir/R4`, scope: GRANTED })
  const { stdout } = await promisify(execFile)(process.execPath, [join(TOOLS, 'run-smart-launch.mjs'), asked])
  return JSON.parse(stdout)
}

describe.skipIf(browser === undefined)('an app of SMART in Chromium (needs Chromium and tools of npm)', () => {
  let port = 0
  let provider: SmartProvider
  let server: RunningServer
  const rows: CallRow[] = []

  beforeAll(async () => {
    port = await freePort()
    provider = await smartProvider(`http://127.0.0.1:${port}/`, { patient: 'p' })
    server = await serverOf({
      verifiers: [
        jwtVerifier({ issuer: provider.issuer, jwksUri: `${provider.issuer}/jwks`, allowInsecureLoopback: true, audience: AUDIENCE }),
      ],
      smartConfiguration: async () => (await discoverIssuer(provider.issuer)).published,
    })
  })
  afterAll(async () => {
    await server.stop()
    provider.stop()
  })

  const serverOf = async (options: Partial<HandlerOptions>): Promise<RunningServer> => {
    const running = await calledServer({ origins: [`http://127.0.0.1:${port}`] }, options)
    await running.storage.write([
      { op: 'put', type: 'Patient', id: 'other', text: '{"resourceType":"Patient","id":"other","meta":{}}', entries: [] },
    ])
    return running
  }

  test('finds the provider by the server, logs in there, and gets what its scopes allow, also after a refresh', async () => {
    const { write, other, ...got } = await launched(port, server.base)
    expect(got).toEqual({
      patient: 'p',
      user: 'Practitioner/ann',
      read: 'Lovell',
      observations: 1,
      refreshed: true,
      isRefreshed: true,
      again: 'Lovell',
    })
    // Somebody else's record is not there, as far as the token can see; and it may read only.
    expect(other).toEqual({ error: expect.stringContaining('There is no Patient/other.') })
    expect(write).toEqual({ error: expect.stringContaining('403') })
    rows.push({
      call: 'oauth2.authorize, oauth2.ready',
      result: 'works in Chromium, with PKCE, at the provider that the server names (`smartConfiguration`), which is an `oidc-provider`',
    })
    rows.push({ call: 'patient.read, patient.request', result: 'works, within the compartment of the patient of the token' })
    rows.push({ call: 'refresh', result: 'works; a provider may want `client.environment.options.refreshTokenWithClientId = true`' })
  })

  test('is told that it needs a token by a server that names no provider', async () => {
    const alone = await serverOf({})
    const got = await launched(port, alone.base)
    await alone.stop()
    expect(got).toMatchObject({
      patient: null,
      other: { error: expect.stringMatching(/^401 [^]*An access token is required, in the header/) },
    })
    rows.push({ call: 'oauth2.authorize of a server without a provider', result: 'goes on without a token, and each call is 401' })
  })

  test('docs/clients.md says so', async () => {
    const { version } = JSON.parse(readFileSync(join(FHIRCLIENT, 'package.json'), 'utf8'))
    await expect(clientPage(presentPage(), 'A launch with fhirclient', { version, rows })).toMatchFileSnapshot(CLIENT_PAGE)
  })
})
