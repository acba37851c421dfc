import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Command } from 'commander'
import { createSessions, type IssuedToken } from 'fhir-ops/sessions'
import { demoClaims, FULL_SCOPES } from '../demo-user.js'
import type { Io } from '../io.js'
import { SAMPLE_FOLDER } from '../sample-folder.js'
import { serve, type RunningServer } from '../serve.js'
import { demoCalls } from './demo-calls.js'
import { portNumber } from './options.js'
import { interrupted, stop } from './serve.js'

const DAY_SECONDS = 86_400

/** `fhir-ops demo`. */
export function demoCommand(io: Io): Command {
  return new Command('demo')
    .description('Serve sample content from a SQLite file and print a ready-to-paste call for each operation.')
    .option('--port <port>', 'port to listen on; 0 takes a free one', portNumber, 8080)
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
  const [{ token }, other] = [await demoSession(server), await demoSession(server)]
  io.out(`\nAccess token of the demo user, good for a day:\n\n  ${token}\n`)
  for (const { title, command } of demoCalls({ url: server.url, token, otherLoginId: other.loginId })) io.out(`# ${title}\n${command}\n`)
  io.out(`listening on ${server.url}`)
  await interrupted()
  await stop(server, io)
}

/** Serves the file, with the samples when it is new. Until they are in it a file beside it says so, for the next start after a kill. */
export async function serveSamples({ port, file }: DemoOptions, io: Io): Promise<RunningServer> {
  const unfilled = `${file}.unfilled`
  await mkdir(dirname(file), { recursive: true })
  if (!existsSync(file)) await writeFile(unfilled, '')
  const server = await serve({ host: '127.0.0.1', port, storage: `sqlite:${file}`, load: existsSync(unfilled) ? [SAMPLE_FOLDER] : [] }, io)
  await rm(unfilled, { force: true })
  return server
}

function demoSession({ engine }: RunningServer): Promise<IssuedToken> {
  const sessions = createSessions({ store: engine.sessionStore })
  const user = { sub: 'demo', ...demoClaims('demo') }
  return sessions.create({ user, scopes: FULL_SCOPES, userAgent: 'fhir-ops demo', remoteHost: '127.0.0.1', ttl: DAY_SECONDS })
}
