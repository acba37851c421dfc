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

/** Comments that begin so explain what is printed. */
const PROSE = /^(?:an?|below|for|or|problems|the|throws|toParameters|what|where)\b/

/** The beginnings of what a block prints, by the comments at its calls of `console.log`: each up to the first punctuation or object. */
function promised(code: string): readonly string[] {
  const comments = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, comment = '']) => comment)
  const beginnings = comments.map((comment) => unquoted(/^[^,;:[{]*/.exec(comment)?.[0] ?? '').replace(/ ?\.\.\.$/, ''))
  return beginnings.map((beginning) => beginning.trim()).filter((beginning) => beginning !== '' && !PROSE.test(beginning))
}

function unquoted(text: string): string {
  return text.replaceAll("'", '')
}

beforeAll(() => (folder = programFolder()))
afterAll(() => folder.remove())

describe('the blocks of the docs, pasted into files', () => {
  test.each(programs)('$place runs to its end, and prints what it promises', { concurrent: true }, async ({ place, code }) => {
    const file = folder.write(place, code)
    const { stdout, stderr } = await run(process.execPath, ['--import', folder.preload, file], { cwd: dirname(file), timeout: 300_000 })
    expect(stderr.replaceAll(/.*(?:ExperimentalWarning|--trace-warnings).*\n/g, '')).toBe('')
    for (const promise of promised(code)) expect(`\n${unquoted(stdout)}`).toContain(`\n${promise}`)
  })

  test('a block that prints something else than its comment says would be noticed', () => {
    expect(programs.flatMap(({ code }) => promised(code)).length).toBeGreaterThan(40)
    const code = "console.log(total, code) // 1 MedicationRequest\nconsole.log(list) // 2, ['a', ...]\nconsole.log(text) // what is sent\n"
    expect(promised(code)).toEqual(['1 MedicationRequest', '2'])
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
