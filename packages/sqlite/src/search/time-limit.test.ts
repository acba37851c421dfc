import { DatabaseSync } from 'node:sqlite'
import type { Condition, SearchQuery, SortKey } from 'fhir-ops/storage'
import { describe, expect, it } from 'vitest'
import { basic, byCode } from '../../../core/test/basics.js'
import { sqliteDriver, type SqliteDriver } from '../database/driver.js'
import { migrate } from '../database/migrations.js'
import { packedEntry, writeEntries } from '../commands/write-entries.js'
import { countMatches, searchPage } from './search-page.js'

const RESOURCES = 100

/** A database of Basics, and how often its statements have looked at the time. */
function filled(): { readonly db: SqliteDriver; readonly looks: () => number } {
  const connection = new DatabaseSync(':memory:')
  let looks = 0
  const db = sqliteDriver({
    exec: (sql) => connection.exec(sql),
    prepare: (sql) => connection.prepare(sql),
    function: (name, implementation) =>
      connection.function(name, { varargs: true }, (...values) => {
        if (name === 'in_time') looks++
        return implementation(...values)
      }),
    close: () => connection.close(),
  })
  migrate(db)
  writeEntries.run(db, { entries: Array.from({ length: RESOURCES }, (_, n) => packedEntry(basic(`n${n}`))), now: 0, history: false })
  return { db, looks: () => looks }
}

const CODE = byCode('a').where
const NONE: Condition = { kind: 'not', condition: CODE }
const PREFIX: Condition = { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'prefix', operand: 'a' }] }
const BY_CODE: readonly SortKey[] = [{ param: 'code', field: 'value', descending: false }]

const QUERIES: readonly (readonly [string, SearchQuery])[] = [
  ['a code', byCode('a')],
  ['the start of a code', { type: 'Basic', where: PREFIX }],
  ['another code', { type: 'Basic', where: NONE }],
  ['two conditions', { type: 'Basic', where: { kind: 'and', conditions: [PREFIX, NONE] } }],
  ['a chain', { type: 'Basic', where: { kind: 'refersTo', param: 'code', query: byCode('a') } }],
  ['a reverse chain', { type: 'Basic', where: { kind: 'referredBy', param: 'code', query: byCode('a') } }],
]

describe('a search ends at its time limit', () => {
  it.each(QUERIES)('%s', (_, query) => {
    for (const command of [searchPage, countMatches]) {
      const { db } = filled()
      expect(() => db.limited(0, () => command.run(db, query))).toThrow(expect.objectContaining({ code: 'storage-timeout' }))
      expect(() => command.run(db, query), 'and the next one is not touched by it').not.toThrow()
    }
  })

  it.each([
    ['without order', {}],
    ['in order', { sort: BY_CODE }],
  ])('looking at the time at each resource that it asks, %s', (_, order) => {
    const { db, looks } = filled()
    expect(searchPage.run(db, { type: 'Basic', where: NONE, ...order }).rows).toEqual([])
    expect(looks()).toBeGreaterThanOrEqual(RESOURCES)
  })
})
