// Writes the kept tables of the benches into docs/performance.md: tables with the same headings, and the line that tells on which machine they were made.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './packages.mjs'
import { tablesIn } from './tables.mjs'

export const PAGE = join(root, 'docs', 'performance.md')
const RESULTS = join(root, 'packages', 'bench', 'results')

/** The page with the tables of every kept run. @throws {Error} when it has no place for one. */
export function withResults(page, results = keptResults()) {
  return results.reduce((text, { name, text: run }) => withMachine(withTables(text, name, run), name, run), page)
}

function keptResults() {
  return readdirSync(RESULTS)
    .filter((file) => file.endsWith('.md'))
    .map((file) => ({ name: basename(file, '.md'), text: readFileSync(join(RESULTS, file), 'utf8') }))
}

function withTables(page, name, run) {
  const runLines = run.split('\n')
  return tablesIn(run).reduce((text, { headings, start, end }) => {
    const same = tablesIn(text).find((table) => table.headings.join('|') === headings.join('|'))
    if (same === undefined)
      throw new Error(`docs/performance.md has no table with the headings of the bench ${name}: ${headings.join(' | ')}.`)
    return text
      .split('\n')
      .toSpliced(same.start, same.end - same.start, ...runLines.slice(start, end))
      .join('\n')
  }, page)
}

function withMachine(page, name, run) {
  const mark = `<!-- machine of ${name} -->\n`
  const line = /^Measured with .*$/m.exec(run)?.[0]
  if (!page.includes(mark) || line === undefined) throw new Error(`docs/performance.md or the run has no machine of the bench ${name}.`)
  const [before, after] = page.split(mark)
  return before + mark + line + after.slice(after.indexOf('\n'))
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(PAGE, withResults(readFileSync(PAGE, 'utf8')))
