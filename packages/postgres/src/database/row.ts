import { isObject } from 'fhir-ops/internal/json'

/** A row as the driver gives it. */
export type Row = Readonly<Record<string, unknown>>

/** The rows of an answer. */
export function rowsOf(rows: readonly unknown[]): readonly Row[] {
  return rows.filter(isObject)
}

/** A column that holds text. */
export function textAt(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`The column ${column} holds no text.`)
  return value
}

/** A column that holds a number; drivers give the larger ones as text. */
export function numberAt(row: Row, column: string): number {
  const value = row[column]
  const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number' || Number.isNaN(number)) throw new TypeError(`The column ${column} holds no number.`)
  return number
}
