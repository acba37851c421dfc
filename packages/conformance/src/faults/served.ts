import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { builtFile } from '../../../../test/built.js'

const CLI = builtFile('packages/cli/dist/main.js')
const SAMPLE = resolve(import.meta.dirname, '../../../cli/sample')

/** Resources that a process holds. */
interface Held {
  readonly residentMb: number
  readonly files: number
  readonly threads: number
}

/** `fhir-ops serve` in its own process, with the sample content. */
export interface Served {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  held(): Promise<Held>
  /** Sends SIGTERM, and again while it stops. Returns the exit status, and everything that was written to standard error. */
  stop(): Promise<{ readonly status: unknown; readonly errors: string }>
}

/** Serves a database file on a free port. */
export async function served(file: string): Promise<Served> {
  const options = ['--port', '0', '--storage', `sqlite:${file}`, '--load', SAMPLE, '--dev-token', 'secret', '--bot-timeout', '500']
  const child = spawn(process.execPath, [CLI, 'serve', ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  const url = await listening(createInterface(child.stdout))
  if (url === undefined) throw new Error(`The server ended: ${errors}`)
  return {
    url,
    headers: { authorization: 'Bearer secret', 'content-type': 'application/fhir+json' },
    held: async () => heldBy(child.pid ?? 0),
    async stop() {
      const ended = once(child, 'exit')
      child.stderr.once('data', () => child.kill('SIGTERM'))
      child.kill('SIGTERM')
      const [status]: readonly unknown[] = await ended
      return { status, errors }
    },
  }
}

async function listening(lines: AsyncIterable<string>): Promise<string | undefined> {
  for await (const line of lines) {
    const url = /^listening on (\S+)/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  return undefined
}

async function heldBy(pid: number): Promise<Held> {
  const status = new Map(
    (await readFile(`/proc/${pid}/status`, 'utf8')).split('\n').map((line) => [line.split(':')[0], line.split(':')[1]]),
  )
  const number = (name: string): number => Number.parseInt(status.get(name) ?? '', 10)
  return { residentMb: Math.round(number('VmRSS') / 1_024), files: (await readdir(`/proc/${pid}/fd`)).length, threads: number('Threads') }
}
