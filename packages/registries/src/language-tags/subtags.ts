import { isObject } from 'fhir-ops/internal/json'

/** The kinds of subtags that are registered. */
export type SubtagKind = 'language' | 'extlang' | 'script' | 'region' | 'variant' | 'grandfathered'

/** The registered subtags of one kind, whatever their case. */
export interface Subtags {
  /** The description of a subtag; `undefined` when it is not registered. */
  describe(subtag: string): string | undefined
  /** The language that an extended language goes with. */
  prefix(subtag: string): string | undefined
}

/** Reads one kind out of the table that the build makes. @throws {TypeError} when it is no such table. */
export function subtagsOf(table: unknown, kind: SubtagKind): Subtags {
  const rows = isObject(table) ? table[kind] : undefined
  if (!Array.isArray(rows)) throw new TypeError(`The table of subtags has no ${kind}.`)
  const entries = rows.map(readRow)
  const known = new Map(entries.map((entry) => [entry.subtag.toLowerCase(), entry]))
  const ranges = entries.filter(({ subtag }) => subtag.includes('..')).map(readRange)
  const rangeOf = (subtag: string): Range | undefined => ranges.find((range) => isWithin(subtag, range))
  return {
    describe: (subtag) => known.get(subtag.toLowerCase())?.description ?? rangeOf(subtag.toLowerCase())?.description,
    prefix: (subtag) => known.get(subtag.toLowerCase())?.prefix,
  }
}

interface Row {
  readonly subtag: string
  readonly description: string
  readonly prefix: string | undefined
}

interface Range {
  readonly first: string
  readonly last: string
  readonly description: string
}

function readRow(row: unknown): Row {
  const [subtag, description, prefix]: readonly unknown[] = Array.isArray(row) ? row : []
  if (typeof subtag !== 'string' || typeof description !== 'string') throw new TypeError('A row of the table of subtags is damaged.')
  return { subtag, description, prefix: typeof prefix === 'string' ? prefix : undefined }
}

function readRange({ subtag, description }: Row): Range {
  const [first = '', last = ''] = subtag.toLowerCase().split('..')
  return { first, last, description }
}

function isWithin(subtag: string, { first, last }: Range): boolean {
  return subtag.length === first.length && first <= subtag && subtag <= last
}
