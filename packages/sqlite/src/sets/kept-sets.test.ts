import { DatabaseSync } from 'node:sqlite'
import { resourceOf } from '@fhir-ops/sql'
import fc from 'fast-check'
import { memoryStorage } from 'fhir-ops/memory'
import { writableText, type Condition, type PutEntry, type SearchQuery, type Storage } from 'fhir-ops/storage'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { answerOf } from '../../../core/test/storage-answers.js'
import { sqliteDriver, type SqliteDriver } from '../database/driver.js'
import { countOf, pageOfMatches } from '../search/search-page.js'
import { sqliteStorage } from '../index.js'
import { createKeptSets, type KeptSets } from './kept-sets.js'

const CLOCK = { now: () => new Date(0) }
const EVERYTHING: Condition = { kind: 'and', conditions: [] }

function put(type: string, id: string, { to, code = 'a' }: { readonly to?: string; readonly code?: string } = {}): PutEntry {
  const [system = '', value = ''] = (to ?? '').split('/')
  const entries = [{ param: 'code', value: code }, ...(to === undefined ? [] : [{ param: 'ref', system, value }])]
  return { op: 'put', type, id, text: writableText(type, id, { resourceType: type }), entries }
}

function withCode(type: string, code: string): SearchQuery {
  return { type, where: { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand: code }] } }
}

const CHAINED: SearchQuery = { type: 'Group', where: { kind: 'refersTo', param: 'ref', query: withCode('Patient', 'a') } }
const REFERRED: SearchQuery = { type: 'Patient', where: { kind: 'referredBy', param: 'ref', query: { type: 'Group', where: EVERYTHING } } }

/** A database, and a reader of its own that keeps what it is asked for from the first time on. */
function watched(): {
  readonly storage: Storage
  readonly connection: DatabaseSync
  readonly reader: SqliteDriver
  readonly sets: KeptSets
} {
  const connection = new DatabaseSync(':memory:')
  const storage = sqliteStorage(connection, CLOCK)
  onTestFinished(async () => storage.close())
  return { storage, connection, reader: sqliteDriver(connection), sets: createKeptSets({ times: 1 }) }
}

function searching(reader: SqliteDriver, sets: KeptSets): Pick<Storage, 'search' | 'count'> {
  return {
    async search(query) {
      const { rows, next } = pageOfMatches(reader, query, { few: 2, fewToAsk: 0, sets })
      return { items: rows.map((row) => resourceOf(query.type, row)), ...(next !== undefined && { next }) }
    },
    count: async (query) => countOf(reader, query, { fewToAsk: 0, sets }),
  }
}

describe('sets that are kept', () => {
  it('follow references to what is created later, deleted, and created under a number that was used before', async () => {
    const { storage, reader, sets } = watched()
    const counts = (): readonly number[] => [CHAINED, REFERRED].map((query) => countOf(reader, query, { fewToAsk: 0, sets }))
    await storage.write([put('Group', 'g', { to: 'Patient/p' })])
    expect(counts()).toEqual([0, 0])
    await storage.write([put('Patient', 'p')])
    expect(counts()).toEqual([1, 1])
    await storage.write([{ op: 'delete', type: 'Patient', id: 'p' }])
    expect(counts()).toEqual([0, 0])
    await storage.write([put('Patient', 'other')])
    expect(counts()).toEqual([0, 0])
    await storage.write([put('Group', 'g', { to: 'Patient/other' })])
    expect(counts()).toEqual([1, 1])
    await storage.write([put('Patient', 'other', { code: 'b' })])
    expect(counts()).toEqual([0, 1])
  })

  it('take writes that came while they were not asked for', async () => {
    const { storage, reader, sets } = watched()
    const count = (query: SearchQuery): number => countOf(reader, query, { fewToAsk: 0, sets })
    await storage.write([put('Patient', 'p'), put('Group', 'g', { to: 'Patient/q' })])
    expect([count(CHAINED), count(REFERRED)]).toEqual([0, 0])
    await storage.write([{ op: 'delete', type: 'Patient', id: 'p' }])
    await storage.write([put('Patient', 'q')])
    expect(count(withCode('Patient', 'a'))).toBe(1)
    await storage.write([put('Patient', 'q')])
    expect([count(CHAINED), count(REFERRED)]).toEqual([1, 1])
  })

  it('are those of the database when more was written than its log remembers', async () => {
    const { storage, reader, sets } = watched()
    await storage.write([put('Patient', 'p')])
    expect(countOf(reader, withCode('Patient', 'a'), { fewToAsk: 0, sets })).toBe(1)
    for (let batch = 0; batch < 12; batch++)
      await storage.write(Array.from({ length: 1_000 }, (_, n) => put('Patient', `p${n}`, { code: 'b' })))
    await storage.write([put('Patient', 'p', { code: 'b' })])
    expect(countOf(reader, withCode('Patient', 'a'), { fewToAsk: 0, sets })).toBe(0)
    expect(countOf(reader, withCode('Patient', 'b'), { fewToAsk: 0, sets })).toBe(1_001)
  })

  it('are not kept where it takes too long to read them, and the search is answered all the same', async () => {
    const { storage, reader } = watched()
    await storage.write([put('Patient', 'p'), put('Patient', 'q')])
    const sets = createKeptSets({ times: 1, readMs: -1 })
    for (let again = 0; again < 2; again++) expect(countOf(reader, withCode('Patient', 'a'), { fewToAsk: 0, sets })).toBe(2)
    const test = { kind: 'entry', param: 'code', all: [] } as const
    expect(sets.parts(reader, new Map([['code', { kind: 'test', type: 'Patient', test }]]))).toBeUndefined()
  })

  it('read what they keep beside the time of a search', async () => {
    const { storage, reader, sets } = watched()
    await storage.write([put('Patient', 'p'), put('Patient', 'q')])
    expect(reader.limited(-1, () => countOf(reader, withCode('Patient', 'a'), { fewToAsk: 0, sets }))).toBe(2)
  })

  it('keep a log of thousands of changes, not of all', async () => {
    const { storage, connection } = watched()
    for (let batch = 0; batch < 12; batch++) await storage.write(Array.from({ length: 1_000 }, (_, n) => put('Patient', `p${n}`)))
    expect(connection.prepare('SELECT count(*) < 10000 AS few, max(seq) AS last FROM change').get()).toEqual({ few: 1, last: 12_001 })
  })

  it('are dropped when the database was set back and went on from there', async () => {
    const { storage, connection, reader, sets } = watched()
    await storage.write([put('Patient', 'p')])
    connection.exec('CREATE TEMP TABLE kept AS SELECT * FROM main.change')
    await storage.write([put('Patient', 'p', { code: 'b' })])
    expect(countOf(reader, withCode('Patient', 'b'), { fewToAsk: 0, sets })).toBe(1)
    connection.exec(`DELETE FROM main.change; INSERT INTO main.change SELECT * FROM temp.kept; UPDATE entry SET value = 'a'`)
    await storage.write([put('Patient', 'q')])
    expect(countOf(reader, withCode('Patient', 'b'), { fewToAsk: 0, sets })).toBe(0)
  })

  it('give pages in the order of ids, with what was created, deleted and created again since', async () => {
    const { storage, reader } = watched()
    const memory = memoryStorage([], CLOCK)
    const id = fc.stringMatching(/^[a-cA-C0-2.-]{1,2}$/)
    const change = fc.oneof(
      fc.tuple(id, fc.constantFrom('a', 'a', 'b')).map(([own, code]) => put('Patient', own, { code })),
      id.map((own) => ({ op: 'delete', type: 'Patient', id: own }) as const),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 5 }),
        fc.integer({ min: 1, max: 5 }),
        async (batches, limit) => {
          const kept = searching(reader, createKeptSets({ times: 1 }))
          const asked = { ...withCode('Patient', 'a'), limit }
          for (const changes of batches) {
            await storage.write(changes)
            await memory.write(changes)
            expect(await answerOf(kept, asked)).toEqual(await answerOf(memory, asked))
          }
        },
      ),
      { numRuns: rounds({ quick: 60, all: 300 }), endOnFailure: true },
    )
  })

  it('find what memory finds along references, whatever was written between', async () => {
    const { storage, reader, sets } = watched()
    const memory = memoryStorage([], CLOCK)
    const kept = searching(reader, sets)
    const [type, id] = [fc.constantFrom('Patient', 'Group'), fc.constantFrom('1', '2', '3')]
    const code = fc.constantFrom('a', 'b')
    const change = fc.oneof(
      fc.tuple(type, id, type, id, code).map(([of, own, toType, to, coded]) => put(of, own, { to: `${toType}/${to}`, code: coded })),
      fc.tuple(type, id).map(([of, own]) => ({ op: 'delete', type: of, id: own }) as const),
    )
    const inner = fc.oneof(
      fc.tuple(type, code).map(([of, coded]) => withCode(of, coded)),
      type.map((of): SearchQuery => ({ type: of, where: EVERYTHING })),
    )
    const query = fc.record({
      type,
      where: fc.record({ kind: fc.constantFrom('refersTo', 'referredBy'), param: fc.constant('ref'), query: inner }),
      limit: fc.constant(2),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 4 }), fc.array(query, { maxLength: 3 }), async (changes, queries) => {
        await storage.write(changes)
        await memory.write(changes)
        for (const asked of queries) expect(await answerOf(kept, asked)).toEqual(await answerOf(memory, asked))
      }),
      { numRuns: rounds({ quick: 100, all: 500 }), endOnFailure: true },
    )
  })
})
