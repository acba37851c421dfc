import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems hand out by themselves, to connections or to `listen(0)`: nobody takes one by chance while a server restarts. */
const LEAST = 20_000
const PROCESSES = 1_000
const PORTS_OF_PROCESS = 10

/** Processes that run beside each other begin at different places, so that no two find the same port free. */
let next = LEAST + (process.pid % PROCESSES) * PORTS_OF_PROCESS

/** A port of 127.0.0.1 that nothing listens on, given once. */
export async function freePort(): Promise<number> {
  const port = next++
  return (await isFree(port)) ? port : freePort()
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    await once(server.close(), 'close')
    return true
  } catch {
    return false
  }
}
