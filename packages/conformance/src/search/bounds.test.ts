import { DatabaseSync } from 'node:sqlite'
import { openPostgres } from '@fhir-ops/postgres'
import { r4 } from '@fhir-ops/r4'
import { sqliteStorage } from '@fhir-ops/sqlite'
import { memoryStorage } from 'fhir-ops/memory'
import { parseSearch } from 'fhir-ops/search'
import type { SearchPair } from 'fhir-ops/internal/search'
import { putResource, type Storage } from 'fhir-ops/storage'
import { afterAll, describe, expect, test } from 'vitest'
import { sharedDatabase, UNHURRIED } from '../../../postgres/test/test-database.js'

/** Searches that have as much of something as a search may have: what is not refused must be answered, by every storage. */
const { indexer, search } = r4({ words: true })
const database = await sharedDatabase()
const postgres = await openPostgres((await database.schema()).pool(), UNHURRIED)
const storages: readonly (readonly [name: string, storage: Storage])[] = [
  ['memory', memoryStorage()],
  ['SQLite', sqliteStorage(new DatabaseSync(':memory:'))],
  ['PostgreSQL', postgres.storage],
]
afterAll(async () => {
  await Promise.all(storages.map(([, storage]) => storage.close()))
})

const PATIENTS = 50
const entries = Array.from({ length: PATIENTS }, (_, n) => [
  putResource({ type: 'Patient', id: `p${n}`, source: { resourceType: 'Patient', id: `p${n}`, name: [{ family: `f${n % 7}` }] } }, indexer),
  putResource(
    {
      type: 'Observation',
      id: `o${n}`,
      source: { resourceType: 'Observation', id: `o${n}`, status: 'final', code: { text: 'x' }, subject: { reference: `Patient/p${n}` } },
    },
    indexer,
  ),
]).flat()
for (const [, storage] of storages) await storage.write(entries)

const times = (count: number, pair: (n: number) => SearchPair): readonly SearchPair[] => Array.from({ length: count }, (_, n) => pair(n))
const list = (count: number, value: (n: number) => string): string => Array.from({ length: count }, (_, n) => value(n)).join(',')
const SORTED =
  'name,-birthdate,gender,active,address,address-city,-address-country,deceased,email,family,given,identifier,language,phone,telecom,_id'

const SEARCHES: readonly (readonly [title: string, type: string, pairs: readonly SearchPair[], count: number])[] = [
  ['10,000 ids', 'Patient', [['_id', list(10_000, (n) => `p${n}`)]], PATIENTS],
  ['10,000 ids of lists', 'Patient', [['_list', list(10_000, (n) => `l${n}`)]], 0],
  ['10,000 codes', 'Observation', [['code', list(10_000, (n) => `c${n}`)]], 0],
  ['10,000 references', 'Observation', [['subject', list(10_000, (n) => `p${n}`)]], PATIENTS],
  ['1,000 lists of codes', 'Observation', times(1_000, () => ['code:not', list(10, (n) => `c${n}`)]), PATIENTS],
  ['256 systems', 'Patient', [['identifier', list(5_000, (n) => `http://s/${n % 256}|${n}`)]], 0],
  ['256 types of identifiers', 'Patient', [['identifier:of-type', list(256, (n) => `s|c|${n}`)]], 0],
  ['256 references by _has', 'Patient', times(256, (n) => ['_has:Observation:subject:_id', `o${n % 2}`]), 0],
  ['256 references by chains', 'Observation', times(256, () => ['subject:Patient._id', 'p1,p2']), 2],
  ['eight references', 'Patient', [[`${'_has:Observation:subject:subject:Patient.'.repeat(4)}name`, 'f1']], 7],
  ['256 texts', 'Patient', times(256, () => ['name:contains', 'f']), PATIENTS],
  ['256 texts of one parameter', 'Patient', [['name:contains', list(256, (n) => `f${n}`)]], PATIENTS],
  ['256 times', 'Patient', times(256, () => ['_lastUpdated', 'ne1999']), PATIENTS],
  ['a long text', 'Patient', [['name', 'x'.repeat(4_096)]], 0],
  ['a long URI', 'ValueSet', [['url:above', `http://x${'/x'.repeat(2_000)}`]], 0],
  ['nested words', 'Patient', [['_text', `${'('.repeat(49)}a${')'.repeat(49)}`]], 0],
  ['many words', 'Patient', [['_text', 'not '.repeat(99) + 'a']], PATIENTS],
  ['many sounds', 'Patient', [['phonetic', Array.from({ length: 600 }, (_, n) => `w${n}`).join(' ')]], 0],
  ['16 sort keys', 'Patient', [['_sort', SORTED]], PATIENTS],
]

describe.each(storages)('a search with as much as it may have, in %s', (_, storage) => {
  test.each(SEARCHES)('%s', async (_title, type, pairs, count) => {
    const { query } = await parseSearch(type, pairs, search)
    expect(await storage.count(query)).toBe(count)
    expect((await storage.search({ ...query, limit: 10 })).items).toHaveLength(Math.min(count, 10))
  })
})
