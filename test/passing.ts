import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LISTS = fileURLToPath(new URL('../packages/conformance/passing', import.meta.url))

/**
 * Compares the results of a suite with the committed list of the ids that pass. An id of the list that fails or was not run is a
 * regression; one that passes and is not in the list is printed. `npm run suites:refresh` writes the lists instead.
 *
 * @param list Name of the list: a file `packages/conformance/passing/<list>.txt` with one id a line.
 * @param passed For each id that was run, whether it passed.
 * @throws {Error} naming each regression.
 */
export function comparePassing(list: string, passed: ReadonlyMap<string, boolean>): void {
  const ids = [...passed].filter(([, isPassed]) => isPassed).map(([id]) => id)
  const file = join(LISTS, `${list}.txt`)
  if (process.env['REFRESH_PASSING'] === '1') return write(file, ids)
  const expected = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  const failing = expected.filter((id) => passed.get(id) === false)
  const missing = expected.filter((id) => !passed.has(id))
  const added = ids.filter((id) => !expected.includes(id))
  if (added.length > 0) process.stdout.write(`${list}: ${added.length} more pass (npm run suites:refresh): ${added.join(' ')}\n`)
  if (failing.length + missing.length === 0) return
  throw new Error(
    [
      `${list}: ${expected.length - failing.length - missing.length} of ${expected.length} still pass.`,
      ...failing.map((id) => `  newly fails: ${id}`),
      ...missing.map((id) => `  was not run: ${id}`),
    ].join('\n'),
  )
}

function write(file: string, ids: readonly string[]): void {
  mkdirSync(LISTS, { recursive: true })
  writeFileSync(
    file,
    ids
      .toSorted()
      .map((id) => `${id}\n`)
      .join(''),
  )
}
