import { OperationError } from 'fhir-ops/errors'
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { zipEntries } from './zip-file.js'

/** A file of a release, in a folder or in a ZIP archive. */
export interface ReleaseFile {
  /** Path inside the release. */
  readonly name: string
  /** Unpacked size in bytes. */
  readonly size: number
  /** Reads the content. @throws {OperationError} `not-found` if it cannot be read, `body-invalid` if the archive is damaged there. */
  readonly bytes: () => AsyncIterable<Uint8Array>
  /** Returns a text that identifies the content: SHA-256 of a file, CRC-32 and sizes of an entry in an archive. */
  readonly mark: () => Promise<string>
}

const READ_AT_ONCE = 1 << 18

/** Lists all files below a folder, or in a ZIP archive, by name. @throws {OperationError} `not-found` if the path does not exist. */
export async function releaseFiles(path: string): Promise<readonly ReleaseFile[]> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new OperationError('not-found', `${path} cannot be read.`, { cause })
  })
  const files = found.isDirectory() ? await folderFiles(path) : await archivedFiles(path)
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Finds the version of a release in the name of its archive or folder, or else of the nearest folder around it that is named for the product, so that a
 * folder inside the release, `.` and names that end in a slash are fine too.
 *
 * @param pattern Its first group is the version.
 */
export function versionInPath(path: string, pattern: RegExp, product: RegExp): string | undefined {
  const [own = '', ...around] = resolve(path).split(sep).toReversed()
  const names = [own, ...around.filter((name) => product.test(name))]
  return names.map((name) => pattern.exec(name)?.[1]).find((version) => version !== undefined)
}

async function folderFiles(folder: string): Promise<readonly ReleaseFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files: ReleaseFile[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = join(entry.parentPath, entry.name)
    const bytes = (): AsyncIterable<Uint8Array> => fileBytes(file)
    files.push({ name: relative(folder, file), size: (await stat(file)).size, bytes, mark: async () => hashOf(bytes()) })
  }
  return files
}

async function archivedFiles(archive: string): Promise<readonly ReleaseFile[]> {
  return (await zipEntries(archive)).map(({ mark, ...entry }) => ({ ...entry, mark: async () => mark }))
}

async function* fileBytes(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark: READ_AT_ONCE })
  } catch (cause) {
    throw new OperationError('not-found', `${file} cannot be read.`, { cause })
  }
}

async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytes) hash.update(piece)
  return hash.digest('hex')
}

const NEW_LINE = 0x0a
const BYTE_ORDER_MARK = /^\uFEFF/
/** Maximum length of a line, in bytes; no line of a release is longer. */
const MAX_LINE = 1 << 20

/**
 * Reads the text of a file in pieces of whole lines, of which only the last may lack its line break.
 *
 * @throws {OperationError} `definition-invalid` if the file is not UTF-8 or has no lines; the errors of reading the file.
 */
async function* releaseText(file: ReleaseFile): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  let isFirst = true
  for await (const piece of file.bytes()) {
    rest = Buffer.concat([rest, piece])
    const end = rest.lastIndexOf(NEW_LINE) + 1
    if (end > 0) {
      yield textOf(rest.subarray(0, end), { file, isFirst })
      isFirst = false
    }
    rest = rest.subarray(end)
    if (rest.length > MAX_LINE) throw new OperationError('definition-invalid', `${file.name} has a line of more than ${MAX_LINE} bytes.`)
  }
  if (rest.length > 0) yield textOf(rest, { file, isFirst })
}

function textOf(bytes: Buffer, { file, isFirst }: { readonly file: ReleaseFile; readonly isFirst: boolean }): string {
  if (!isUtf8(bytes)) throw new OperationError('definition-invalid', `${file.name} is not in UTF-8.`)
  const text = bytes.toString('utf8')
  return isFirst ? text.replace(BYTE_ORDER_MARK, '') : text
}

/** A line with its number, starting at 1. */
export interface ReleaseLine {
  readonly number: number
  readonly text: string
}

/** Reads the non-empty lines of a file, many at a time. @throws {OperationError} as `releaseText`. */
export async function* releaseLines(file: ReleaseFile): AsyncGenerator<readonly ReleaseLine[]> {
  let number = 0
  for await (const piece of releaseText(file)) {
    const lines: ReleaseLine[] = []
    for (const line of piece.replace(/\r?\n$/, '').split('\n')) {
      number++
      const text = line.endsWith('\r') ? line.slice(0, -1) : line
      if (text !== '') lines.push({ number, text })
    }
    yield lines
  }
}

/** Measures the progress of reading files. */
export interface ReadMeter {
  /** Returns the file, wrapped so that reading it is counted. */
  metered(file: ReleaseFile): ReleaseFile
  /** Describes the progress: `37 %, about 20 seconds left`. The rest is assumed to be read at the same speed as before. */
  words(): string
}

/**
 * Creates a meter for files that are all read once.
 *
 * @param now Returns the time in milliseconds.
 */
export function readMeter(files: readonly ReleaseFile[], now: () => number = () => performance.now()): ReadMeter {
  const start = now()
  const total = files.reduce((sum, { size }) => sum + size, 0)
  let read = 0
  async function* counting(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      read += piece.length
      yield piece
    }
  }
  return {
    metered: (file) => ({ ...file, bytes: () => counting(file.bytes()) }),
    words() {
      if (read === 0) return '0 %'
      const seconds = ((now() - start) * (total / read - 1)) / 1_000
      return `${Math.floor((read / total) * 100)} %, about ${counted(Math.ceil(seconds), 'second')} left`
    },
  }
}

/** Formats a number with the name of what it counts: `1 concept`, `2 concepts`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}

/** A row of a file. */
export interface CsvRow {
  /** Identifies the row in messages. */
  readonly place: string
  /** Returns the value of a column; `undefined` if it is empty, or if there is no such column. */
  get(column: string): string | undefined
}

/**
 * Reads a CSV file row by row: values are separated by commas and quoted with double quotes if needed; quoted values may contain line breaks and doubled
 * quotes. The first row has the names of the columns.
 *
 * @throws {OperationError} `definition-invalid` for a quote that is not closed within `MAX_RECORD` bytes, for a quote inside an unquoted value, and
 *   for a row with more or fewer values than there are columns; the errors of `releaseText`.
 * @see https://www.rfc-editor.org/rfc/rfc4180
 */
export async function* csvRows(file: ReleaseFile): AsyncGenerator<CsvRow> {
  let columns: readonly string[] | undefined
  let number = 0
  for await (const values of records(file)) {
    if (columns === undefined) columns = values
    else yield rowOf(columns, values, `row ${++number} of ${file.name}`)
  }
}

function rowOf(columns: readonly string[], values: readonly string[], place: string): CsvRow {
  if (values.length !== columns.length) {
    throw new OperationError('definition-invalid', `There are ${values.length} values for ${columns.length} columns in ${place}.`)
  }
  const row = new Map(columns.map((name, i) => [name, values[i]] as const))
  return { place, get: (column) => row.get(column) || undefined }
}

const MAX_RECORD = 1 << 20

async function* records(file: ReleaseFile): AsyncGenerator<readonly string[]> {
  // `rowOf` reports rows of another length, with their place.
  const parser = parse({ max_record_size: MAX_RECORD, record_delimiter: ['\r\n', '\n'], relax_column_count: true })
  // Errors of the pipeline reach the reader of the parser.
  pipeline(Readable.from(releaseText(file)), parser, () => undefined)
  try {
    for await (const values of parser) yield values
  } catch (error) {
    throw error instanceof CsvError ? refusalOf(error, file.name) : error
  }
}

function refusalOf(cause: CsvError, name: string): OperationError {
  const isEndless = cause.code === 'CSV_QUOTE_NOT_CLOSED' || cause.code === 'CSV_MAX_RECORD_SIZE'
  const problem = isEndless ? `${name} has quotes that do not end.` : `A row of ${name} has a quote in the middle of a value.`
  return new OperationError('definition-invalid', problem, { cause })
}
