import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './blocks.js'

const page = readFileSync(join(ROOT, 'docs/requirements/README.md'), 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| guarantee |'))

/** Files of tests with the titles that are named of each. */
function testsIn(row: string): readonly (readonly [file: string, titles: readonly string[]])[] {
  const cell = row.split(' | ').at(-1) ?? ''
  return Array.from(cell.matchAll(/`([\w./-]+\.test\.ts)`((?:[:,] "[^"]+")*)/g), ([, file = '', titles = '']) => [
    file,
    Array.from(titles.matchAll(/"([^"]+)"/g), ([, title = '']) => title),
  ])
}

test.each(rows)('a guarantee is verified by tests that exist: %.80s', (row) => {
  const tests = testsIn(row)
  expect(tests.length).toBeGreaterThan(0)
  for (const [file, titles] of tests) {
    const path = join(ROOT, 'packages', file)
    expect(existsSync(path), `${file} does not exist`).toBe(true)
    const source = readFileSync(path, 'utf8').replaceAll("\\'", "'")
    for (const title of titles) expect(source.includes(title), `${file} has no test "${title}"`).toBe(true)
  }
})

test('every row of the page has a guarantee', () => {
  expect(rows.length).toBeGreaterThan(60)
  expect(testsIn('| x | `a/b.test.ts`: "one", "two %s"; `c.test.ts` |')).toEqual([
    ['a/b.test.ts', ['one', 'two %s']],
    ['c.test.ts', []],
  ])
})
