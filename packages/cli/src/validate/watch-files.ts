import { watch } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { stat } from 'node:fs/promises'

/** An editor writes a file in several steps. */
const QUIET_MS = 150
const RESOURCES = /\.(nd)?json$/

/**
 * Gives the files of some paths that have changed, one list for all that changed within a moment.
 *
 * @param paths Files and folders; those below a folder are included.
 * @param signal Ends it.
 */
export async function* changedFiles(paths: readonly string[], signal: AbortSignal): AsyncGenerator<readonly string[]> {
  const changed = new Set<string>()
  let wake = Promise.withResolvers<void>()
  const watching = paths.map((path) =>
    follow(path, signal, (file) => {
      changed.add(file)
      wake.resolve()
    }),
  )
  signal.addEventListener('abort', () => wake.resolve(), { once: true })
  while (!signal.aborted) {
    await wake.promise
    await new Promise((done) => void setTimeout(done, QUIET_MS))
    wake = Promise.withResolvers()
    if (signal.aborted) wake.resolve()
    const files = [...changed]
    changed.clear()
    if (files.length > 0) yield files
  }
  await Promise.all(watching)
}

/** A file is followed by its folder, so that one that is replaced is not lost. */
async function follow(path: string, signal: AbortSignal, onChange: (file: string) => void): Promise<void> {
  const isFolder = (await stat(path)).isDirectory()
  const folder = isFolder ? path : dirname(path)
  try {
    for await (const { filename } of watch(folder, { recursive: isFolder, signal })) {
      if (filename === null || !RESOURCES.test(filename)) continue
      const file = join(folder, filename)
      if (isFolder || resolve(file) === resolve(path)) onChange(file)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
