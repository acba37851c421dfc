import { execFile, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from './serve/service.js'

const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url))
const SAMPLE = fileURLToPath(new URL('../sample', import.meta.url))
const DEMO = 'http://127.0.0.1:8080'
/** Makes each call of a block print its status and nothing else. */
const STATUS_ONLY = `curl() { command curl -s -o /dev/null -w '%{http_code}\\n' "$@"; }\n`

const calls = globSync(`${DOCS}/**/*.md`)
  .toSorted()
  .flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => ({ page: relative(DOCS, file), block })),
  )
  .filter(({ block }) => block.includes(`${DEMO}/`))

describe.skipIf(spawnSync('curl', ['--version']).status !== 0)('the calls in the docs succeed on the sample content (needs curl)', () => {
  let server: Awaited<ReturnType<typeof serve>>

  beforeAll(async () => {
    const io = { out: () => {}, err: () => {}, stdin: async () => '' }
    server = await serve({ host: '127.0.0.1', port: 0, storage: 'memory', load: [SAMPLE], devToken: 'good' }, io)
  })

  afterAll(() => server.close())

  test.each(calls)('$page', async ({ block }) => {
    const script = STATUS_ONLY + block.replaceAll(DEMO, server.url)
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { env: { ...process.env, TOKEN: 'good' } })
    expect(stdout).toMatch(/^(20[012]\n)+$/)
  })
})
