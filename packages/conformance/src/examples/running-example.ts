import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { freePort } from '../../../postgres/test/free-port.js'

const EXAMPLES = resolve(import.meta.dirname, '../../../../examples')

/** An example that runs. */
interface RunningExample {
  readonly url: string
  readonly token: string
  readonly headers: { readonly authorization: string }
}

/** Starts an example as its `npm start` does, until the end of the calling test, and returns the address and token that it prints. */
export async function started(name: string, env: Readonly<Record<string, string>> = {}): Promise<RunningExample> {
  const port = String(await freePort())
  const child = spawn(process.execPath, ['main.ts'], { cwd: resolve(EXAMPLES, name), env: { ...process.env, ...env, PORT: port } })
  onTestFinished(() => stopped(child))
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  for await (const line of createInterface(child.stdout)) {
    const [, url, token] = /^listening on (\S+) with token (\S+)$/.exec(line) ?? []
    if (url !== undefined && token !== undefined) return { url, token, headers: { authorization: `Bearer ${token}` } }
  }
  throw new Error(`${name} ended: ${errors}`)
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await once(child, 'exit')
}

/** Runs an example until it ends. Returns its output. */
export async function output(name: string): Promise<string> {
  const child = spawn(process.execPath, ['main.ts'], { cwd: resolve(EXAMPLES, name) })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  await once(child, 'exit')
  return text
}
