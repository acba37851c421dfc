import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const PACKAGES = resolve(import.meta.dirname, '../../..')
const LIBRARIES = [
  'core',
  'r4',
  'sql',
  'sqlite',
  'postgres',
  'http',
  'registries',
  'releases',
  'snomed',
  'loinc-rxnorm',
  'bot-sandbox',
  'handler',
]

/** Imports every entry of the libraries in the way of an application, and prints what that did to its process. */
const IMPORTING = `
  const before = process.eventNames().length
  for (const file of ${JSON.stringify(LIBRARIES.map((name) => `${PACKAGES}/${name}/package.json`))}) {
    const { default: manifest } = await import(file, { with: { type: 'json' } })
    for (const entry of Object.values(manifest.exports)) if (entry.import) await import(new URL(entry.import, 'file://' + file))
  }
  console.log(process.eventNames().length - before)
`

describe('the libraries', () => {
  it('leave the process to their host: they add no handlers of it and never end it', () => {
    const files = LIBRARIES.flatMap((name) => globSync(`${PACKAGES}/${name}/src/**/*.ts`)).filter((file) => !file.endsWith('.test.ts'))
    // In the program of a thread, `process.exit` ends the thread.
    const hosted = files.filter((file) => !file.endsWith('worker.ts'))
    expect(files.length).toBeGreaterThan(100)
    expect(hosted.filter((file) => /\bprocess\.(?:on|once|exit|abort|kill)\b/.test(readFileSync(file, 'utf8')))).toEqual([])
  })

  it('can all be imported without a trace, and do not keep a process alive', () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', IMPORTING], {
      encoding: 'utf8',
      timeout: 300_000,
    })
    expect([stdout.trim(), stderr, status]).toEqual(['0', '', 0])
  })
})
