import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createSessions } from 'fhir-ops/sessions'
import { FULL_SCOPES } from '../serve/identity.js'
import { demoGuide, serveSamples } from './demo.js'

const README = new URL('../../../../README.md', import.meta.url)
const GUIDE = demoGuide({ url: 'http://127.0.0.1:8080', token: 'fo_x', otherLoginId: 'other', tokenCommand: 'fhir-ops token create' })

describe('what a demo server prints', () => {
  test('names the playground first and can be pasted from top to bottom: the call that ends the token is the last', () => {
    const lines = GUIDE.split('\n').filter((line) => line !== '')
    expect(lines[1]).toBe('# http://127.0.0.1:8080/#token=fo_x')
    expect(lines.findIndex((line) => line.includes('/oauth2/logout'))).toBe(lines.length - 1)
    for (const line of lines) expect(line).toMatch(/^(# |TOKEN=|curl -s |printf |fhir-ops token)/)
  })

  test('has a call for each operation that README lists', async () => {
    const [, list = ''] = /\n## Operations\n([^]*?)\n## /.exec(await readFile(README, 'utf8')) ?? []
    const listed = [...list.matchAll(/^\| (.*?) \|/gm)].map(([, cell = '']) => [...cell.matchAll(/\$[a-z-]+(?=`)/g)].map(String))
    const called = (names: readonly string[]): boolean => names.length === 0 || names.some((name) => GUIDE.includes(`/${name}`))
    expect(listed.length).toBeGreaterThan(12)
    expect(listed.filter((names) => !called(names))).toEqual([])
  })
})

test.skipIf(spawnSync('curl', ['--version']).status !== 0)('each call succeeds, twice over (needs curl)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-guide-'))
  const server = await serveSamples({ port: 0, file: join(folder, 'demo.db') }, { out: () => {}, err: () => {}, stdin: async () => '' })
  try {
    const sessions = createSessions({ store: server.engine.sessionStore })
    for (let round = 0; round < 2; round++) {
      const create = (): ReturnType<typeof sessions.create> => sessions.create({ user: 'demo', scopes: FULL_SCOPES })
      const [{ token }, { loginId }] = [await create(), await create()]
      const guide = demoGuide({ url: server.url, token, otherLoginId: loginId, tokenCommand: 'true' })
      const { stdout } = await promisify(execFile)('sh', [
        '-c',
        `curl() { command curl --fail-with-body "$@" || echo "FAILED $*"; }\n${guide}`,
      ])
      expect(stdout.match(/FAILED.*/g)).toBeNull()
    }
  } finally {
    await server.close()
    await rm(folder, { recursive: true })
  }
})
