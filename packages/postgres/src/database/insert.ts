import { joined } from '@fhir-ops/sql'
import { copyChunks, type CopyValue } from './copy.js'
import type { Executor } from './database.js'
import { prepared, sql, type Sql } from './sql.js'

/** A column, and what it is in a row. */
export interface Column<R> {
  readonly name: Sql
  readonly arrayType: Sql
  readonly of: (row: R) => CopyValue
}

/** A table that rows are added to. */
export interface Insertion<R> {
  /** Of the prepared statement. */
  readonly name: string
  readonly table: Sql
  readonly columns: readonly Column<R>[]
}

/** So many rows are copied: COPY takes one more round trip, and less time of both sides for each row. */
const COPIED_FROM = 100

/** Adds rows to a table. */
export async function insertRows<R>(executor: Executor, { name, table, columns }: Insertion<R>, rows: readonly R[]): Promise<void> {
  if (rows.length === 0) return
  const names = columnNames(columns)
  if (executor.copy !== undefined && rows.length >= COPIED_FROM) {
    const values = rows.values().map((row) => columns.map(({ of }) => of(row)))
    await executor.copy({ text: `COPY ${table.text} (${names.text}) FROM STDIN`, chunks: copyChunks(values) })
  } else {
    await executor.rows(prepared(name, sql`INSERT INTO ${table} (${names}) SELECT * FROM ${unnested(columns, rows)}`))
  }
}

/** The rows as a table expression, which takes one value for each column. */
export function unnested<R>(columns: readonly Column<R>[], rows: readonly R[]): Sql {
  const arrays = columns.map(({ of, arrayType }) => sql`${rows.map(of)}::${arrayType}`)
  return sql`unnest(${joined(arrays, ', ')})`
}

/** The names of columns, in their order. */
export function columnNames<R>(columns: readonly Column<R>[]): Sql {
  return joined(
    columns.map(({ name }) => name),
    ', ',
  )
}
