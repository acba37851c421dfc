import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }

const RUN = join(import.meta.dirname, '../../../scripts/fhir-ops.mjs')

// Stands for the setup: it installs a Node that marks what it runs.
const SETUP = `
  import { mkdirSync, writeFileSync } from 'node:fs'
  mkdirSync('node_modules/.bin', { recursive: true })
  writeFileSync('node_modules/.bin/node', '#!/bin/sh\\nON=installed exec ' + process.execPath + ' "$@"\\n', { mode: 0o755 })
`

test.skipIf(process.platform === 'win32')(
  'the first `npm start` runs on the Node that it has just installed, not on that of the machine',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'first-start-'))
    try {
      mkdirSync(join(folder, 'scripts'))
      writeFileSync(join(folder, 'scripts', 'setup.mjs'), SETUP)
      copyFileSync(RUN, join(folder, 'scripts', 'fhir-ops.mjs'))
      mkdirSync(join(folder, 'packages', 'cli', 'dist'), { recursive: true })
      writeFileSync(join(folder, 'packages', 'cli', 'dist', 'main.js'), 'console.log(process.env.ON, process.argv.slice(2))')
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: manifest.scripts }))
      const out = execFileSync('npm', ['start', '--silent', '--', '--port', '0'], { cwd: folder, encoding: 'utf8' })
      expect(out.trim()).toBe("installed [ 'demo', '--port', '0' ]")
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)

test('the command of a clone that is not built says what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'not-built-'))
  try {
    copyFileSync(RUN, join(folder, 'fhir-ops.mjs'))
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'fhir-ops.mjs')], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, 'error: fhir-ops is not built yet; `npm run setup` does that.\n'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
