import type { Readable } from 'node:stream'
import { OperationError } from 'fhir-ops/errors'
import type { ReleaseFile } from './release-file.js'

/** A row: its values by the names of the columns; an empty value is absent. */
export type CsvRow = ReadonlyMap<string, string>

/**
 * Reads a CSV file row by row: commas, values in double quotes where needed, which may hold line breaks and doubled quotes. The first row names
 * the columns.
 *
 * @throws {OperationError} `definition-invalid` for quotes that do not end, or not within `MAX_RECORD` characters.
 * @see https://www.rfc-editor.org/rfc/rfc4180
 */
export async function* csvRows(file: ReleaseFile): AsyncGenerator<CsvRow> {
  let columns: readonly string[] | undefined
  for await (const values of records(await file.open(), file.name)) {
    if (columns === undefined) columns = values.map((name) => name.replace(/^\uFEFF/, ''))
    else yield rowOf(columns, values)
  }
}

function rowOf(columns: readonly string[], values: readonly string[]): CsvRow {
  return new Map(columns.flatMap((name, i) => (values[i] === undefined || values[i] === '' ? [] : [[name, values[i]] as const])))
}

async function* records(stream: Readable, name: string): AsyncGenerator<readonly string[]> {
  let rest = ''
  try {
    for await (const piece of stream.setEncoding('utf8')) {
      rest += String(piece)
      const end = lastRecordEnd(rest)
      yield* recordsIn(rest.slice(0, end))
      rest = rest.slice(end)
      if (rest.length > MAX_RECORD) throw unended(name)
    }
  } finally {
    stream.destroy()
  }
  if (rest.split('"').length % 2 === 0) throw unended(name)
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
