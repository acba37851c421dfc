import type { IndexEntry } from 'fhir-ops/storage'
import { numberOf, type SqliteDriver } from '../database/driver.js'
import { sql } from '../database/sql.js'
import { inTime, paramKey } from '../search/entry-sql.js'
import type { Changes } from './change-log.js'
import { referenceColumn, type ReferenceColumn, type VisitReference } from './reference-column.js'

/** The references of a type's resources, by one search parameter, to resources of a place: a type, or what is within others of it. */
export interface References {
  readonly type: string
  readonly param: string
  readonly place: string
}

/** All references to what there is. */
export function readColumn(db: SqliteDriver, { type, param, place }: References): ReferenceColumn {
  const references = sql`SELECT e.resource AS a, t.key AS b FROM resource AS t INDEXED BY resource_id CROSS JOIN entry AS e INDEXED BY entry_value
    WHERE t.type = ${place} AND ${inTime(sql`t.key`)} AND e.param = ${paramKey(type, param)} AND e.value = t.id AND e.system = ${place}`
  return referenceColumn((visit) => db.visit(references, visit))
}

/** The column after changes. */
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
