import { joined } from '@fhir-ops/sql'
import type { IndexEntry } from 'fhir-ops/storage'
import { sql, type Sql } from '../database/sql.js'
import type { Change } from './write-plan.js'

interface EntryRow {
  readonly change: Change
  readonly n: number
  readonly entry: IndexEntry
  readonly system: IndexedText
  readonly value: IndexedText
  readonly text: IndexedText
}

interface Column {
  readonly name: Sql
  readonly arrayType: Sql
  readonly of: (row: EntryRow) => string | number | null
}

const TEXTS = sql`text[]`
const NUMBERS = sql`double precision[]`

const COLUMNS: readonly Column[] = [
  { name: sql`type`, arrayType: TEXTS, of: ({ change }) => change.type },
  { name: sql`id`, arrayType: TEXTS, of: ({ change }) => change.id },
  { name: sql`param`, arrayType: TEXTS, of: ({ entry }) => entry.param },
  { name: sql`n`, arrayType: sql`integer[]`, of: ({ n }) => n },
  { name: sql`system`, arrayType: TEXTS, of: ({ system }) => system.indexed },
  { name: sql`value`, arrayType: TEXTS, of: ({ value }) => value.indexed },
  { name: sql`text`, arrayType: TEXTS, of: ({ text }) => text.indexed },
  { name: sql`low`, arrayType: NUMBERS, of: ({ entry }) => entry.low ?? null },
  { name: sql`high`, arrayType: NUMBERS, of: ({ entry }) => entry.high ?? null },
  { name: sql`whole_system`, arrayType: TEXTS, of: ({ system }) => system.whole },
  { name: sql`whole_value`, arrayType: TEXTS, of: ({ value }) => value.whole },
  { name: sql`whole_text`, arrayType: TEXTS, of: ({ text }) => text.whole },
]

/** Adds the entries of changed resources; `undefined` when they have none. */
export function addEntriesSql(changes: readonly Change[]): Sql | undefined {
  const rows = changes.flatMap(rowsOf)
  if (rows.length === 0) return undefined
  const names = joined(
    COLUMNS.map(({ name }) => name),
    ', ',
  )
  const arrays = joined(
    COLUMNS.map(({ of, arrayType }) => sql`${rows.map(of)}::${arrayType}`),
    ', ',
  )
  return sql`INSERT INTO fhir_entry (${names}) SELECT * FROM unnest(${arrays})`
}

function rowsOf(change: Change): readonly EntryRow[] {
  return change.entries.map((entry, n) => ({
    change,
    n,
    entry,
    system: indexedText(entry.system),
    value: indexedText(entry.value),
    text: indexedText(entry.text),
  }))
}

/**
 * Most UTF-16 units of a text that is kept in an index: two of them and a resource's address fit into the third of a page that an entry
 * of a B-tree may take.
 */
const MAX_INDEXED = 400

/** A text as it is kept in an index, and whole beside it when that is only its beginning. */
export interface IndexedText {
  readonly indexed: string | null
  readonly whole: string | null
}

/** Cuts a long text for an index. */
export function indexedText(text: string | undefined): IndexedText {
  if (text === undefined) return { indexed: null, whole: null }
  return text.length < MAX_INDEXED ? { indexed: text, whole: null } : { indexed: beginning(text), whole: text }
}

/** Whether a question about this text is answered by what is in the index: what was cut is never as short. */
export function isAnsweredByIndex(text: string): boolean {
  return text.length < MAX_INDEXED - 1
}

/** A beginning of the text that is also one of everything in the index that begins with the text. */
export function beginning(text: string): string {
  const cut = text.slice(0, MAX_INDEXED)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}
