import { DatabaseSync } from 'node:sqlite'
import {
  scanResources,
  type Comparison,
  type Condition,
  type EntryTest,
  type PutEntry,
  type ScanQuery,
  type SearchQuery,
} from 'fhir-ops/storage'
import { describe, expect, it } from 'vitest'
import { basic } from '../../../core/test/basics.js'
import { sqliteStorage } from '../index.js'

function entry(param: string, ...all: readonly Comparison[]): EntryTest {
  return { kind: 'entry', param, all }
}

function codeOf(code: string): EntryTest {
  return entry('code', { field: 'system', op: 'eq', operand: 'http://loinc.org' }, { field: 'value', op: 'eq', operand: code })
}

const CODE = codeOf('1-1')
const DATE = entry('date', { field: 'low', op: 'ge', operand: 1 }, { field: 'high', op: 'le', operand: 2 })
const EVERYTHING: Condition = { kind: 'and', conditions: [] }
const INNER: SearchQuery = { type: 'Patient', where: CODE }

const CONDITIONS: readonly (readonly [string, Condition])[] = [
  ['a token', CODE],
  ['a code of any system', entry('code', { field: 'value', op: 'eq', operand: '1-1' })],
  ['any code of a system', entry('code', { field: 'system', op: 'eq', operand: 'http://loinc.org' })],
  ['one of several codes', entry('code', { field: 'value', op: 'in', operands: ['a', 'b'] })],
  ['a reference', entry('subject', { field: 'system', op: 'eq', operand: 'Patient' }, { field: 'value', op: 'eq', operand: 'a' })],
  ['a uri', entry('url', { field: 'value', op: 'eq', operand: 'http://example.org' })],
  ['a uri below another', entry('url', { field: 'value', op: 'prefix', operand: 'http://example.org/' })],
  ['the start of a string', entry('name', { field: 'text', op: 'prefix', operand: 'ann' })],
  ['a part of a string', entry('name', { field: 'text', op: 'contains', operand: 'ann' })],
  ['a date', DATE],
  ['a date after another', entry('date', { field: 'high', op: 'gt', operand: 1 })],
  ['a quantity', entry('value', { field: 'low', op: 'ge', operand: 1 }, { field: 'value', op: 'eq', operand: 'mg' })],
  ['presence', entry('code')],
  ['absence', { kind: 'not', condition: entry('code') }],
  ['two conditions', { kind: 'and', conditions: [CODE, DATE] }],
  ['one of two conditions', { kind: 'or', conditions: [CODE, DATE] }],
  ['a chain', { kind: 'refersTo', param: 'subject', query: INNER }],
  ['a reverse chain', { kind: 'referredBy', param: 'subject', query: INNER }],
  ['ids', { kind: 'id', ids: ['a', 'b'] }],
  ['a time of update', { kind: 'lastUpdated', from: 1, to: 2 }],
  ['everything', EVERYTHING],
]

/** A database with a Basic in it, and the statements that were prepared on it. */
async function watched() {
  const db = new DatabaseSync(':memory:')
  const statements: string[] = []
  const storage = sqliteStorage({
    exec: (sql) => db.exec(sql),
    prepare(sql) {
      statements.push(sql)
      return db.prepare(sql)
    },
    function: (name, implementation) => db.function(name, implementation),
    close: () => db.close(),
  })
  await storage.write([basic('one')])
  statements.length = 0
  const plans = (): readonly string[] =>
    statements.flatMap((sql) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => String(row['detail'])),
    )
  return { storage, plans }
}

describe('searches are answered from indexes', () => {
  for (const [name, where] of CONDITIONS) {
    it(`counting ${name} reads neither a resource nor an entry, only covering indexes`, async () => {
      const { storage, plans } = await watched()
      await storage.count({ type: 'Basic', where })
      const read = plans().filter((step) => /^(SCAN|SEARCH) (resource|r|entry)\b/.test(step))
      const allowed = /^SEARCH (resource|r|entry) USING (COVERING INDEX|INTEGER PRIMARY KEY \(rowid=\?\)|PRIMARY KEY)/
      expect(read.length).toBeGreaterThan(0)
      expect(read.filter((step) => !allowed.test(step))).toEqual([])
    })

    it(`a page of ${name} scans no table`, async () => {
      const { storage, plans } = await watched()
      await storage.search({ type: 'Basic', where })
      expect(plans().filter((step) => /^SCAN (resource|r|entry)\b/.test(step))).toEqual([])
    })
  }

  for (const where of [
    { kind: 'and', conditions: [] },
    { kind: 'id', ids: ['one'] },
  ] satisfies Condition[]) {
    it(`${where.kind === 'id' ? 'few matches' : 'everything'} sorted by several keys: those of a resource are read from its own entries`, async () => {
      const { storage, plans } = await watched()
      const sort = (['text', 'value', 'low', 'high'] as const).map((field) => ({ param: field, field, descending: field === 'high' }))
      await storage.search({ type: 'Basic', where, sort })
      const read = plans().filter((step) => /^(SCAN|SEARCH) entry\b/.test(step))
      expect(read.length).toBeGreaterThan(2)
      expect(new Set(read)).toEqual(new Set(['SEARCH entry USING PRIMARY KEY (resource=? AND param=?)']))
    })
  }

  it('pages of a scan: what refers to a match is looked up by its id or, once for all pages, by the keys of what may come', async () => {
    const { storage, plans } = await watched()
    await storage.write([basic('two'), basic('three')])
    const referring = [{ type: 'Basic', where: entry('code', { field: 'value', op: 'eq', operand: 'a' }), params: ['subject'] }]
    await storage.scan?.({ type: 'Basic', where: EVERYTHING, limit: 1, referring })
    expect(plans().filter((step) => /^SCAN (resource|r|t|e|entry)\b/.test(step))).toEqual([])
    expect(plans().filter((step) => /^SEARCH (t|e)\b/.test(step))).toEqual([
      'SEARCH e USING PRIMARY KEY (resource=? AND param=?)',
      'SEARCH t USING COVERING INDEX resource_id (type=? AND id=?)',
    ])
  })

  it('pages of a scan: a condition that many times as many resources meet as the others is tested for each of these', async () => {
    const { storage, plans } = await watched()
    const withEntries = (id: string, code: string): PutEntry => ({
      ...basic(id),
      entries: [
        { param: 'code', system: 'http://loinc.org', value: code },
        { param: 'status', value: code === '2-2' ? 'draft' : 'final' },
        { param: 'subject', system: 'Basic', value: 'one' },
      ],
    })
    const others = Array.from({ length: 60 }, (_, n) => withEntries(`other-${n}`, '3-3'))
    await storage.write([withEntries('rare', '1-1'), withEntries('draft', '2-2'), ...others])
    const either: Condition = { kind: 'or', conditions: ['1-1', '2-2'].map((code) => codeOf(code)) }
    const status = entry('status', { field: 'value', op: 'eq', operand: 'final' })
    const where: Condition = { kind: 'and', conditions: [status, either] }
    const query: ScanQuery = { type: 'Basic', where: EVERYTHING, limit: 40, referring: [{ type: 'Basic', where, params: ['subject'] }] }
    const found: string[] = []
    for await (const { stored, referring } of scanResources(storage, query))
      for (const { id } of referring) found.push(`${id} to ${stored.id}`)
    expect(found).toEqual(['rare to one'])
    expect(plans()).toContain('SEARCH entry USING PRIMARY KEY (resource=? AND param=?)')
  })
})
