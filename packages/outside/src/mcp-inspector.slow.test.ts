import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENT_PAGE, clientPage, presentPage, type CallRow } from '../../handler/test/client-page.js'
import { builtFile } from '../../../test/built.js'
import { installedTools } from './tools.js'

const tools = installedTools()
const MAIN = builtFile('packages/cli/dist/main.js')
const SAMPLE = join(import.meta.dirname, '../../cli/sample')
const SYSTEM = 'http://example.org/fhir/CodeSystem/visit-priority'
const LOOKUP = ['--tool-name', 'lookup', '--tool-arg', `system=${SYSTEM}`, 'code=urgent']

interface Said {
  readonly status: number
  readonly out: string
  readonly err: string
}

describe.skipIf(tools === undefined)('the inspector of MCP, on its command line (needs tools of npm)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-inspector-'))
  const program = tools?.file('@modelcontextprotocol/inspector/clients/launcher/build/index.js') ?? ''
  const rows: CallRow[] = []
  let server: ReturnType<typeof spawn>
  let url = ''

  beforeAll(async () => {
    const fhir = { command: process.execPath, args: [MAIN, 'mcp', '--load', SAMPLE] }
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { fhir } }))
    server = spawn(process.execPath, [MAIN, 'mcp', '--port', '0', '--dev-token', 'secret', '--load', SAMPLE], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    for await (const line of server.stdout ?? []) {
      url = String(line).replace('listening on ', '').trim()
      break
    }
  })
  afterAll(async () => {
    server.kill()
    await once(server, 'exit')
    rmSync(folder, { recursive: true })
  })

  const overInput = ['--config', join(folder, 'mcp.json'), '--server', 'fhir']
  const overHttp = (token: string): readonly string[] => [url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`]

  async function ask(server: readonly string[], ...method: readonly string[]): Promise<Said> {
    const env = { ...process.env, HOME: folder, MCP_INSPECTOR_SECRET_STORE: 'memory' }
    const args = [program, '--cli', ...server, '--method', ...method]
    // Into files: the inspector ends without waiting for a pipe to take what it wrote.
    const [out, err] = [join(folder, 'out'), join(folder, 'err')]
    const files = [openSync(out, 'w'), openSync(err, 'w')]
    const [status] = await once(spawn(process.execPath, args, { env, cwd: folder, stdio: ['ignore', ...files] }), 'exit')
    files.forEach(closeSync)
    return { status, out: readFileSync(out, 'utf8'), err: readFileSync(err, 'utf8') }
  }

  /** A call over both ways, and what the answer contains. */
  const CALLS: readonly (readonly [call: string, method: readonly string[], answer: RegExp])[] = [
    ['resources/list', [], /"uri": "fhir:\/\/\/ValueSet\/visit-priority"/],
    ['resources/templates/list', [], /fhir:\/\/\/\{type\}\/\{id\}/],
    ['resources/read', ['--uri', 'fhir:///ValueSet/visit-priority'], /Visit priority/],
    ['prompts/list', [], /"name": "code_term"/],
    ['prompts/get', ['--prompt-name', 'code_term', '--prompt-args', 'term=urgent', `valueSet=${SYSTEM}`], /urgent/],
    ['tools/call', LOOKUP, /"display": "Urgent, same day"/],
    [
      'tools/call of a bot',
      ['--tool-name', 'execute_bot', '--tool-arg', 'id=bmi', 'input={"weightKg":61.5,"heightM":1.68}'],
      /"bmi": 21\.8/,
    ],
  ]

  test.each(CALLS)('%s', async (call, args, answer) => {
    const method = call.split(' ')[0] ?? ''
    expect(await ask(overInput, method, ...args)).toMatchObject({ status: 0, out: expect.stringMatching(answer) })
    expect(await ask(overHttp('secret'), method, ...args)).toMatchObject({ status: 0, out: expect.stringMatching(answer) })
    rows.push({ call, result: 'works, over standard input and HTTP' })
  })

  test('finds nothing in the schemas of the tools that a model or client could not take', async () => {
    const { status, out, err } = await ask(overInput, 'tools/list', '--strict')
    expect(status).toBe(0)
    expect(JSON.parse(out).tools).toHaveLength(11)
    expect(err).not.toMatch(/\d+ errors?, \d+ warning/)
    rows.push({ call: 'tools/list --strict', result: 'works: no problem in the schemas' })
  })

  test('is told what was wrong', async () => {
    const wrong = await ask(overInput, 'tools/call', '--tool-name', 'lookup', '--tool-arg', 'code=urgent')
    expect(wrong).toMatchObject({ status: 5, out: expect.stringContaining('have required property \\"system\\"') })
    rows.push({ call: 'tools/call without an argument', result: 'says which' })
    expect(await ask(overHttp('wrong'), 'tools/list', '--stored-auth-only')).toMatchObject({ status: expect.any(Number), out: '' })
    rows.push({ call: 'tools/list with a wrong token', result: 'refused: 401' })
  })

  test('docs/clients.md says so', async () => {
    const { version } = { version: tools?.versionOf('@modelcontextprotocol/inspector') ?? '' }
    await expect(clientPage(presentPage(), '@modelcontextprotocol/inspector', { version, rows })).toMatchFileSnapshot(CLIENT_PAGE)
  })
})
