import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { CHARTS, chartOf } from '../../../../scripts/charts.mjs'

const ROOT = resolve(import.meta.dirname, '../../../..')

test.each(CHARTS.map((chart) => [chart.title, chart] as const))('the table of "%s" is there, with numbers', (_, chart) => {
  expect(chartOf(chart)).toContain('<rect')
})

test.each(CHARTS.flatMap(({ file, ...chart }) => (file === undefined ? [] : [[file, chart] as const])))(
  '%s is made of the present table',
  (file, chart) => {
    expect(readFileSync(join(ROOT, file), 'utf8'), 'npm run docs writes it').toBe(chartOf(chart))
  },
)

test('a chart says which table or column is missing', () => {
  const [chart] = CHARTS
  if (chart === undefined) throw new Error('There are no charts.')
  expect(() => chartOf(chart, '# Performance')).toThrow(`has no table that begins with '${chart.table}'`)
  expect(() => chartOf({ ...chart, columns: ['p42'] })).toThrow('lacks p42')
})
