import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, pages, ROOT } from './blocks.js'
import { programFolder, type ProgramFolder } from './program-folder.js'

const blocks = pages().flatMap(blocksOf)
const programs = blocks.filter(({ kind }) => kind === 'whole')
const tests = blocks.filter(({ kind }) => kind === 'test')
const run = promisify(execFile)
let folder: ProgramFolder

beforeAll(() => (folder = programFolder()))
afterAll(() => folder.remove())

describe('the blocks of the docs, pasted into files', () => {
  test.each(programs)('$place runs to its end', { concurrent: true }, async ({ place, code }) => {
    const file = folder.write(place, code)
    const { stderr } = await run(process.execPath, ['--import', folder.preload, file], { cwd: dirname(file), timeout: 300_000 })
    expect(stderr.replaceAll(/.*(?:ExperimentalWarning|--trace-warnings).*\n/g, '')).toBe('')
  })

  test('one that fails would be noticed', async () => {
    const file = folder.write('wrong', "throw new Error('wrong')")
    await expect(run(process.execPath, ['--import', folder.preload, file])).rejects.toThrow('wrong')
  })

  test.each(tests)('$place passes in vitest', async ({ place, code }) => {
    const file = folder.write(`${place}.test.ts`, code)
    const { stdout } = await run(join(ROOT, 'node_modules/.bin/vitest'), ['run', '--root', dirname(file)], { cwd: dirname(file) })
    expect(stdout).toMatch(/Tests.*\d+ passed/)
    expect(stdout).not.toMatch(/failed/)
  })
})
