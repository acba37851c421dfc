import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'

const CLI = builtFile('packages/cli/dist/main.js')
const shell = promisify(execFile)
let folder = ''
let server: ChildProcess
const commands = new Map<string, string>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-demo-'))
  server = spawn(process.execPath, [CLI, 'demo', '--port', '0', '--file', join(folder, 'demo.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (server.stdout === null) throw new Error('the server has no output')
  let title = ''
  for await (const line of createInterface(server.stdout)) {
    if (line.startsWith('# ')) title = line.slice(2)
    if (/^(curl|printf) /.test(line)) commands.set(title, line)
    if (line.startsWith('listening on ')) break
  }
})

afterAll(async () => {
  server.kill()
  await once(server, 'exit')
  await rm(folder, { recursive: true })
})

/** Runs a printed command in a shell, as a newcomer who pastes it. */
async function pasted(title: string): Promise<string> {
  const command = commands.get(title)
  if (command === undefined) throw new Error(`not printed: ${title}; but ${[...commands.keys()].join(', ')}`)
  return (await shell('bash', ['-c', command])).stdout
}

const outcome = (issue: object): object => ({ resourceType: 'OperationOutcome', issue: [issue] })
const ok = outcome({ severity: 'information', code: 'informational', details: { text: 'All OK' } })

test.each([
  ['who am I', { sub: 'demo', name: 'Demo User', email: 'demo@example.org' }],
  ['my sessions', { sub: 'demo', sessions: [{ remoteHost: '127.0.0.1' }, { userAgent: 'fhir-ops demo' }] }],
  ['translate a code', { resourceType: 'Parameters', parameter: [{ name: 'result', valueBoolean: true }, { name: 'match' }] }],
  ['expand a value set', { resourceType: 'ValueSet', expansion: { offset: 0, contains: [{ code: 'urgent' }] } }],
  ['evaluate a measure', { resourceType: 'MeasureReport', group: [{ population: [{ count: 3 }] }, { population: [{ count: 3 }] }] }],
  [
    'validate a resource',
    outcome({
      severity: 'error',
      code: 'structure',
      details: { text: 'Invalid additional property "Patient.name[0].foo"' },
      expression: ['Patient.name[0].foo'],
    }),
  ],
  ['run a bot on JSON', { bmi: 21.8 }],
  ['run a bot on a form, found by its identifier', { resourceType: 'Patient', birthDate: '1980-12-10' }],
])('the call to %s answers', async (title, expected) => {
  expect(JSON.parse(await pasted(title))).toMatchObject(expected)
})

test('the call of the HL7 v2 bot answers with an acknowledgement', async () => {
  expect(await pasted('run a bot on an HL7 v2 message')).toMatch(/^MSH\|.*\rMSA\|AA\|42\|stored/)
})

test('the calls that end sessions end them', async () => {
  expect(JSON.parse(await pasted('end my other session by its login id'))).toMatchObject(ok)
  expect(JSON.parse(await pasted('my sessions')).sessions).toHaveLength(1)
  expect(JSON.parse(await pasted('end this session: the token is refused afterwards'))).toMatchObject(ok)
  expect(await pasted('who am I')).toContain('invalid_token')
})
