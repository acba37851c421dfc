import { constants } from 'node:buffer'
import { createReadStream, openAsBlob } from 'node:fs'
import { access, constants as modes, glob, readdir, readFile, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { OperationError } from 'fhir-ops/errors'
import { type FhirPackage, readPackage } from 'fhir-ops/packages'
import type { PackageFile, PackageManifest } from 'fhir-ops/internal/packages'
import { decodeUtf8, decodingUtf8 } from 'fhir-ops/internal/text'
import { noFile, refusePacked, refusingPacked, STANDARD_INPUT, statOf, unreadable } from '../files.js'
import type { Io } from '../io.js'
import { isJson } from '../json-fault.js'
import { bundleEntries } from './bundle-entries.js'

/** The place of a definition in its package. */
interface PackagePlace extends Omit<PackageFile, 'name' | 'text'> {
  readonly manifest: PackageManifest
}

/** A resource with its place in a file. */
export interface Source {
  readonly text: string
  /** File with line or entry number, for messages. */
  readonly place: string
  /** The file as the user named it, or `stdin`. */
  readonly file: string
  /** Line of the file in which the text begins, from 1. */
  readonly line: number
  /** Number of bytes of the file read up to the end of this resource; absent if the file is read as a whole. */
  readonly readBytes?: number
  /** Why the file, or the rest of it, cannot be read; the text is empty then. Only where one file must not end the whole. */
  readonly problem?: string
  /** Id under which to store it, if it differs from its own. */
  readonly id?: string
  /** The package from which it comes. */
  readonly origin?: PackagePlace
  /** For a resource of a Bundle: a reference that is a search, which only a transaction resolves. */
  readonly search?: string
}

/** A file to load. */
export interface SourceFile {
  readonly path: string
  readonly bytes: number
}

const inflate = promisify(gunzip)

/**
 * Returns the files that `sourcesIn` reads for some paths, in order.
 *
 * @throws {OperationError} `parameter-value` if there is no file for a path.
 */
export async function filesIn(paths: readonly string[]): Promise<readonly SourceFile[]> {
  const files: string[] = []
  for (const path of paths) {
    const below = await filesBelow(path)
    if (below.length === 0) throw new OperationError('parameter-value', `There is no .json, .ndjson or .tgz file below ${path}.`)
    files.push(...below)
  }
  return Promise.all(files.map(async (path) => ({ path, bytes: (await stat(path)).size })))
}

/**
 * Reads the resources of a file, or of all files below a folder, ordered by name.
 * `.ndjson` and `.ndjson.gz` are streamed line by line; `.json` and `.json.gz` contain one resource each; of a FHIR package (`.tgz`, `.tar.gz`),
 * only the definitions are read.
 */
export function sourcesIn(path: string): AsyncGenerator<Source> {
  return eachOf(sourceListsIn(path))
}

async function* eachOf(lists: AsyncIterable<readonly Source[]>): AsyncGenerator<Source> {
  for await (const sources of lists) yield* sources
}

/** As `sourcesIn`, in lists as they are read, because awaiting each line would take longer than parsing it. */
async function* sourceListsIn(path: string): AsyncGenerator<readonly Source[]> {
  for (const file of await filesBelow(path)) {
    try {
      yield* sourcesOf(file)
    } catch (error) {
      throw damageOf(file, error) ?? error
    }
  }
}

async function* sourcesOf(file: string): AsyncGenerator<readonly Source[]> {
  if (/\.(?:tgz|tar\.gz)$/.test(file)) yield await definitionsIn(file)
  else if (/\.ndjson(\.gz)?$/.test(file)) yield* linesOf(file)
  else yield [{ text: await textOf(file), place: basename(file), file, line: 1 }]
}

/** Converts errors of zlib (for a file named like a compressed one) and of the system (for an unreadable file). */
function damageOf(file: string, cause: unknown): OperationError | undefined {
  if (!(cause instanceof Error && 'code' in cause)) return undefined
  if (String(cause.code).startsWith('Z_'))
    return new OperationError('body-invalid', `${file} is not a gzip file, or it is damaged.`, { cause })
  return 'syscall' in cause ? unreadable(file, cause) : undefined
}

/** As `sourcesIn`, with each Bundle replaced by its entries, in lists as they are read. */
export function entriesIn(path: string): AsyncGenerator<readonly Source[]> {
  return withEntries(sourceListsIn(path))
}

/** Replaces each Bundle by its entries. */
async function* withEntries(lists: AsyncIterable<readonly Source[]>): AsyncGenerator<readonly Source[]> {
  for await (const sources of lists) yield sources.flatMap(entriesOf)
}

function entriesOf(source: Source): readonly Source[] {
  const entries = bundleEntries(source.text)
  return entries?.map(({ index, ...entry }) => ({ ...source, ...entry, place: `${source.place} entry[${index}]` })) ?? [source]
}

/**
 * Returns all loadable files of a path or a pattern. A path that names a file is returned whatever its extension.
 *
 * @throws {OperationError} `parameter-value` if there is none, or if the system refuses access to the path or a folder below it.
 */
async function filesBelow(path: string): Promise<readonly string[]> {
  try {
    const found = await statOf(path)
    if (found === undefined) return await matchesOf(path)
    return found.isDirectory() ? await filesInFolder(path) : [path]
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause
    throw unreadable('path' in cause ? String(cause.path) : path, cause)
  }
}

/** Returns the files in a folder. Pipes, sockets and devices are skipped, because a folder may contain some, and a pipe ends only when its writer closes it. */
async function filesInFolder(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true })
  const nested = entries
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .filter((entry) => entry.isDirectory() || /\.((nd)?json(\.gz)?|tgz)$/.test(entry.name))
    .map(async (entry) => {
      const inner = join(path, entry.name)
      const found = await stat(inner)
      if (found.isDirectory()) return filesInFolder(inner)
      return found.isFile() ? [inner] : []
    })
  return (await Promise.all(nested)).flat()
}

/** Longer patterns, such as a list of files in one argument, are refused by `glob` with a TypeError. */
const MAX_PATTERN = 65_536

/** Returns the files that match a pattern with `*`, `**`, `?`, `[]` or `{}`, ordered by name; matching folders are not entered. */
async function matchesOf(pattern: string): Promise<readonly string[]> {
  if (pattern.length > MAX_PATTERN) throw noFile(pattern)
  const files: string[] = []
  for await (const entry of glob(pattern, { withFileTypes: true })) if (entry.isFile()) files.push(join(entry.parentPath, entry.name))
  if (files.length === 0) throw noFile(pattern)
  return files.map((file) => (isAbsolute(pattern) ? file : relative('', file))).toSorted()
}

async function* linesOf(file: string): AsyncGenerator<readonly Source[]> {
  const bytes = createReadStream(file)
  const input = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  bytes.on('error', (error) => input.destroy(error))
  let line = 0
  const name = basename(file)
  for await (const lines of linesIn(decodingUtf8(refusingPacked(input, file, `${file}.gz`), file), file)) {
    const readBytes = bytes.bytesRead
    const sources: Source[] = []
    for (const text of lines) {
      line += 1
      if (text.trim() !== '') sources.push({ text, place: `${name}:${line}`, file, line, readBytes })
    }
    yield sources
  }
}

/** True for no path, and for `-`. @throws {OperationError} `parameter-value` for `-` together with other paths. */
export function isStandardInput(paths: readonly string[]): boolean {
  if (paths.length > 1 && paths.includes(STANDARD_INPUT))
    throw new OperationError('parameter-value', 'Standard input (-) cannot be read together with files.')
  return paths.length === 0 || paths[0] === STANDARD_INPUT
}

/** Reads the resources of standard input: NDJSON if the first line is JSON by itself, else a single resource. */
export function sourcesOfInput(io: Pick<Io, 'stdin' | 'stdinPieces'>): AsyncGenerator<Source> {
  return eachOf(sourceListsOfInput(io))
}

async function* sourceListsOfInput({ stdin, stdinPieces }: Pick<Io, 'stdin' | 'stdinPieces'>): AsyncGenerator<readonly Source[]> {
  const pieces = stdinPieces?.() ?? Readable.from([await stdin()])
  const whole: string[] = []
  let isNdjson: boolean | undefined
  let line = 0
  for await (const lines of linesIn(pieces, 'standard input')) {
    const sources = lines.map((text) => ({ text, place: `stdin:${++line}`, file: 'stdin', line })).filter(({ text }) => text.trim() !== '')
    const [first] = sources
    if (first !== undefined) isNdjson ??= isJson(first.text)
    if (isNdjson === true) yield sources
    else for (const text of lines) whole.push(text)
  }
  if (isNdjson !== true) yield [{ text: whole.join('\n'), place: 'stdin', file: 'stdin', line: 1 }]
}

async function definitionsIn(file: string): Promise<readonly Source[]> {
  const { definitions, ...manifest } = await packageAt(file)
  return definitions.map(({ name, text, ...definition }) => ({
    text,
    place: `${basename(file)} ${name}`,
    file: `${file} ${name}`,
    line: 1,
    origin: { manifest, ...definition },
  }))
}

async function packageAt(file: string): Promise<FhirPackage> {
  try {
    await access(file, modes.R_OK)
    return await readPackage((await openAsBlob(file)).stream())
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    throw new OperationError(error.code, `${file}: ${error.message}`, { cause: error })
  }
}

/**
 * Reads the text of a file, decompressed if necessary.
 *
 * @param maxBytes Maximum length; a longer file is not read completely.
 * @throws {OperationError} `body-invalid` if it is longer, or not UTF-8.
 */
export async function textOf(file: string, maxBytes: number = constants.MAX_STRING_LENGTH): Promise<string> {
  const bytes = await bytesOf(file, maxBytes)
  if (bytes === undefined)
    throw new OperationError('body-invalid', `${file} is longer than ${maxBytes} bytes. Large content is read from NDJSON, line by line.`)
  refusePacked(bytes, file, file.endsWith('json') ? `${file}.gz` : undefined)
  return decodeUtf8(bytes, file)
}

/** Reads a file, decompressed if necessary; `undefined` if it is longer than `maxBytes`. */
async function bytesOf(file: string, maxBytes: number): Promise<Uint8Array | undefined> {
  if ((await stat(file)).size > maxBytes) return undefined
  const read = await readFile(file)
  return file.endsWith('.gz') ? inflated(read, maxBytes) : read
}

async function inflated(packed: Uint8Array, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    return await inflate(packed, { maxOutputLength: maxBytes })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** About half the maximum length of a string. */
const MAX_CHARACTERS = 2 ** 28

/**
 * Splits a text in pieces into lines, and yields those that end in the same piece together. Only LF ends a line; other line separators, such as U+2028,
 * may occur inside JSON strings.
 *
 * @param name Name of the text, for messages.
 * @param maxCharacters Maximum length of a line.
 * @throws {OperationError} `body-invalid` if a line is longer.
 */
export async function* linesIn(
  pieces: AsyncIterable<string>,
  name: string,
  maxCharacters: number = MAX_CHARACTERS,
): AsyncGenerator<readonly string[], void, undefined> {
  let begun: string[] = []
  let length = 0
  for await (const piece of pieces) {
    const [end = '', ...others] = piece.split('\n')
    begun.push(end)
    length += end.length
    if (length > maxCharacters) throw new OperationError('body-invalid', `A line of ${name} is longer than ${maxCharacters} characters.`)
    const start = others.pop()
    if (start === undefined) continue
    yield [begun.join(''), ...others]
    begun = [start]
    length = start.length
  }
  if (length > 0) yield [begun.join('')]
}

/** Reads files for a load. */
export interface Reading {
  /** @yields their resources in order, in lists of the size of a batch */
  batches(): AsyncGenerator<readonly Source[], void, undefined>
  /** Returns the fraction of bytes that has been read, from 0 to 1; `undefined` if the total is unknown. */
  share(): number | undefined
  /** Returns the packages read so far, in order. */
  packages(): readonly PackageManifest[]
  /** Returns the resources read so far that refer to others by a search; `undefined` if there is none. */
  searching(): Searching | undefined
}

/** Resources that refer to others by a search (`Organization?identifier=x`), which only a transaction resolves. */
export interface Searching {
  readonly count: number
  /** Such a reference of the first, and its place. */
  readonly example: string
  readonly place: string
}

const BATCH = 500

/** Starts to read files. */
export function readingOf(files: readonly SourceFile[]): Reading {
  return readingAll(files.map(({ path, bytes }) => ({ bytes, entries: () => entriesIn(path) })))
}

/** Starts to read standard input. */
export function readingInput(io: Pick<Io, 'stdin' | 'stdinPieces'>): Reading {
  return readingAll([{ bytes: 0, entries: () => withEntries(sourceListsOfInput(io)) }])
}

/** A part of the input, which is read completely before the next. */
interface Part {
  /** Length in bytes; 0 if unknown. */
  readonly bytes: number
  readonly entries: () => AsyncGenerator<readonly Source[]>
}

function readingAll(files: readonly Part[]): Reading {
  const books = packageBooks()
  let searching: Searching | undefined
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let [bytesBefore, bytesOfFile] = [0, 0]
  async function* allEntries(): AsyncGenerator<readonly Source[], void, undefined> {
    for (const { bytes, entries } of files) {
      for await (const sources of entries()) {
        bytesOfFile = sources.at(-1)?.readBytes ?? bytes
        searching = withSearching(searching, sources)
        yield sources.map((source) => books.enter(source))
      }
      bytesBefore += bytes
      bytesOfFile = 0
    }
  }
  return {
    async *batches() {
      let batch: Source[] = []
      for await (const sources of allEntries()) {
        for (const source of sources) {
          batch.push(source)
          if (batch.length < BATCH) continue
          yield batch
          batch = []
        }
      }
      if (batch.length > 0) yield batch
    },
    share: () => (totalBytes === 0 ? undefined : (bytesBefore + bytesOfFile) / totalBytes),
    packages: () => books.manifests(),
    searching: () => searching,
  }
}

function withSearching(before: Searching | undefined, sources: readonly Source[]): Searching | undefined {
  const found = sources.flatMap(({ search, place }) => (search === undefined ? [] : [{ example: search, place }]))
  const first = before ?? found[0]
  return first && { ...first, count: (before?.count ?? 0) + found.length }
}

/** Keeps track of the packages in a load. */
interface PackageBooks {
  /** Gives a definition from a package an id that no other definition of the load has. */
  enter(source: Source): Source
  /** Returns the packages so far, in order. */
  manifests(): readonly PackageManifest[]
}

/** Creates the bookkeeping for a load. */
function packageBooks(): PackageBooks {
  const manifests = new Map<string, PackageManifest>()
  const canonicals = new Map<string, string>()
  return {
    enter({ origin, ...source }) {
      if (origin === undefined) return source
      manifests.set(`${origin.manifest.name}#${origin.manifest.version}`, origin.manifest)
      const canonical = `${origin.url}|${origin.version}`
      const place = `${origin.type}/${origin.id}`
      const known = canonicals.get(place) ?? canonical
      canonicals.set(place, known)
      return known === canonical ? source : { ...source, id: otherId(origin) }
    },
    manifests: () => [...manifests.values()],
  }
}

const MAX_ID = 64

function otherId({ id = '', version, manifest }: PackagePlace): string {
  const suffix = `-${version ?? manifest.version}`.replaceAll(/[^A-Za-z0-9.-]/g, '-')
  return id.slice(0, MAX_ID - suffix.length) + suffix
}
