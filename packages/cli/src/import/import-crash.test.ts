import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqlite } from '@fhir-ops/sqlite'
import { createContext } from 'fhir-ops/context'
import { lookup } from 'fhir-ops/lookup'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { importLoinc } from './import-loinc.js'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const CODES = 60_000
const folder = mkdtempSync(join(tmpdir(), 'import-crash-'))
const file = join(folder, 'content.db')
const quiet = { progress: (): void => undefined }

beforeAll(async () => {
  for (const name of ['Loinc_1.00', 'Loinc_2.00']) writeRelease(name, name === 'Loinc_1.00' ? 1 : CODES)
  const { concepts, close } = await openSqlite(file)
  await importLoinc(concepts, join(folder, 'Loinc_1.00'), quiet)
  await close()
})

afterAll(() => rmSync(folder, { recursive: true }))

/** A release of invented codes that say of which one they are. */
function writeRelease(name: string, codes: number): void {
  mkdirSync(join(folder, name))
  const rows = Array.from({ length: codes }, (_, i) => `"${i}-0","Sugar ${i}","ACTIVE","${name}"`)
  writeFileSync(join(folder, name, 'Loinc.csv'), ['"LOINC_NUM","COMPONENT","STATUS","LONG_COMMON_NAME"', ...rows, ''].join('\n'))
}

/** Imports the second release in a process of its own, and kills it when it has said so many lines; never when `lines` is absent. */
async function importIn(lines?: number): Promise<number | NodeJS.Signals> {
  const child = spawn(process.execPath, [MAIN, 'import', 'loinc', join(folder, 'Loinc_2.00'), '--storage', `sqlite:${file}`])
  let said = 0
  child.stderr.on('data', (data) => {
    said += String(data).split('\n').length - 1
    if (lines !== undefined && said >= lines) child.kill('SIGKILL')
  })
  const [code, signal] = await once(child, 'exit')
  return signal ?? code
}

async function versions(): Promise<readonly string[]> {
  const { concepts, storage, close } = await openSqlite(file)
  const ctx = createContext({ storage, concepts })
  const known = (await concepts.systems()).map(({ version }) => version)
  const { display } = await lookup(ctx, { system: 'http://loinc.org', code: '0-0' })
  await close()
  return [...known, `newest: ${display}`]
}

it('an import that is killed leaves what was there, and is done by the next one', { timeout: 120_000 }, async () => {
  for (const lines of [1, 2]) {
    expect(await importIn(lines)).toBe('SIGKILL')
    expect(await versions()).toEqual(['1.00', 'newest: Loinc_1.00'])
  }
  expect(await importIn()).toBe(0)
  expect(await versions()).toEqual(['1.00', '2.00', 'newest: Loinc_2.00'])
})
