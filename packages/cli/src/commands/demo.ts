import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Command, Option } from 'commander'
import { createSessions, type IssuedToken } from 'fhir-ops/sessions'
import { demoClaims, FULL_SCOPES } from '../demo-user.js'
import { makeFolder } from '../make-folder.js'
import { SAMPLE_FOLDER } from '../sample-folder.js'
import { interrupted } from '../interrupted.js'
import type { Io } from '../io.js'
import { type RunningServer, serve } from '../serve.js'
import { demoGuide } from './demo-guide.js'
import { portNumber } from './options.js'
import { stop } from './serve.js'

const DAY_SECONDS = 86_400
/** How this program was started, for commands to paste. */
const COMMAND = process.env['npm_lifecycle_event'] === undefined ? 'fhir-ops' : 'npm run --silent fhir-ops --'

/** `fhir-ops demo`. */
export function demoCommand(io: Io): Command {
  return new Command('demo')
    .description('Serve sample content from a SQLite file and print a ready-to-paste call for each operation.')
    .addOption(new Option('--port <port>', 'port to listen on; 0 takes a free one').argParser(portNumber).default(8080).env('PORT'))
    .option('--file <file>', 'SQLite file; made and filled when it does not exist', '.fhir-ops/demo.db')
    .addHelpText('after', '\nExample:\n  fhir-ops demo --port 8081')
    .action((options: DemoOptions) => demo(options, io))
}

interface DemoOptions {
  readonly port: number
  readonly file: string
}

async function demo(options: DemoOptions, io: Io): Promise<void> {
  const server = await serveSamples(options, io)
  // Heard before anything is said: who starts a server may end it as soon as it says that it listens.
  const end = interrupted()
  const [{ token }, other] = [await demoSession(server), await demoSession(server)]
  const tokenCommand = `${COMMAND} token create --storage sqlite:${options.file}`
  io.out(`\n${demoGuide({ url: server.url, token, otherLoginId: other.loginId, tokenCommand })}\n`)
  io.out(`listening on ${server.url}`)
  await end
  await stop(server, io)
}

/** Serves the file, with the samples when it is new. Until they are in it a file beside it says so, for the next start after a kill. */
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
  const user = { sub: 'demo', ...demoClaims('demo') }
  return sessions.create({ user, scopes: FULL_SCOPES, userAgent: 'fhir-ops demo', remoteHost: '127.0.0.1', ttl: DAY_SECONDS })
}
