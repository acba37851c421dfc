import { OperationError } from 'fhir-ops/errors'
import { decodeUtf8 } from 'fhir-ops/internal/text'
import { readFileSync, type Stats } from 'node:fs'
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { fileURLToPath } from 'node:url'
import { isObject, stringAt } from 'fhir-ops/internal/json'

/** The error for a file or folder, named by an argument or option, that cannot be read. @param cause The system's error. */
export function unreadable(path: string, cause: unknown): OperationError {
  const known = cause instanceof Error && 'errno' in cause && typeof cause.errno === 'number'
  const reason = known ? `: ${getSystemErrorMessage(Number(cause.errno))}` : ''
  return new OperationError('parameter-value', `${shownPath(path)} cannot be read${reason}.`, { cause })
}

/** Errors of the system about a file that exists, but that this user cannot reach. */
const UNREACHABLE: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'ELOOP'])

/** Returns what the system says about a file; `undefined` if there is none. @throws {OperationError} `parameter-value` if this user cannot reach it. */
export async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && UNREACHABLE.has(cause.code)) throw unreadable(path, cause)
    return undefined
  }
}

/** The error for a path, or a pattern, without a file. */
export function noFile(path: string): OperationError {
  if (path === STANDARD_INPUT)
    return new OperationError('parameter-value', 'Standard input (-) is not read here: name a file, such as ./- for one of that name.')
  const problem = /^https?:/i.test(path)
    ? `${path} is an address, and nothing is downloaded: name a file.`
    : `There is no file or folder ${shownPath(path)}.`
  return new OperationError('parameter-value', problem)
}

const MAX_SHOWN = 500

/** Quotes a path of blanks, which would be invisible in a message, such as the value of a variable that is not set; cuts a long one. */
function shownPath(path: string): string {
  if (path.trim() === '') return `'${path}'`
  return path.length > MAX_SHOWN ? `${path.slice(0, MAX_SHOWN)}…` : path
}

/** Reads a file that a command was given. @throws {OperationError} `parameter-value` for a folder, and for a file that cannot be read. */
async function fileBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EISDIR')
      throw new OperationError('parameter-value', `${path} is a folder: name a file.`, { cause })
    throw unreadable(path, cause)
  }
}

/** As `fileBytes`, for a text file. @throws {OperationError} also `body-invalid` for a compressed file. */
async function unpackedBytes(path: string): Promise<Uint8Array> {
  const bytes = await fileBytes(path)
  refusePacked(bytes, path)
  return bytes
}

/** Reads a file as UTF-8. @throws {OperationError} as `unpackedBytes`, and `body-invalid` for another encoding. */
export async function fileText(path: string): Promise<string> {
  return decodeUtf8(await unpackedBytes(path), path)
}

/** The argument that means standard input, wherever a file with text is read. */
export const STANDARD_INPUT = '-'

/** Reads a text file, or standard input if that is named. @param io Reads standard input. @throws {OperationError} as `fileText`. */
export async function inputText(path: string, { stdin }: { readonly stdin: () => Promise<string> }): Promise<string> {
  return path === STANDARD_INPUT ? stdin() : fileText(path)
}

/** Returns the name of a file or of standard input for messages. */
export function inputName(path: string): string {
  return path === STANDARD_INPUT ? 'stdin' : path
}

/** First bytes of formats that are sometimes passed instead of text. */
const FORMATS: readonly (readonly [format: string, start: readonly number[], advice: string])[] = [
  ['compressed with gzip', [0x1f, 0x8b], 'unpack it first (`gunzip`)'],
  ['a ZIP archive', [0x50, 0x4b, 0x03, 0x04], 'unpack it first (`unzip`)'],
  ['compressed with bzip2', [0x42, 0x5a, 0x68], 'unpack it first (`bunzip2`)'],
  ['compressed with xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a], 'unpack it first (`unxz`)'],
  ['compressed with Zstandard', [0x28, 0xb5, 0x2f, 0xfd], 'unpack it first (`unzstd`)'],
  ['a 7-Zip archive', [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], 'unpack it first (`7z x`)'],
  ['a SQLite database', [...new TextEncoder().encode('SQLite format 3\0')], 'name it as `--storage sqlite:FILE`'],
  ['a PDF document', [...new TextEncoder().encode('%PDF-')], 'text in JSON is expected'],
]

/** Number of bytes that is enough to recognize them. */
const HEAD = 16

/**
 * Refuses compressed files and documents, which would otherwise be reported as text with a wrong encoding.
 *
 * @param name Name of the file, for the message.
 * @param gzipName Name under which a gzip file would be accepted; absent if gzip is not supported.
 * @throws {OperationError} `body-invalid`, with the format and advice.
 */
export function refusePacked(bytes: Uint8Array, name: string, gzipName?: string): void {
  const head = bytes.subarray(0, HEAD)
  const found = FORMATS.find(([, start]) => start.every((byte, index) => head[index] === byte))
  if (found === undefined) return
  const [format, start, advice] = found
  const renamed = gzipName !== undefined && start === FORMATS[0]?.[1] ? `name it ${gzipName}, or ${advice}` : advice
  throw new OperationError('body-invalid', `${name} is ${format}: ${renamed}.`)
}

/** As `refusePacked`, for bytes in pieces, which are passed on. */
export async function* refusingPacked(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  gzipName?: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  let isFirst = true
  for await (const piece of pieces) {
    if (isFirst) refusePacked(piece, name, gzipName)
    isFirst = false
    yield piece
  }
}

/**
 * Replaces the text of a file, which is never half-written: the text goes to a file beside it, which then takes its place.
 *
 * @throws The error of the system if the text cannot be written; the file is then as it was.
 */
export async function replaceText(path: string, text: string): Promise<void> {
  const target = await realpath(path)
  const part = `${target}.${process.pid}.part`
  const { mode } = await stat(target)
  try {
    const file = await open(part, 'wx', mode)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/**
 * Creates a folder and its parents. (With `recursive`, `mkdir` never ends below /proc, where nothing can be created.)
 *
 * @throws {OperationError} `parameter-value` for the path of a file.
 */
export async function makeFolder(folder: string): Promise<void> {
  const found = await statOf(folder)
  if (found?.isDirectory() === true) return
  if (found !== undefined) throw new OperationError('parameter-value', `${folder} is a file: name a folder.`)
  await makeFolder(dirname(folder))
  await mkdir(folder)
}

// This file is directly in `src`, so that its relative paths are also right in `dist`.

/** The version of this package. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return (isObject(manifest) ? stringAt(manifest, 'version') : undefined) ?? ''
}

/** The folder with the sample content. */
export const SAMPLE_FOLDER: string = fileURLToPath(new URL('../sample', import.meta.url))

/** Path of that folder for examples that users paste: the shorter of its path relative to the current folder and its absolute path, quoted for a shell. */
export const SAMPLE_PATH: string = inShell([relativeToCurrent(SAMPLE_FOLDER), SAMPLE_FOLDER].reduce(shorter))

function relativeToCurrent(path: string): string {
  try {
    return relative(process.cwd(), path)
  } catch {
    // The current folder was removed.
    return path
  }
}

function shorter(one: string, other: string): string {
  return one.length <= other.length ? one : other
}

function inShell(path: string): string {
  return /^[\w./:@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
