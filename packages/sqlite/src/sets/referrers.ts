import { createNumbers, firstWhere, membersOf, type Bits, type Numbers } from 'fhir-ops/internal/bits'
import type { SqliteDriver } from '../database/driver.js'
import { sql } from '../database/sql.js'
import { inTime, paramKey } from '../search/entry-sql.js'
import { groupedBySource } from './reference-column.js'

/** A query for the targets of some resources. */
export interface Referring {
  readonly type: string
  /** Search parameters whose references count. */
  readonly params: readonly string[]
  /** Type of the targets. */
  readonly to: string
  /** Keys of the resources whose references are read. */
  readonly among: Bits
}

/** The referring resources of each target. Immutable. */
export interface Referrers {
  readonly bytes: number
  /** Returns the keys that refer to a target; a key may occur several times, once for each parameter. */
  of(target: number): Uint32Array
}

/** Maximum number of keys per statement. */
const KEYS_AT_ONCE = 10_000

/** Reads references by their sources: all references to the type are usually many times as many. */
export function readReferrers(db: SqliteDriver, { type, params, to, among }: Referring): Referrers {
  const [referring, referredTo] = [createNumbers(), createNumbers()]
  for (const param of params)
    for (const keys of partsOf(membersOf(among))) {
      const references = sql`SELECT e.resource AS a, t.key AS b FROM json_each(${JSON.stringify(keys)}) AS j CROSS JOIN entry AS e
        CROSS JOIN resource AS t INDEXED BY resource_id WHERE e.resource = j.value AND e.param = ${paramKey(type, param)}
        AND e.system = ${to} AND t.type = ${to} AND t.id = e.value AND ${inTime(sql`e.resource`)}`
      db.visit(references, (source, target) => {
        referring.push(source)
        referredTo.push(target)
      })
    }
  const targets = Uint32Array.from(new Set(numbersOf(referredTo))).sort()
  const indexOf = (target: number): number => firstWhere(targets.length, (index) => (targets[index] ?? 0) >= target)
  const { starts, targets: sources } = groupedBySource((visit) => {
    for (let at = 0; at < referring.length(); at++) visit(indexOf(referredTo.at(at)), referring.at(at))
  })
  return {
    bytes: targets.byteLength + starts.byteLength + sources.byteLength,
    of(target) {
      const index = indexOf(target)
      return targets[index] === target ? sources.subarray(starts[index], starts[index + 1]) : NONE
    },
  }
}

const NONE = new Uint32Array()

function* numbersOf(numbers: Numbers): Generator<number> {
  for (let at = 0; at < numbers.length(); at++) yield numbers.at(at)
}

function* partsOf(keys: Iterable<number>): Generator<readonly number[]> {
  let part: number[] = []
  for (const key of keys) {
    part.push(key)
    if (part.length < KEYS_AT_ONCE) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}
