import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { builtFile } from '../../../../test/built.js'
import { freePort } from '../../../postgres/test/free-port.js'

const FILES = resolve(import.meta.dirname, '../../../../examples/deployment')
const CLI = builtFile('packages/cli/dist/main.js')
const running: ChildProcess[] = []

afterEach(async () => {
  await Promise.all(running.splice(0).map(stopped))
})

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  running.push(spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } }))
}

const file = (name: string): Promise<string> => readFile(join(FILES, name), 'utf8')
const blanks = (text: string | undefined): readonly string[] => (text ?? '').trim().split(/\s+/)

/** What each file starts the command with. */
const STARTS = {
  Dockerfile: (text: string): readonly string[] => /^CMD (\["serve".*\])$/m.exec(text)?.[1]?.match(/[^"[\], ]+/g) ?? [],
  'compose.yaml': (text: string) => blanks(/^ {4}command:\n((?: {6}- .+\n)+)/m.exec(text)?.[1]?.replaceAll(/^ +- /gm, '')),
  'fhir-ops.service': (text: string) => blanks(/^ExecStart=.*main\.js (.+)$/m.exec(text)?.[1]),
} as const

/** Starts the command as a file does, but on a free port of this machine, over memory and with a token; its address when it is ready. */
async function started(name: keyof typeof STARTS): Promise<string> {
  const args = STARTS[name](await file(name))
  expect(args.slice(0, 1)).toEqual(['serve'])
  const port = String(await freePort())
  run(process.execPath, [CLI, ...args, '--host', '127.0.0.1', '--port', port, '--storage', 'memory', '--dev-token', 'secret'])
  const url = `http://127.0.0.1:${port}`
  await ready(url)
  return url
}

async function failed(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`${child.spawnargs.join(' ')} ended with ${code}`)
}

async function ready(url: string): Promise<void> {
  const ended = Promise.race(running.map(failed))
  const answers = vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), { timeout: 300_000, interval: 100 })
  await Promise.race([ended, answers])
}

test.each(['Dockerfile', 'compose.yaml', 'fhir-ops.service'] as const)('the command of %s serves', async (name) => {
  const url = await started(name)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect((await fetch(`${url}/fhir/R4/Patient`)).status).toBe(401)
})

test('the check of health in the image tells a service that is ready from one that is not', async () => {
  const [, code = ''] = /"-e", "(.+)"\]$/m.exec(await file('Dockerfile')) ?? []
  const url = await started('Dockerfile')
  const check = (address: string): number | null =>
    spawnSync(process.execPath, ['-e', code.replace('http://127.0.0.1:8080', address)]).status
  expect([check(url), check(`http://127.0.0.1:${await freePort()}`)]).toEqual([0, 1])
})

interface Proxy {
  /** Starts it in a folder of its own, in front of a port of the service. */
  readonly start: (ports: { readonly port: number; readonly service: string; readonly folder: string }) => Promise<void>
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    async start({ port, service, folder }) {
      const site = (await file('nginx.conf'))
        .replace('127.0.0.1:8080', service)
        .replace('443 ssl http2', `127.0.0.1:${port}`)
        .replaceAll(/^ +ssl_.*$/gm, '')
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
      const user = process.getuid?.() === 0 ? 'user root;\n' : ''
      const whole = `${user}daemon off;\npid ${folder}/pid;\nerror_log stderr error;\nevents {}\nhttp {\n${paths.join('\n')}\n${site}}\n`
      await writeFile(join(folder, 'nginx.conf'), whole)
      run('nginx', ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')])
    },
  },
  caddy: {
    async start({ port, service, folder }) {
      const site = (await file('Caddyfile')).replace('127.0.0.1:8080', service).replace('fhir.example {', `http://127.0.0.1:${port} {`)
      await writeFile(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n${site}`)
      const home = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
      run('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], home)
    },
  },
}

/** As `fetch`, from another address of this machine than that of the proxy. */
async function askFrom(localAddress: string, url: string): Promise<unknown> {
  const asked = request(url, { localAddress, headers: { authorization: 'Bearer secret' } }).end()
  const [answer] = await once(asked, 'response')
  return json(answer)
}

describe.each(Object.entries(PROXIES))('behind %s', (name, { start }) => {
  const installed = spawnSync(name, [name === 'nginx' ? '-v' : 'version']).error === undefined

  test.skipIf(!installed)(`the service knows the caller, and bodies have the limit of the service (needs ${name})`, async () => {
    const folder = await mkdtemp(join(tmpdir(), `fhir-ops-${name}-`))
    const service = new URL(await started('fhir-ops.service')).host
    const port = await freePort()
    await start({ port, service, folder })
    const url = `http://127.0.0.1:${port}`
    await ready(url)
    expect(await askFrom('127.0.0.9', `${url}/auth/me`)).toMatchObject({ sessions: [{ remoteHost: '127.0.0.9' }] })
    const put = (length: number): Promise<Response> =>
      fetch(`${url}/fhir/R4/ValueSet/large`, {
        method: 'PUT',
        headers: { authorization: 'Bearer secret', 'content-type': 'application/fhir+json' },
        body: JSON.stringify({ resourceType: 'ValueSet', id: 'large', status: 'active' }).padEnd(length),
      })
    expect((await put(33_554_432)).status).toBe(201)
    expect((await put(33_554_433)).status).toBe(413)
    await rm(folder, { recursive: true })
  })
})
