import { allMatches, type SearchQuery } from 'fhir-ops/storage'
import { storageContract } from '@fhir-ops/storage-contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reached, startOwnServer, type OwnServer } from '../test/own-server.js'
import { httpStorage } from './index.js'

const ENTRIES = 'the upstream has an index of its own; only searches made from parameters, ids, times and canonicals reach it'
const ONE_BY_ONE = 'atomic is not declared: entries are sent one after the other'
const ONCE = 'a FHIR transaction takes each resource once'
const NO_PERIOD = 'a server may pass over _at, and its answer would not show it'
const DELETED_VERSION = 'the upstream does not tell the version of a deletion'

const TEXT_TESTS = ['system', 'value', 'text'].flatMap((field) => [
  ...['eq', 'prefix', 'contains', 'suffix'].map((op) => `${op} compares ${field} character by character, without wildcards`),
  `in finds ${field} among its operands`,
])
const NUMBER_TESTS = ['low', 'high'].flatMap((field) => ['eq', 'lt', 'le', 'gt', 'ge'].map((op) => `${op} compares ${field} as a number`))
const ABSENCE_TESTS = ['system', 'value', 'text', 'low', 'high'].map((field) => `absent holds where an entry has no ${field}`)

/** What HTTP has no word for. */
const LENGTHS = {
  'a page ends when it is long, and next leads to the rest': 'a FHIR search has no bound on bytes',
  'a page of a history ends when it is long, and next leads to the rest': 'nor has a history',
} as const

const ENTRY_PROMISES: readonly string[] = [
  ...TEXT_TESTS,
  ...NUMBER_TESTS,
  ...ABSENCE_TESTS,
  'a test without comparisons holds where the parameter has an entry',
  'the comparisons of a test hold for one and the same entry',
  'a resource with several matching entries comes once and counts once',
  'a parameter that no resource has matches nothing',
  'and holds when all parts do, also when there is none',
  'or holds when one part does, and never when there is none',
  'not holds for every other resource of the type, also for those without entries',
  'conditions nest',
  'a long list of operands and a wide or are answered',
  'a reference to the same id of another type does not count',
  'a reference by another parameter does not count',
  'references chain over several levels and combine with other conditions',
  'sorting orders by a text, then by id',
  'sorting orders texts by code points',
  'sorting orders numbers by value',
  'of several entries the smallest counts when ascending and the largest when descending',
  'resources without an entry come last in both directions',
  'several sort keys are compared one after the other',
  'sorted pages join without gap or repetition',
  'contained',
  'conditionalWrites',
  'conditions of a scan on the same parameter may hold for different values of it',
]

storageContract(
  'HTTP before our own server',
  async ({ now }) => {
    const server = await startOwnServer(now)
    const open = () => httpStorage({ ...reached(server), history: true })
    return { storage: open(), reopen: async () => open(), dispose: server.stop }
  },
  {
    ...Object.fromEntries(ENTRY_PROMISES.map((promise) => [promise, ENTRIES])),
    ...LENGTHS,
    'a write with a failing precondition writes nothing': ONE_BY_ONE,
    'a refused write leaves no version': ONE_BY_ONE,
    'an entry of a write sees what the entries before it did': DELETED_VERSION,
    'versions rise across deletion and re-creation': DELETED_VERSION,
    'history at a time has what was current then, and no deletion': NO_PERIOD,
  },
)

storageContract(
  'HTTP before our own server, with transactions and kept answers',
  async ({ now }) => {
    const server = await startOwnServer(now)
    const open = () => httpStorage({ ...reached(server), history: true, transactions: true, keptBytes: 1_000_000 })
    return { storage: open(), reopen: async () => open(), dispose: server.stop }
  },
  {
    ...Object.fromEntries(ENTRY_PROMISES.map((promise) => [promise, ENTRIES])),
    ...LENGTHS,
    'an entry of a write sees what the entries before it did': ONCE,
    'history has every version that one write makes': ONCE,
    'versions rise across deletion and re-creation': DELETED_VERSION,
    'history at a time has what was current then, and no deletion': NO_PERIOD,
  },
)

describe('definitions of an upstream', () => {
  let server: OwnServer
  beforeAll(async () => {
    server = await startOwnServer()
    const storage = httpStorage(reached(server))
    const maps = [
      { id: 'by-uri', url: 'http://example.org/1', sourceUri: 'http://example.org/vs' },
      { id: 'by-canonical', url: 'http://example.org/2', sourceCanonical: 'http://example.org/vs' },
      { id: 'other', url: 'http://example.org/a,b', sourceCanonical: 'http://example.org/other' },
    ]
    for (const { id, ...map } of maps) {
      const text = JSON.stringify({ resourceType: 'ConceptMap', id, meta: {}, ...map, status: 'active' })
      await storage.write([{ op: 'put', type: 'ConceptMap', id, text, entries: [] }])
    }
  })
  afterAll(async () => server.stop())

  function byKey(key: string, value: string): SearchQuery {
    return { type: 'ConceptMap', where: { kind: 'entry', param: `definition:${key}`, all: [{ field: 'value', op: 'eq', operand: value }] } }
  }

  async function found(query: SearchQuery): Promise<readonly string[]> {
    const ids: string[] = []
    for await (const { id } of allMatches(httpStorage({ ...reached(server), cursorSecret: 'x' }), query)) ids.push(id)
    return ids
  }

  it('are found by their url, whatever characters it has', async () => {
    expect(await found(byKey('url', 'http://example.org/1'))).toEqual(['by-uri'])
    expect(await found(byKey('url', 'http://example.org/a,b'))).toEqual(['other'])
    expect(await found(byKey('url', 'http://example.org/none'))).toEqual([])
  })

  it('are found by their source, a uri or a canonical', async () => {
    const bySource = byKey('source', 'http://example.org/vs')
    expect(await found(bySource)).toEqual(['by-canonical', 'by-uri'])
    expect(await found({ ...bySource, limit: 1 })).toEqual(['by-canonical', 'by-uri'])
    expect(await httpStorage(reached(server)).count(bySource)).toBe(2)
  })

  it('are not found by what R4 has no search for', async () => {
    expect(await found({ ...byKey('global', 'Patient'), type: 'ImplementationGuide' })).toEqual([])
    expect(await found({ ...byKey('value-set', 'http://example.org/vs'), type: 'CodeSystem' })).toEqual([])
  })

  it('are not looked up by an unknown key, and that is said by name', async () => {
    await expect(found(byKey('other', 'http://example.org/vs'))).rejects.toMatchObject({
      code: 'search-unsupported',
      message: expect.stringContaining('definition:other'),
    })
  })
})

describe('a storage over HTTP', () => {
  const refused = [
    'ftp://example.org',
    'nowhere',
    'http://me:secret@example.org/fhir',
    'http://example.org/fhir?x=1',
    'http://example.org/fhir#x',
  ]
  for (const baseUrl of refused) {
    it(`is not made for ${baseUrl}`, () => {
      expect(() => httpStorage({ baseUrl })).toThrow(TypeError)
    })
  }
})
