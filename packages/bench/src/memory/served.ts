import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readParts, type MemoryParts } from './parts.js'

/** `fhir-ops serve` in a process of its own. */
export interface Served {
  readonly base: string
  readonly token: string
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
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const parts = async (): Promise<MemoryParts> => {
    child.send('parts')
    const [answer]: readonly unknown[] = await once(child, 'message')
    return readParts(answer)
  }
  if (child.stdout === null) throw new Error('The server has no output')
  for await (const line of createInterface(child.stdout)) {
    const base = /^listening on (\S+)/.exec(line)?.[1]
    if (base !== undefined) return { base, token: TOKEN, parts, close }
  }
  throw new Error('The server ended before it listened')
}
