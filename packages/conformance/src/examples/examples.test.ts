import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'

const EXAMPLES = resolve(import.meta.dirname, '../../../../examples')
const running: ChildProcess[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map(stopped))
})

/** Starts an example as its `npm start` does, and gives the address and token that it prints. */
async function started(name: string, env: Readonly<Record<string, string>> = {}) {
  const port = String(await freePort())
  const child = spawn(process.execPath, ['main.ts'], { cwd: resolve(EXAMPLES, name), env: { ...process.env, ...env, PORT: port } })
  running.push(child)
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  for await (const line of createInterface(child.stdout)) {
    const [, url, token] = /^listening on (\S+) with token (\S+)$/.exec(line) ?? []
    if (url !== undefined && token !== undefined) return { url, token, headers: { authorization: `Bearer ${token}` } }
  }
  throw new Error(`${name} ended: ${errors}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}

async function output(name: string): Promise<string> {
  const child = spawn(process.execPath, ['main.ts'], { cwd: resolve(EXAMPLES, name) })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  await once(child, 'exit')
  return text
}

describe.each(['node-http', 'express', 'koa', 'hono'])('the %s example', (name) => {
  test('answers operations and user information, and asks for a token', async () => {
    const { url, headers } = await started(name)
    const expand = `${url}/fhir/R4/ValueSet/$expand?url=http://example.org/all-colours&filter=gre`
    const answer = await fetch(expand, { headers })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ expansion: { total: 1, contains: [{ code: 'g' }] } })
    expect((await fetch(expand)).status).toBe(401)
    expect(await (await fetch(`${url}/oauth2/userinfo`, { headers })).json()).toEqual({ sub: 'me' })
  })

  test('takes a body', async () => {
    const { url, headers } = await started(name)
    const answer = await fetch(`${url}/fhir/R4/Patient/p1`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/fhir+json' },
      body: '{"resourceType":"Patient","id":"p1"}',
    })
    expect(answer.status).toBe(201)
  })
})

test.each(['express', 'koa', 'hono'])('the %s example keeps the host’s own pages', async (name) => {
  const { url } = await started(name)
  expect(await (await fetch(url)).text()).toBe('the host’s own page')
})

test('the upstream example reads from the other server and works here', async () => {
  const upstream = await started('node-http')
  const { url, headers } = await started('upstream-proxy', { UPSTREAM: `${upstream.url}/fhir/R4`, UPSTREAM_TOKEN: upstream.token })
  const answer = await fetch(`${url}/fhir/R4/ValueSet/$expand?url=http://example.org/all-colours`, { headers })
  expect(await answer.json()).toMatchObject({ expansion: { total: 2 } })
})

test('the in-process example prints a translation and an expansion', async () => {
  expect(await output('in-process')).toBe("true [ 'female' ]\n1 [ 'female' ]\n")
})
