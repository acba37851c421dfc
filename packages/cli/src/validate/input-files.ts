import { readdir, stat, watch } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { OperationError } from 'fhir-ops/errors'
import { statOf } from '../files.js'
import { counted, type Io } from '../io.js'
import { filesIn, isStandardInput, sourcesIn, sourcesOfInput, type Source, type SourceFile } from '../load/sources.js'

/** The resources to validate. */
export interface Inputs {
  /**
   * Reads the resources, in order. What cannot be read as text, such as a file in another encoding, is a source with a `problem`.
   *
   * @throws {OperationError} for a file that the system refuses, and for a path without resources.
   */
  readonly sources: () => AsyncGenerator<Source>
  /** Approximate number of bytes of text. */
  readonly bytes: number
  /** Fraction of the bytes read up to a resource, from 0 to 1; must be called in the order of the resources. */
  readonly shareAt: (source: Source) => number | undefined
}

/**
 * Returns the resources of files, folders and patterns; of standard input for no path or `-`.
 *
 * @throws {OperationError} `parameter-value` if there is no file for a path, and for `-` together with other paths.
 */
export async function inputsAt(paths: readonly string[], io: Io): Promise<Inputs> {
  if (isStandardInput(paths)) return { sources: () => sourcesOfInput(io), bytes: 0, shareAt: () => undefined }
  const named = await Promise.all(paths.map(async (path) => ({ path, files: await filesIn([path]) })))
  const files = named.flatMap((one) => one.files)
  await reportXml(paths, io)
  return { sources: () => fromFiles(named), bytes: files.reduce((sum, file) => sum + textBytes(file), 0), shareAt: shareOf(files) }
}

/** Reports the number of XML files in each folder, because they are not validated. */
async function reportXml(paths: readonly string[], io: Io): Promise<void> {
  for (const path of paths) {
    const names = (await statOf(path))?.isDirectory() ? await readdir(path, { recursive: true }) : []
    const count = names.filter((name) => /\.xml$/i.test(name)).length
    if (count > 0)
      io.err(`${path} contains ${counted(count, 'XML file')}, which ${count === 1 ? 'is' : 'are'} not validated: only JSON is read.`)
  }
}

async function* fromFiles(named: readonly { readonly path: string; readonly files: readonly SourceFile[] }[]): AsyncGenerator<Source> {
  for (const { path, files } of named) {
    let isEmpty = true
    for (const file of files) {
      for await (const source of readable(file.path)) {
        isEmpty = false
        yield source
      }
    }
    // A wrong folder must not look like a folder without errors.
    if (isEmpty) throw new OperationError('body-invalid', `There is no resource in ${path}.`)
  }
}

/** The resources of a file; if it is damaged, a source that says so follows those before. */
async function* readable(file: string): AsyncGenerator<Source> {
  try {
    yield* sourcesIn(file)
  } catch (error) {
    if (!(error instanceof OperationError && error.code === 'body-invalid')) throw error
    yield { text: '', place: basename(file), file, line: 1, problem: error.message }
  }
}

/** JSON is about eight times as long as its compressed form. */
const INFLATION = 8

function textBytes({ path, bytes }: SourceFile): number {
  return path.endsWith('gz') ? bytes * INFLATION : bytes
}

function shareOf(files: readonly SourceFile[]): (source: Source) => number | undefined {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let [at, before] = [0, 0]
  // A resource from a package is named by the archive and its name in the archive.
  const isFrom = ({ path }: SourceFile, { file }: Source): boolean => file === path || file.startsWith(`${path} `)
  return (source) => {
    for (let file = files[at]; file !== undefined && !isFrom(file, source); file = files[at]) {
      before += file.bytes
      at++
    }
    return total === 0 ? undefined : Math.min(1, (before + (source.readBytes ?? files[at]?.bytes ?? 0)) / total)
  }
}

/** Waiting time, in milliseconds, because an editor writes a file in several steps. */
const QUIET_MS = 150
const RESOURCES = /\.(nd)?json$/

/**
 * Yields files that have changed, in one list for all changes within a moment.
 *
 * @param paths Files and folders, including subfolders.
 * @param signal Ends the watch.
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

/** Watches a file through its folder, so that a replaced file is still watched. */
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
