import type { ImportWork } from './work.js'

/** After so many rows what was made of them is kept. */
const KEPT_ROWS = 50_000
const ALL = 'all'

/**
 * The rows of a source that no earlier run has taken. What was made of them is kept every so often, and with the last.
 *
 * @param source Names the source in the work.
 */
export async function* untakenRows<T>(work: ImportWork, source: string, rows: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  const name = `rows of ${source}`
  const before = work.kept(name) ?? '0'
  if (before === ALL) return
  if (before !== '0') work.progress(`${source}: resuming after row ${before}`)
  let taken = 0
  for await (const row of rows) {
    if (taken++ < Number(before)) continue
    yield row
    if (taken % KEPT_ROWS > 0) continue
    work.keep(name, String(taken))
    work.progress(`… ${taken} rows of ${source}`)
  }
  work.keep(name, ALL)
}
