import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** `fhir-ops serve` in a process of its own. */
export interface Served {
  readonly base: string
  readonly token: string
  readonly pid: number | undefined
  readonly close: () => Promise<void>
}

const TOKEN = 'bench'
const CLI = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url))

/** Starts `fhir-ops serve` over a storage, and waits until it listens. */
export async function served(storage: string): Promise<Served> {
  const args = ['serve', '--storage', storage, '--port', '0', '--dev-token', TOKEN]
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  for await (const line of createInterface(child.stdout)) {
    const base = /^listening on (\S+)/.exec(line)?.[1]
    if (base !== undefined) return { base, token: TOKEN, pid: child.pid, close }
  }
  throw new Error('The server ended before it listened')
}
