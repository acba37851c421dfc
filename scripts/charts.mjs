// Charts from the tables of the documentation, as SVG that needs nothing else.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './packages.mjs'
import { tablesIn } from './tables.mjs'

/**
 * What is drawn: the page, the first heading of its table, the columns, and a title. The first chart of a page and table stands below that
 * table on the site. `file` is kept in the repository, for the README.
 */
export const CHARTS = [
  {
    page: 'performance.md',
    table: 'in-process, memory storage',
    columns: ['p50 µs'],
    title: 'Operations as functions: median time of a call in µs',
  },
  {
    page: 'performance.md',
    table: '526 R4 examples',
    columns: ['times as fast as @medplum/core'],
    title: 'Validation of 526 R4 examples: times as fast as @medplum/core',
    without: ['JSON.parse alone'],
    file: 'docs/pictures/validation.svg',
  },
  { page: 'conformance.md', table: 'tier', columns: ['passed', 'failed'], title: 'Measures with queries' },
  { page: 'conformance.md', table: 'suite', columns: ['passed', 'failed'], title: 'Measures with CQL' },
  { page: 'conformance.md', table: 'mode', columns: ['passed', 'failed'], title: 'Terminology' },
]

/** The SVG of a chart, from the text of its page. @throws {Error} when the page has no such table or column. */
export function chartOf({ page, table, columns, title, without = [] }, text = pageText(page)) {
  const found = tablesIn(text).find(({ headings }) => headings[0] === table)
  if (found === undefined) throw new Error(`docs/${page} has no table that begins with '${table}'.`)
  const places = columns.map((column) => found.headings.indexOf(column))
  if (places.includes(-1)) throw new Error(`docs/${page}: the table '${table}' lacks ${columns[places.indexOf(-1)]}.`)
  const rows = found.rows
    .filter(([label]) => !without.includes(label))
    .map((row) => ({ label: row[0].replaceAll('`', ''), values: places.map((place) => Number(row[place])) }))
  const wrong = rows.find(({ values }) => values.some(Number.isNaN))
  if (wrong !== undefined) throw new Error(`docs/${page}: '${wrong.label}' has no number.`)
  return barChart({ title, rows, columns })
}

const [LABELS, BARS, NUMBERS, ROW] = [320, 340, 100, 30]
const COLORS = ['passed', 'failed']

function barChart({ title, rows, columns }) {
  const most = Math.max(...rows.map(({ values }) => sum(values)))
  const height = 56 + rows.length * ROW
  const bars = rows.flatMap(({ label, values }, index) => {
    const y = 46 + index * ROW
    let x = LABELS
    const parts = values.map((value, column) => {
      const width = (BARS * value) / most
      const part = `<rect class="${COLORS[column]}" x="${round(x)}" y="${y}" width="${round(width)}" height="18" rx="3"/>`
      x += width
      return value === 0 ? '' : part
    })
    const number = columns.length === 1 ? values[0] : `${values[0]} of ${sum(values)}`
    return [
      `<text class="label" x="${LABELS - 12}" y="${y + 14}">${escaped(label)}</text>`,
      ...parts,
      `<text x="${round(x + 8)}" y="${y + 14}">${number}</text>`,
    ]
  })
  const width = LABELS + BARS + NUMBERS
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<style>text{font:13px system-ui,sans-serif;fill:#33414e}.label{text-anchor:end}.title{font-weight:600;font-size:15px}.passed{fill:#0b7c83}.failed{fill:#c2473d}
@media(prefers-color-scheme:dark){text{fill:#cdd6df}.passed{fill:#4db7ba}.failed{fill:#e5776e}}</style>
<text class="title" x="12" y="24">${escaped(title)}</text>
${bars.filter((part) => part !== '').join('\n')}
</svg>
`
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}

function round(value) {
  return Math.round(value * 10) / 10
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function pageText(page) {
  return readFileSync(join(root, 'docs', page), 'utf8')
}

// `npm run docs` writes those that are kept.
if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const chart of CHARTS.filter(({ file }) => file !== undefined)) writeFileSync(join(root, chart.file), chartOf(chart))
}
