import { OperationError } from 'fhir-ops/errors'
import type { ReleaseFile } from './release-file.js'
import { releaseText } from './release-text.js'

/** A row of a file. */
export interface CsvRow {
  /** Which one it is, for messages. */
  readonly place: string
  /** The value of a column; `undefined` when it is empty, or there is no such column. */
  get(column: string): string | undefined
}

/**
 * Reads a CSV file row by row: commas, values in double quotes where needed, which may hold line breaks and doubled quotes. The first row names
 * the columns.
 *
 * @throws {OperationError} `definition-invalid` for quotes that do not end, or not within `MAX_RECORD` characters, and for a row with more or
 *   fewer values than there are columns; what `releaseText` throws.
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

async function* records(file: ReleaseFile): AsyncGenerator<readonly string[]> {
  let rest = ''
  for await (const piece of releaseText(file)) {
    rest += piece
    const end = lastRecordEnd(rest)
    yield* recordsIn(rest.slice(0, end))
    rest = rest.slice(end)
    if (rest.length > MAX_RECORD) throw unended(file.name)
  }
  if (rest.split('"').length % 2 === 0) throw unended(file.name)
  yield* recordsIn(rest)
}

const MAX_RECORD = 1 << 20

function unended(name: string): OperationError {
  return new OperationError('definition-invalid', `${name} has quotes that do not end.`)
}

/** The place behind the last line break that is in no quotes. */
function lastRecordEnd(text: string): number {
  let end = 0
  let quoted = false
  for (let place = 0; place < text.length; place++) {
    const character = text.charCodeAt(place)
    if (character === QUOTE) quoted = !quoted
    else if (character === NEW_LINE && !quoted) end = place + 1
  }
  return end
}

const QUOTE = 0x22
const NEW_LINE = 0x0a
function* recordsIn(text: string): Generator<readonly string[]> {
  let values: string[] = []
  // A value, and what ends it.
  const value = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  while (value.lastIndex < text.length) {
    const match = value.exec(text)
    if (match === null) throw new OperationError('definition-invalid', 'A row has a quote in the middle of a value.')
    values.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === ',') continue
    yield values
    values = []
  }
  if (values.length > 0) yield values
}
