import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { calledServer } from '../../handler/test/called-server.js'
import { CLIENT_PAGE, clientPage, presentPage, type CallRow } from '../../handler/test/client-page.js'
import { type RunningServer } from '../../handler/test/running-server.js'
import { freePort } from '../../postgres/test/free-port.js'
import { chromium, CHROMIUM_ARGS } from '../../../test/chromium.js'
import { lhcForms, medplumCli } from './called-programs.js'
import { installedTools, TOOLS } from './tools.js'

let running: RunningServer
let folder = ''
beforeAll(async () => {
  running = await calledServer()
  folder = mkdtempSync(join(tmpdir(), 'fhir-ops-clients-'))
})
afterAll(async () => {
  await running.stop()
  rmSync(folder, { recursive: true })
})

/** What was called, to be written to the page when all have been. */
const called: { readonly client: string; readonly version: string; readonly rows: readonly CallRow[] }[] = []

const versionIn = (file: string, pattern: RegExp): string =>
  pattern.exec(readFileSync(join(import.meta.dirname, '..', file), 'utf8'))?.[1] ?? ''

const medplum = medplumCli()
interface Command {
  readonly args: readonly string[]
  readonly answer: RegExp
  readonly result?: string
}

const COMMANDS: readonly Command[] = [
  { args: ['get', 'Patient/p'], answer: /"family": "Lovell"/ },
  { args: ['get', 'Patient?family=Lovell'], answer: /"total": 1,/ },
  { args: ['get', 'ValueSet/$expand?url=http://a.example/vs'], answer: /"display": "Beta"/ },
  { args: ['post', 'Patient', '{"resourceType":"Patient"}'], answer: /"versionId": "1"/ },
  { args: ['put', 'Patient/c', '{"resourceType":"Patient","id":"c"}'], answer: /"id": "c"/ },
  { args: ['patch', 'Patient/c', '[{"op":"add","path":"/active","value":true}]'], answer: /"active": true/ },
  { args: ['delete', 'Patient/c'], answer: /^undefined\s*$/ },
  { args: ['get', 'Patient/none'], answer: /There is no Patient\/none\./, result: 'says what the server says' },
  { args: ['bulk', 'import', 'patients.ndjson'], answer: /"status": "201"[^]*"status": "201"/ },
  { args: ['bulk', 'export'], answer: /There is no operation '\$export'/, result: 'not offered: 404' },
  {
    args: ['whoami'],
    answer: /Not logged in/,
    result: 'not after `--access-token`; `login` needs the page of a provider, and there is none here',
  },
]

describe.skipIf(medplum === undefined)('@medplum/cli (needs tools of npm)', () => {
  test.each(COMMANDS)('$args', async ({ args, answer }) => {
    const file = join(folder, 'patients.ndjson')
    writeFileSync(file, '{"resourceType":"Patient","id":"n1"}\n{"resourceType":"Patient","id":"n2"}\n')
    const given = args.map((arg) => (arg === 'patients.ndjson' ? file : arg))
    expect(await medplum?.(...given, '--base-url', running.base, '--access-token', running.token)).toMatch(answer)
  })

  test('was called with all of these', () => {
    const rows = COMMANDS.map(({ args, result = 'works' }) => ({ call: args.slice(0, 2).join(' '), result }))
    called.push({ client: '@medplum/cli', version: installedVersion('@medplum/cli'), rows })
  })
})

const browser = medplum === undefined ? undefined : chromium()

test.skipIf(browser === undefined)(
  'the typeahead of @medplum/react searches from a page of another origin (needs Chromium and tools of npm)',
  async () => {
    const port = await freePort()
    const server = await calledServer({ origins: [`http://127.0.0.1:${port}`], credentials: true })
    const page = { program: browser, args: CHROMIUM_ARGS, folder: join(TOOLS, 'typeahead'), outDir: join(folder, 'page'), port }
    const asked = JSON.stringify({ ...page, base: `${server.base}/`, token: server.token })
    const { stdout } = await promisify(execFile)(process.execPath, [join(TOOLS, 'run-typeahead.mjs'), asked])
    await server.stop()
    expect(JSON.parse(stdout)).toEqual({
      offered: expect.arrayContaining([expect.stringContaining('Beta')]),
      chosen: [expect.objectContaining({ system: 'http://a.example/cs', code: 'b', display: 'Beta' })],
      problems: [],
    })
    const result = 'works, from a page of another origin that `cors` names, with `credentials`'
    called.push({
      client: '@medplum/react',
      version: installedVersion('@medplum/react'),
      rows: [{ call: '<ValueSetAutocomplete>', result }],
    })
  },
)

const forms = browser === undefined ? undefined : lhcForms()

test.skipIf(forms === undefined)(
  'the typeahead of LHC-Forms searches from a page of another origin, and what the form makes is valid and stored (needs Chromium, its package and tools of npm)',
  async () => {
    const port = await freePort()
    const server = await calledServer({ origins: [`http://127.0.0.1:${port}`] })
    const base = `${server.base}/fhir/R4`
    const folders = {
      page: join(TOOLS, 'lhc-forms'),
      lforms: forms,
      fhirclient: join(import.meta.dirname, '../../handler/node_modules/fhirclient'),
    }
    const asked = { program: browser, args: CHROMIUM_ARGS, folders, port, base, token: server.token, valueSet: 'http://a.example/vs' }
    const { stdout } = await promisify(execFile)(process.execPath, [join(TOOLS, 'run-lhc-forms.mjs'), JSON.stringify(asked)])
    const { made: [response, transaction] = [], ...shown } = JSON.parse(stdout)
    expect(shown).toEqual({ offered: 'Beta', problems: [] })
    const chosen = { system: 'http://a.example/cs', code: 'b', display: 'Beta' }
    expect(response).toMatchObject({ resourceType: 'QuestionnaireResponse', item: [{ linkId: 'code', answer: [{ valueCoding: chosen }] }] })
    expect(transaction.entry).toHaveLength(1)

    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/fhir+json' }
    const send = async (path: string, method: string, body: unknown) => fetch(base + path, { method, headers, body: JSON.stringify(body) })
    for (const resource of [response, transaction.entry[0].resource]) {
      const outcome = await (await send(`/${resource.resourceType}/$validate`, 'POST', resource)).text()
      expect(outcome).toContain('"id":"ok"')
      expect(outcome).not.toMatch(/"severity":"(?:error|fatal)"/)
    }
    expect((await send(`/QuestionnaireResponse/${response.id}`, 'PUT', response)).status).toBe(201)
    expect(await (await send('', 'POST', transaction)).json()).toMatchObject({
      entry: [{ response: { status: expect.stringMatching(/^201/) } }],
    })
    await server.stop()
    callsOf('LHC-Forms', versionIn('clients/lforms/package.txt', /@(.*)/), [
      ['a choice with answerValueSet, searched while typing', 'works, from a page of another origin, with the token of `setFHIRContext`'],
      ['getFormFHIRData', 'works: `$validate` has no errors for it, and it is stored'],
      ['getFormFHIRData with extract', 'works: its transaction of Observations is valid and stored'],
    ])
  },
)

/** What is said of calls on the page. */
function callsOf(client: string, version: string, calls: readonly (readonly [call: string, result: string])[]): void {
  called.push({ client, version, rows: calls.map(([call, result]) => ({ call, result })) })
}

test('docs/clients.md says what was called', async () => {
  const page = called.reduce((text, { client, ...table }) => clientPage(text, client, table), presentPage())
  await expect(page).toMatchFileSnapshot(CLIENT_PAGE)
})

function installedVersion(name: string): string {
  return String(JSON.parse(readFileSync(installedTools()?.file(`${name}/package.json`) ?? '', 'utf8')).version)
}
