import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockWith, outsideProject, run, type OutsideProject } from './outside-project.js'
import { installedTools } from './tools.js'

const tools = installedTools()
let project: OutsideProject
let next = ''
beforeAll(() => {
  if (tools === undefined) return
  const names = ['next', 'react', 'react-dom', 'typescript', '@types/react', '@types/node']
  project = outsideProject(Object.fromEntries(names.map((name) => [name, tools.versionOf(name)])))
  next = join(project.dir, 'node_modules/next/dist/bin/next')
  process.env['NEXT_TELEMETRY_DISABLED'] = '1'
})
afterAll(() => tools !== undefined && project.remove())

describe.skipIf(tools === undefined)('recipes of the docs, in a project of somebody else (needs tools of npm)', () => {
  test('Jest runs the test of docs/testing.md', () => {
    writeFileSync(join(project.dir, 'ward.test.js'), blockWith('docs/testing.md', '@fhir-ops/testing/jest'))
    const args = ['--experimental-vm-modules', tools?.file('jest/bin/jest.js') ?? '', '--rootDir', project.dir, '--testEnvironment', 'node']
    // What Jest says of tests is on standard error.
    const said = run('sh', ['-c', `node ${args.join(' ')} 2>&1`], project.dir)
    expect(said).toContain('1 passed')
  })

  describe('the route handler of docs/handler.md for Next.js', () => {
    beforeAll(() => {
      const folder = join(project.dir, 'app/[...path]')
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'route.ts'), blockWith('docs/handler.md', 'export const GET'))
      writeFileSync(join(project.dir, 'next.config.mjs'), blockWith('docs/handler.md', 'serverExternalPackages'))
    })

    test('answers in the server that `next build` makes, and type-checks there', async () => {
      run(process.execPath, [next, 'build'], project.dir)
      await answersIn([next, 'start', ...AT_A_FREE_PORT])
    })

    test('answers in the folder that `output: standalone` makes, wherever it is', async () => {
      writeFileSync(join(project.dir, 'next.config.mjs'), blockWith('docs/handler.md', 'outputFileTracingIncludes'))
      run(process.execPath, [next, 'build'], project.dir)
      const elsewhere = join(project.dir, 'tarballs/standalone')
      cpSync(join(project.dir, '.next/standalone'), elsewhere, { recursive: true, verbatimSymlinks: true })
      await answersIn([join(elsewhere, 'server.js')], { PORT: String(await freePort()), HOSTNAME: '127.0.0.1' })
    })

    test('answers in `next dev`', () => answersIn([next, 'dev', ...AT_A_FREE_PORT]))
  })
})

const AT_A_FREE_PORT = ['--port', '0', '--hostname', '127.0.0.1'] as const

/** The server of a standalone folder takes port 0 for none. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Calls the server of Next.js that a program starts, with a query, bodies, and every method. */
async function answersIn(program: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<void> {
  const server = spawn(process.execPath, [...program], { cwd: project.dir, env: { ...process.env, ...variables } })
  const ended = once(server, 'exit')
  try {
    const base = `${await localAddress(server)}/fhir/R4`
    const send = async (path: string, method = 'GET', body?: object): Promise<readonly [status: number, text: string]> => {
      const headers = { 'content-type': 'application/fhir+json' }
      const response = await fetch(base + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
      return [response.status, await response.text()]
    }
    const patient = { resourceType: 'Patient', id: 'ada', active: true }
    expect(await send(GENDERS)).toEqual([200, expect.stringContaining('"display":"Female"')])
    expect(await send('/Patient/ada', 'PUT', patient)).toEqual([201, expect.stringContaining('"versionId":"1"')])
    const off = [{ op: 'replace', path: '/active', value: false }]
    expect(await send('/Patient/ada', 'PATCH', off)).toEqual([200, expect.stringContaining('"active":false')])
    expect(await send('/Patient', 'POST', { resourceType: 'Patient' })).toEqual([201, expect.any(String)])
    expect(await send('/Patient/$validate', 'POST', { resourceType: 'Patient', nmae: 1 })).toEqual([200, expect.stringContaining('nmae')])
    expect(await send('/Patient?_summary=count')).toEqual([200, expect.stringContaining('"total":2')])
    expect(await send('/Patient/ada', 'HEAD')).toEqual([200, ''])
    expect(await send('/Patient/ada', 'DELETE')).toEqual([204, ''])
    expect(await send('/Patient/ada')).toEqual([410, expect.stringContaining('OperationOutcome')])
  } finally {
    server.kill()
    await ended
  }
}

const GENDERS = '/ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/administrative-gender&filter=fem'

/** The address that a server of Next.js names when it is ready. @throws {Error} with what it wrote, when it ends before. */
function localAddress(server: ChildProcessWithoutNullStreams): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    const listen = (part: Buffer): void => {
      said += String(part)
      const [, address] = said.includes('Ready in') ? (/Local:\s+(\S+)/.exec(said) ?? []) : []
      if (address !== undefined) resolve(address)
    }
    // To its end: a server that cannot write what it logs ends.
    server.stdout.on('data', listen)
    server.stderr.on('data', listen)
    server.once('exit', () => reject(new Error(`Next.js did not start:\n${said}`)))
  })
}
