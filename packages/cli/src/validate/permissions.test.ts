import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'

const MAIN = builtFile('packages/cli/dist/main.js')
/** More than are done without threads. */
const RESOURCES = 501

test('many resources are validated by a process that may only read files and start threads', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-permissions-'))
  try {
    const file = join(folder, 'many.ndjson')
    await writeFile(file, `${JSON.stringify({ resourceType: 'Basic', code: { text: 'x' } })}\n`.repeat(RESOURCES))
    const granted = ['--permission', '--allow-fs-read=*', '--allow-worker']
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [...granted, MAIN, 'validate', file, '--threads', '2'])
    expect(stdout + stderr).toContain(`${RESOURCES} resources checked`)
  } finally {
    await rm(folder, { recursive: true })
  }
})
