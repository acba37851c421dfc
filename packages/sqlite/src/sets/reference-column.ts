import { addBit, createNumbers, emptyBits, hasBit, visitMembers, type Bits, firstWhere, membersOf } from 'fhir-ops/internal/bits'
import type { Condition, IndexEntry } from 'fhir-ops/storage'
import { numberOf, sql, type SqliteDriver } from '../database/driver.js'
import { meets } from '../search/condition-sql.js'
import { inTime, paramKey } from '../search/entry-sql.js'
import type { Changes } from './change-log.js'

/** References between keys, by one search parameter. Immutable. */
export interface ReferenceColumn {
  readonly bytes: number
  /** Returns the keys that refer to one of the targets. @param among Restricts the result to these keys. */
  sourcesOf(targets: Bits, among?: Bits): Bits
  /** Returns the keys to which one of the sources refers. */
  targetsOf(sources: Bits): Bits
  forEach(visit: VisitReference): void
}

/** Receives a reference. */
type VisitReference = (source: number, target: number) => void

/**
 * Creates a column.
 *
 * @param visitAll Calls the function for every reference, in any order.
 */
function referenceColumn(visitAll: (visit: VisitReference) => void): ReferenceColumn {
  const { starts, targets, limit } = groupedBySource(visitAll)
  const sources = starts.length - 1
  const refersTo = (source: number, among: Bits): boolean => {
    for (let at = starts[source] ?? 0; at < (starts[source + 1] ?? 0); at++) if (hasBit(among, targets[at] ?? 0)) return true
    return false
  }
  return {
    bytes: starts.byteLength + targets.byteLength,
    sourcesOf(wanted, among) {
      const found = emptyBits(sources)
      if (among === undefined) {
        for (let source = 0; source < sources; source++) if (refersTo(source, wanted)) addBit(found, source)
      } else {
        visitMembers(among, (source) => {
          if (refersTo(source, wanted)) addBit(found, source)
        })
      }
      return found
    },
    targetsOf(wanted) {
      const found = emptyBits(limit)
      visitMembers(wanted, (source) => {
        for (let at = starts[source] ?? 0; at < (starts[source + 1] ?? 0); at++) addBit(found, targets[at] ?? 0)
      })
      return found
    },
    forEach(visit) {
      for (let source = 0; source < sources; source++)
        for (let at = starts[source] ?? 0; at < (starts[source + 1] ?? 0); at++) visit(source, targets[at] ?? 0)
    },
  }
}

/** References ordered by source; those of one source are in their original order. */
interface Grouped {
  /** Where the targets of each source begin in `targets`; they end where those of the next source begin. */
  readonly starts: Uint32Array
  readonly targets: Uint32Array
  /** One more than the largest target. */
  readonly limit: number
}

/** @param visitAll Calls the function for every reference, in any order. */
function groupedBySource(visitAll: (visit: VisitReference) => void): Grouped {
  const [from, to] = [createNumbers(), createNumbers()]
  let [sources, limit] = [0, 0]
  visitAll((source, target) => {
    from.push(source)
    to.push(target)
    sources = Math.max(sources, source + 1)
    limit = Math.max(limit, target + 1)
  })
  const starts = new Uint32Array(sources + 1)
  for (let at = 0; at < from.length(); at++) starts[from.at(at) + 1] = (starts[from.at(at) + 1] ?? 0) + 1
  for (let source = 0; source < sources; source++) starts[source + 1] = (starts[source + 1] ?? 0) + (starts[source] ?? 0)
  const next = starts.slice()
  const targets = new Uint32Array(from.length())
  for (let at = 0; at < from.length(); at++) {
    const source = from.at(at)
    const place = next[source] ?? 0
    targets[place] = to.at(at)
    next[source] = place + 1
  }
  return { starts, targets, limit }
}

/** References from resources of a type, by one search parameter, to a place: a type, or resources of that type contained in others. */
export interface References {
  readonly type: string
  readonly param: string
  readonly place: string
}

/** Reads all references whose target exists. */
export function readColumn(db: SqliteDriver, { type, param, place }: References): ReferenceColumn {
  const references = sql`SELECT e.resource AS a, t.key AS b FROM resource AS t INDEXED BY resource_id CROSS JOIN entry AS e INDEXED BY entry_value
    WHERE t.type = ${place} AND ${inTime(sql`t.key`)} AND e.param = ${paramKey(type, param)} AND e.value = t.id AND e.system = ${place}`
  return referenceColumn((visit) => db.visit(references, visit))
}

/** Returns the column after changes. */
export function changedColumn(db: SqliteDriver, references: References, { column, changes }: Outdated): ReferenceColumn {
  const isKept = (source: number, target: number): boolean => !changes.has(source) && changes.get(target)?.isNew !== true
  return referenceColumn((visit) => {
    column.forEach((source, target) => {
      if (isKept(source, target)) visit(source, target)
    })
    visitChanged(db, references, changes, visit)
  })
}

interface Outdated {
  readonly column: ReferenceColumn
  readonly changes: Changes
}

function visitChanged(db: SqliteDriver, references: References, changes: Changes, visit: VisitReference): void {
  const { type, param, place } = references
  const key = paramKey(type, param)
  for (const [changed, { address, entries, isNew }] of changes) {
    for (const target of address?.type === type ? targetsOf(db, references, entries) : []) visit(changed, target)
    if (!isNew || address?.type !== place) continue
    const referring = sql`SELECT resource FROM entry INDEXED BY entry_value WHERE param = ${key} AND value = ${address.id} AND system = ${place}`
    for (const [source] of db.all(referring)) visit(numberOf(source), changed)
  }
}

function targetsOf(db: SqliteDriver, { param, place }: References, entries: readonly IndexEntry[]): readonly number[] {
  return entries.flatMap((entry) => {
    if (entry.param !== param || entry.system !== place || entry.value === undefined) return []
    const [target] = db.get(sql`SELECT key FROM resource WHERE type = ${place} AND id = ${entry.value}`) ?? []
    return target === undefined ? [] : [numberOf(target)]
  })
}

/** A query for the targets of some resources. */
export interface Referring {
  readonly type: string
  /** Search parameters whose references count. */
  readonly params: readonly string[]
  /** Type of the targets. */
  readonly to: string
  /** Keys of the resources whose references are read. */
  readonly among: Bits
  /** Conditions that are tested for each of them. */
  readonly others: readonly Condition[]
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
export function readReferrers(db: SqliteDriver, { type, params, to, among, others }: Referring): Referrers {
  const [referring, referredTo] = [createNumbers(), createNumbers()]
  const keys = [...membersOf(among)]
  for (const param of params)
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
      const some = JSON.stringify(keys.slice(at, at + KEYS_AT_ONCE))
      const references = sql`SELECT e.resource AS a, t.key AS b FROM json_each(${some}) AS j CROSS JOIN entry AS e
        CROSS JOIN resource AS t INDEXED BY resource_id WHERE e.resource = j.value AND e.param = ${paramKey(type, param)}
        AND e.system = ${to} AND t.type = ${to} AND t.id = e.value AND ${inTime(sql`e.resource`)}
        AND ${meets(type, { kind: 'and', conditions: others }, { key: sql`e.resource`, each: true })}`
      db.visit(references, (source, target) => {
        referring.push(source)
        referredTo.push(target)
      })
    }
  const targets = Uint32Array.from(new Set(referredTo.all())).sort()
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
