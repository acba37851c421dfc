import { countBits, membersOf, type Bits } from 'fhir-ops/internal/bits'
import type { SearchQuery } from 'fhir-ops/storage'
import type { Row, SqliteDriver } from '../database/driver.js'
import { asking } from '../database/functions.js'
import { sql } from '../database/sql.js'
import type { KeptSets } from '../sets/kept-sets.js'
import { idOrder } from '../sets/matching-set.js'
import { fewRows } from './few-rows.js'
import { rowsInTurn, type Part } from './rows-in-turn.js'

/** Where the keys of all matches are known. */
export interface OfSet extends Part {
  readonly set: Bits
  readonly sets: KeptSets
  /** At most so many matches are put in order instead of being looked for in order. */
  readonly few: number
}

/** The first matches: rows of key, id and sort values. */
export function rowsOfSet(db: SqliteDriver, query: SearchQuery, { set, sets, few, ...part }: OfSet): readonly Row[] {
  const isSorted = (query.sort ?? []).length > 0
  const inOrder = isSorted ? undefined : idOrder(db, sets, query.type)?.first(db, set, part)
  if (inOrder !== undefined) return inOrder
  const count = countBits(set)
  if (count <= few && count * LARGE_PART <= set.length * 32)
    return fewRows(db, query, sql`SELECT value FROM json_each(${JSON.stringify([...membersOf(set)])})`, part)
  return asking(set, () => rowsInTurn(db, { ...query, isMatch: sql`is_member(r.key)` }, part))
}

/** Where one key of so many matches, the first matches come soon in whatever order. */
const LARGE_PART = 8
