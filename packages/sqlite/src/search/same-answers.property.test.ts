import { DatabaseSync } from 'node:sqlite'
import { resourceOf } from '@fhir-ops/sql'
import fc from 'fast-check'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { describe, expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { query, scan, step } from '../../../core/test/random-queries.js'
import { answerOf, entryOf, historyOf, scanOf, versionsOf } from '../../../core/test/storage-answers.js'
import { sqliteDriver } from '../database/driver.js'
import { sqliteStorage } from '../index.js'
import { createKeptSets } from '../sets/kept-sets.js'
import { FEW_TO_ASK } from './condition-sql.js'
import { countOf, pageOfMatches, type Bounds } from './search-page.js'

const NONE_KEPT = createKeptSets({ times: Infinity })

describe('SQLite and memory', () => {
  it('give the same pages and histories, byte for byte, and the same counts', async () => {
    let at = 0
    const clock = { now: () => new Date(at) }
    const connection = new DatabaseSync(':memory:')
    const [sqlite, memory] = [sqliteStorage(connection, clock), memoryStorage([], clock)]
    const inTurn = within(connection, { few: -1, fewToAsk: FEW_TO_ASK, sets: NONE_KEPT })
    const inSets = within(connection, { few: 1_000, fewToAsk: -1, sets: NONE_KEPT })
    const fromKept = within(connection, { few: 1_000, fewToAsk: FEW_TO_ASK, sets: createKeptSets({ times: 1 }) })
    const fromFewKept = within(connection, { few: -1, fewToAsk: FEW_TO_ASK, sets: createKeptSets({ times: 2, maxBytes: 3_000 }) })
    const queries = fc.array(query, { minLength: 1, maxLength: 6 })
    // Resources stay from run to run: versions and deletions add up.
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), queries, scan, async (steps, queried, scanned) => {
        at++
        const entries = steps.map(entryOf)
        expect(versionsOf(await sqlite.write(entries))).toEqual(versionsOf(await memory.write(entries)))
        for (const each of queried) {
          const expected = await answerOf(memory, each)
          expect(await answerOf(sqlite, each)).toEqual(expected)
          expect(await answerOf(inTurn, each)).toEqual(expected)
          expect(await answerOf(inSets, each)).toEqual(expected)
          expect(await answerOf(fromKept, each)).toEqual(expected)
          expect(await answerOf(fromFewKept, each)).toEqual(expected)
        }
        expect(await scanOf(sqlite, scanned)).toEqual(await scanOf(memory, scanned))
        const asked = { types: ['Patient', 'Group'], since: at - 2, limit: 100 }
        expect(await historyOf(sqlite, asked)).toEqual(await historyOf(memory, asked))
        const then = { types: ['Patient', 'Group'], at: { from: at - 3, to: at - 1 }, limit: 20 }
        expect(await historyOf(sqlite, then)).toEqual(await historyOf(memory, then))
      }),
      { numRuns: rounds({ quick: 30, all: 300 }), endOnFailure: true },
    )
    await Promise.all([sqlite.close(), memory.close()])
  })
})

/** The same resources, searched as if there were more or fewer. */
function within(connection: DatabaseSync, bounds: Bounds): Pick<Storage, 'search' | 'count'> {
  const db = sqliteDriver(connection)
  return {
    async search(query) {
      const { rows, next } = pageOfMatches(db, query, bounds)
      return { items: rows.map((row) => resourceOf(query.type, row)), ...(next !== undefined && { next }) }
    },
    count: async (query) => countOf(db, query, bounds),
  }
}
