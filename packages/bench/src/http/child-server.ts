import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isObject, stringAt } from 'fhir-ops/internal/json'

/** A server in its own process. */
export interface ChildServer {
  readonly base: string
  readonly token: string | undefined
  readonly pid: number | undefined
  /** Processor time that its process has used, in microseconds. */
  readonly cpuTime: () => Promise<number>
  readonly close: () => Promise<void>
}

/** Starts one of the server entries, and waits until it listens. */
export async function childServer(
  entry: 'handler-server' | 'bare-server' | 'storage-server',
  args: readonly string[] = [],
): Promise<ChildServer> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`./${entry}.js`, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const close = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const cpuTime = async (): Promise<number> => {
    child.send('processor time')
    const [{ user, system }] = await once(child, 'message')
    return Number(user) + Number(system)
  }
  if (child.stdout === null) throw new Error(`${entry} has no output`)
  for await (const line of createInterface(child.stdout)) {
    const printed: unknown = JSON.parse(line)
    if (isObject(printed))
      return { base: `http://127.0.0.1:${String(printed['port'])}`, token: stringAt(printed, 'token'), pid: child.pid, cpuTime, close }
  }
  throw new Error(`${entry} ended before it listened`)
}
