import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

describe.skipIf(!existsSync(MAIN))('the built command', () => {
  test('ends quietly when nobody reads its output any more', async () => {
    const child = spawn(process.execPath, [MAIN, 'expand', 'http://hl7.org/fhir/ValueSet/languages'])
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (data) => (err += String(data)))
    const status = await new Promise((resolve) => child.once('close', resolve))
    expect([status, err]).toEqual([0, expect.not.stringContaining('EPIPE')])
  })

  test.skipIf(!existsSync('/dev/full'))('says so when its output goes to a full disk', () => {
    const call = ['-c', '"$0" "$1" expand http://hl7.org/fhir/ValueSet/administrative-gender > /dev/full', process.execPath, MAIN]
    const { status, stderr } = spawnSync('sh', call, { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/error: cannot write to standard output \(ENOSPC\)\.\n$/)])
  })
})
