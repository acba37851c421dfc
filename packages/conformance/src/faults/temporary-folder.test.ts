import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'temporary-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const MODULE = new URL('../../../../test/temporary-folder.ts', import.meta.url).href
const RUN = `import(${JSON.stringify(MODULE)}).then(({ useOwnTemporaryFolder }) => { useOwnTemporaryFolder(); console.log(process.pid, process.env.TMPDIR) })`

/** Starts a run that ends at once. Returns its process id and the name of its folder. */
function startRun(): readonly [pid: string, name: string] {
  const text = execFileSync(process.execPath, ['-e', RUN], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder, FHIR_OPS_TEMPORARY: '' },
  })
  const [pid = '', path = ''] = text.trim().split(' ')
  return [pid, basename(path)]
}

test('a run removes its folder and those of killed runs, and leaves what is not of one', () => {
  const [pid, name] = startRun()
  expect(existsSync(join(folder, name))).toBe(false)
  const made = (owner: number): string => join(folder, name.replace(`-${pid}-`, `-${owner}-`))
  const NOBODY = 2 ** 30
  const kept = [made(process.pid), join(folder, 'fhir-ops-tests-elsewhere-1-x'), join(folder, 'other')]
  for (const path of [made(NOBODY), ...kept]) mkdirSync(path)
  writeFileSync(join(made(NOBODY), 'file'), '')
  writeFileSync(made(NOBODY + 1), '')
  startRun()
  expect(existsSync(made(NOBODY))).toBe(false)
  for (const path of [...kept, made(NOBODY + 1)]) expect(existsSync(path)).toBe(true)
})
