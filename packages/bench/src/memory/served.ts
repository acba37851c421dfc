import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readParts, type MemoryParts } from './parts.js'

/** `fhir-ops serve` in its own process. */
export interface Served {
  readonly base: string
  readonly token: string
  readonly pid: number | undefined
  readonly parts: () => Promise<MemoryParts>
  readonly close: () => Promise<void>
}

const TOKEN = 'bench'
const CHECKOUT = process.env['MEMORY_CHECKOUT']
const CLI =
  CHECKOUT === undefined
    ? fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url))
    : join(resolve(CHECKOUT), 'packages/cli/dist/main.js')
const PROBE = new URL('./memory-probe.js', import.meta.url).href

/** Starts `fhir-ops serve` over a storage, of this checkout or of that in `MEMORY_CHECKOUT`, and waits until it listens. */
export async function served(storage: string): Promise<Served> {
  const args = ['--import', PROBE, CLI, 'serve', '--storage', storage, '--port', '0', '--dev-token', TOKEN]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const told = new Map<string, string>()
  for await (const line of createInterface(child.stdout)) {
    const [, name = '', value = ''] = /^(listening on|parts at) (\S+)/.exec(line) ?? []
    told.set(name, value)
    const [base, probe] = [told.get('listening on'), told.get('parts at')]
    if (base === undefined || probe === undefined) continue
    const parts = async (): Promise<MemoryParts> => readParts(await (await fetch(`http://127.0.0.1:${probe}`)).json())
    return { base, token: TOKEN, pid: child.pid, parts, close }
  }
  throw new Error('The server ended before it listened')
}
