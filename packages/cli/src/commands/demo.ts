import { Command, Option } from 'commander'
import { createSessions, type IssuedToken } from 'fhir-ops/sessions'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DEMO_USER, FULL_SCOPES } from '../serve/identity.js'
import { makeFolder, SAMPLE_FOLDER } from '../files.js'
import type { Io } from '../io.js'
import { serve, untilInterrupted, type RunningServer } from '../serve/service.js'
import { notBlank, portNumber } from './options.js'

const DAY_SECONDS = 86_400
/** How this program was started, for commands that users paste. */
const COMMAND = process.env['npm_lifecycle_event'] === undefined ? 'fhir-ops' : 'npm run --silent fhir-ops --'

/** `fhir-ops demo`. */
export function demoCommand(io: Io): Command {
  return new Command('demo')
    .description('Serve sample content from a SQLite file and print a ready-to-paste call for each operation.')
    .addOption(new Option('--port <port>', 'port to listen on; 0 takes a free one').argParser(portNumber).default(8080).env('PORT'))
    .option('--file <file>', 'SQLite file; made and filled when it does not exist', notBlank, '.fhir-ops/demo.db')
    .addHelpText('after', '\nExample:\n  fhir-ops demo --port 8081')
    .action((options: DemoOptions) => demo(options, io))
}

interface DemoOptions {
  readonly port: number
  readonly file: string
}

async function demo(options: DemoOptions, io: Io): Promise<void> {
  const server = await serveSamples(options, io)
  await untilInterrupted(server, io, async () => {
    const [{ token }, other] = [await demoSession(server), await demoSession(server)]
    const tokenCommand = `${COMMAND} token create --storage sqlite:${options.file}`
    io.out(`\n${demoGuide({ url: server.url, token, otherLoginId: other.loginId, tokenCommand })}\n`)
    io.out(`listening on ${server.url}`)
  })
}

/** Serves the file, and fills it with the samples if it is new. Until it is filled, a marker file exists next to it, in case the process is killed. */
export async function serveSamples({ port, file }: DemoOptions, io: Io): Promise<RunningServer> {
  const unfilled = `${file}.unfilled`
  await makeFolder(dirname(file))
  if (!existsSync(file)) await writeFile(unfilled, '')
  const server = await serve(
    { host: '127.0.0.1', port, storage: `sqlite:${file}`, ui: true, cors: ['*'], load: existsSync(unfilled) ? [SAMPLE_FOLDER] : [] },
    io,
  )
  await rm(unfilled, { force: true })
  return server
}

function demoSession({ engine }: RunningServer): Promise<IssuedToken> {
  const sessions = createSessions({ store: engine.sessionStore })
  return sessions.create({ user: DEMO_USER, scopes: FULL_SCOPES, userAgent: 'fhir-ops demo', remoteHost: '127.0.0.1', ttl: DAY_SECONDS })
}

interface DemoCall {
  readonly title: string
  readonly command: string
}

/** Values that the calls of a demo server contain. */
interface DemoServer {
  readonly url: string
  readonly token: string
  /** Login id of a second session of the same user. */
  readonly otherLoginId: string
  /** Command that creates another token. */
  readonly tokenCommand: string
}

/** The output of a demo server: its page, its token, and a call for each operation. It can be pasted as a whole, so the call that ends the token is last. */
export function demoGuide(server: DemoServer): string {
  const calls = [...whoCalls(server), ...operationCalls(server), ...botCalls(server), ...endingCalls(server)]
  return [
    `# the playground, a page to open in a browser\n# ${server.url}/#token=${server.token}\n`,
    `# access token of the demo user, valid for a day or until the logout below\nTOKEN=${server.token}\n`,
    ...calls.map(({ title, command }) => `# ${title}\n${command}\n`),
  ].join('\n')
}

function whoCalls(server: DemoServer): readonly DemoCall[] {
  return [
    { title: 'who am I', command: get(server, '/oauth2/userinfo') },
    { title: 'my sessions', command: get(server, '/auth/me') },
  ]
}

function operationCalls(server: DemoServer): readonly DemoCall[] {
  return [...codeCalls(server), ...resourceCalls(server), ...measureCalls(server)]
}

const PRIORITIES = 'http://example.org/fhir/CodeSystem/visit-priority'
const PRIORITY_SET = 'http://example.org/fhir/ValueSet/visit-priority'

function codeCalls(server: DemoServer): readonly DemoCall[] {
  const translation = parameters(
    { name: 'url', valueUri: 'http://example.org/fhir/ConceptMap/visit-priority-to-act-priority' },
    { name: 'system', valueUri: PRIORITIES },
    { name: 'code', valueCode: 'urgent' },
  )
  const name = { name: 'name', valueString: 'priorities' }
  const codes = ['unplanned', 'urgent'].map((code) => ({ name: 'concept', valueCoding: { system: PRIORITIES, code } }))
  const read = (title: string, path: string): DemoCall => ({ title, command: get(server, `/fhir/R4/${path}`) })
  const closure = (title: string, ...parameter: readonly object[]): DemoCall => ({
    title,
    command: post(server, '/fhir/R4/$closure', { type: FHIR_JSON, body: parameters(...parameter) }),
  })
  return [
    { title: 'translate a code', command: post(server, '/fhir/R4/ConceptMap/$translate', { type: FHIR_JSON, body: translation }) },
    read('expand a value set', `ValueSet/$expand?url=${PRIORITY_SET}&filter=urg`),
    read('check a code and its display', `ValueSet/$validate-code?url=${PRIORITY_SET}&system=${PRIORITIES}&code=urgent&display=Urgent`),
    read('look a code up', `CodeSystem/$lookup?system=${PRIORITIES}&code=urgent`),
    read('compare two value sets', `ValueSet/$compare?thisUrl=${PRIORITY_SET}&otherUrl=http://hl7.org/fhir/ValueSet/request-priority`),
    read('ask whether a code is above another', `CodeSystem/$subsumes?system=${PRIORITIES}&codeA=unplanned&codeB=urgent`),
    closure('begin a closure table', name),
    closure('add codes to it: the answer has the new pairs', name, ...codes),
  ]
}

function resourceCalls(server: DemoServer): readonly DemoCall[] {
  const invalid = `'{"resourceType":"Patient","name":[{"family":"Lovell","foo":"bar"}]}'`
  const profile = 'http://hl7.org/fhir/StructureDefinition/bp'
  return [
    { title: 'validate a resource', command: post(server, '/fhir/R4/Patient/$validate', { type: FHIR_JSON, body: invalid }) },
    { title: 'make the snapshot of a profile', command: get(server, `/fhir/R4/StructureDefinition/$snapshot?url=${profile}`) },
  ]
}

function measureCalls(server: DemoServer): readonly DemoCall[] {
  const measure = '/fhir/R4/Measure/heart-rate-count'
  const period = parameters({ name: 'periodStart', valueDate: '2026-01-01' }, { name: 'periodEnd', valueDate: '2026-12-31' })
  const year = '?periodStart=2026&periodEnd=2026'
  const collect = get(server, `${measure}/$collect-data${year}`)
  return [
    { title: 'evaluate a measure', command: post(server, `${measure}/$evaluate-measure`, { type: FHIR_JSON, body: period }) },
    { title: 'say what data it looks at', command: get(server, `${measure}/$data-requirements${year}`) },
    { title: 'list that data', command: collect },
    {
      title: 'store it, as another server would that it was sent to',
      command: `${collect} | ${post(server, `${measure}/$submit-data`, { type: FHIR_JSON, body: '@-' })}`,
    },
    {
      title: 'evaluate an expression of CQL',
      command: `${get(server, '/fhir/R4/$cql')} -G --data-urlencode 'expression=months between @2020-01-31 and @2020-12-01'`,
    },
  ]
}

function botCalls(server: DemoServer): readonly DemoCall[] {
  const form = `'family=Lovell&given=Ada&birthDate=1980-12-10'`
  // Octal escapes, because shells differ in how they treat two backslashes.
  const message = String.raw`printf 'MSH|^~\134&|LAB|CITY|APP|CLINIC|20260203093000||ORU^R01|42|P|2.5.1\rPID|1||7||LOVELL^ADA'`
  return [
    {
      title: 'run a bot on JSON',
      command: post(server, '/fhir/R4/Bot/bmi/$execute', { type: 'application/json', body: `'{"weightKg":61.5,"heightM":1.68}'` }),
    },
    {
      title: 'run a bot on a form, found by its identifier',
      command: post(server, '/fhir/R4/Bot/$execute?identifier=http://example.org/fhir/bots|intake-form', {
        type: 'application/x-www-form-urlencoded',
        body: form,
      }),
    },
    {
      title: 'run a bot on an HL7 v2 message',
      command: `${message} | ${post(server, '/fhir/R4/Bot/hl7-ack/$execute', { type: 'x-application/hl7-v2+er7', body: '@-' })}`,
    },
  ]
}

function endingCalls(server: DemoServer): readonly DemoCall[] {
  const other = `'${JSON.stringify({ loginId: server.otherLoginId })}'`
  return [
    { title: 'a new token, at any time', command: server.tokenCommand },
    { title: 'end my other session by its login id', command: post(server, '/auth/revoke', { type: 'application/json', body: other }) },
    {
      title: 'end this session: the token is refused afterwards',
      command: post(server, '/oauth2/logout', { type: 'application/json', body: `'{}'` }),
    },
  ]
}

const FHIR_JSON = 'application/fhir+json'

function get({ url, token }: DemoServer, path: string): string {
  return `curl -s -H 'Authorization: Bearer ${token}' '${url}${path}'`
}

interface Body {
  readonly type: string
  /** Body, quoted for a POSIX shell. */
  readonly body: string
}

function post(server: DemoServer, path: string, { type, body }: Body): string {
  return `${get(server, path)} -H 'Content-Type: ${type}' --data-binary ${body}`
}

function parameters(...parameter: readonly object[]): string {
  return `'${JSON.stringify({ resourceType: 'Parameters', parameter })}'`
}
