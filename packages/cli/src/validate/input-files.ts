import { stat, watch } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { OperationError } from 'fhir-ops/errors'
import type { Io } from '../io.js'
import { filesIn, isStandardInput, sourcesIn, sourcesOfInput, type Source, type SourceFile } from '../load/sources.js'

/** What is to be validated. */
export interface Inputs {
  /**
   * The resources, in order.
   *
   * @throws {OperationError} for a file that cannot be read, and for a path with no resource.
   */
  readonly sources: () => AsyncGenerator<Source>
  /** About how many bytes of text there are. */
  readonly bytes: number
  /** Which part of the bytes was read up to a resource, from 0 to 1; resources are asked about in order. */
  readonly shareAt: (source: Source) => number | undefined
}

/**
 * The resources of files, folders and patterns; without any, and for `-`, that of standard input.
 *
 * @throws {OperationError} `parameter-value` when a path names no file, and for `-` among others.
 */
export async function inputsAt(paths: readonly string[], io: Io): Promise<Inputs> {
  if (isStandardInput(paths)) return { sources: () => fromStandardInput(io), bytes: 0, shareAt: () => undefined }
  const named = await Promise.all(paths.map(async (path) => ({ path, files: await filesIn([path]) })))
  const files = named.flatMap((one) => one.files)
  return { sources: () => fromFiles(named), bytes: files.reduce((sum, file) => sum + textBytes(file), 0), shareAt: shareOf(files) }
}

async function* fromStandardInput(io: Io): AsyncGenerator<Source> {
  for await (const sources of sourcesOfInput(io)) yield* sources
}

async function* fromFiles(named: readonly { readonly path: string; readonly files: readonly SourceFile[] }[]): AsyncGenerator<Source> {
  for (const { path, files } of named) {
    let isEmpty = true
    for (const file of files) {
      for await (const source of sourcesIn(file.path)) {
        isEmpty = false
        yield source
      }
    }
    // A wrong folder must not look like a folder without mistakes.
    if (isEmpty) throw new OperationError('body-invalid', `There is no resource in ${path}.`)
  }
}

/** JSON is about eight times as long as what it is compressed to. */
const INFLATION = 8

function textBytes({ path, bytes }: SourceFile): number {
  return path.endsWith('gz') ? bytes * INFLATION : bytes
}

function shareOf(files: readonly SourceFile[]): (source: Source) => number | undefined {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let [at, before] = [0, 0]
  // What comes from a package is named by the archive and its name in it.
  const isFrom = ({ path }: SourceFile, { file }: Source): boolean => file === path || file.startsWith(`${path} `)
  return (source) => {
    for (let file = files[at]; file !== undefined && !isFrom(file, source); file = files[at]) {
      before += file.bytes
      at++
    }
    return total === 0 ? undefined : Math.min(1, (before + (source.readBytes ?? files[at]?.bytes ?? 0)) / total)
  }
}

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
