import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const DOCS = resolve(import.meta.dirname, '../../../../docs')

const published = new Set(readFileSync(join(DOCS, 'api.md'), 'utf8').match(/(?<=`)[A-Za-z_]\w*(?=`)/g))

/** The names in a cell, without members and calls. */
const namesIn = (cell: string): readonly string[] => cell.match(/(?<=`)[A-Za-z_]\w*(?=[`(])/g) ?? []

const renamed = readFileSync(join(DOCS, 'upgrading.md'), 'utf8')
  .slice(readFileSync(join(DOCS, 'upgrading.md'), 'utf8').indexOf('| before | now |'))
  .split('\n')
  .map((line) => line.split(' | '))
  .filter(({ length }) => length === 3)
  .map(([before = '', now = '']) => ({ before: namesIn(before), now: namesIn(now) }))

test('the names that upgrading leads to are published', () => {
  const now = renamed.flatMap((row) => row.now)
  expect(now.length).toBeGreaterThan(10)
  expect(now.filter((name) => !published.has(name))).toEqual([])
})

test('the names that upgrading leads away from are not published any more', () => {
  const gone = renamed.flatMap(({ before, now }) => before.filter((name) => !now.includes(name)))
  expect(gone.length).toBeGreaterThan(10)
  expect(gone.filter((name) => published.has(name))).toEqual([])
})
