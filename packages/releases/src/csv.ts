import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { OperationError } from 'fhir-ops/errors'
import { releaseText, type ReleaseFile } from './release-file.js'

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
