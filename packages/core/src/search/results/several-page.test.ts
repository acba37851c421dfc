import { describe, expect, it } from 'vitest'
import { publishedSearchParameters, publishedTypes } from '../../../test/r4-definitions.js'
import { memoryStorage } from '../../memory/index.js'
import { putResource, type SearchQuery, type Storage } from '../../storage/index.js'
import { createIndexer, parseSeveral, searchParameters, severalPage, type SearchPair, type SeveralScope } from '../index.js'

const parameters = searchParameters(publishedSearchParameters(), publishedTypes())
const indexer = createIndexer(parameters)

const person = (resourceType: string, id: string, family?: string): { [name: string]: unknown } => ({
  resourceType,
  id,
  ...(family !== undefined && { name: [{ family }] }),
})

function filled(): Storage {
  const patients = Array.from({ length: 50 }, (_, index) => person('Patient', `p${index}`, `Name ${String(index * 2).padStart(3, '0')}`))
  const others = Array.from({ length: 50 }, (_, index) => person('Practitioner', `q${index}`, `Name ${String(index * 3).padStart(3, '0')}`))
  return memoryStorage([...patients, ...others, person('Patient', 'nameless'), person('Practitioner', 'nameless')], { indexer })
}

async function parsed(types: readonly string[], ...pairs: readonly SearchPair[]): Promise<readonly SearchQuery[]> {
  return (await parseSeveral(types, pairs, { parameters })).queries
}

interface Paging {
  readonly limit: number
  /** What happens between two pages. */
  readonly between?: () => Promise<unknown>
}

async function allOf(scope: SeveralScope, queries: readonly SearchQuery[], { limit, between }: Paging): Promise<readonly string[]> {
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await severalPage(scope, queries, { limit, after })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    found.push(...page.items.map(({ type, id }) => `${type}/${id}`))
    after = page.next
    await between?.()
  } while (after !== undefined)
  return found
}

describe('severalPage', () => {
  it('gives what sorts first of all types first, whatever the size of the pages', async () => {
    const scope = { storage: filled(), indexer }
    for (const sort of ['family', '-family', '_id', '-_lastUpdated,family', 'address']) {
      const queries = await parsed(['Practitioner', 'Patient'], ['_sort', sort])
      const whole = await allOf(scope, queries, { limit: 1_000 })
      expect(new Set(whole)).toHaveLength(102)
      for (const limit of [1, 7, 51, 101, 102]) expect(await allOf(scope, queries, { limit }), `${sort} by ${limit}`).toEqual(whole)
    }
    const names = await allOf(scope, await parsed(['Practitioner', 'Patient'], ['_sort', 'family']), { limit: 10 })
    expect(names.slice(0, 5)).toEqual(['Practitioner/q0', 'Patient/p0', 'Patient/p1', 'Practitioner/q1', 'Patient/p2'])
    expect(names.slice(-2)).toEqual(['Practitioner/nameless', 'Patient/nameless'])
  })

  it('goes through the types in turn when nothing is sorted', async () => {
    const scope = { storage: filled(), indexer }
    const queries = await parsed(['Patient', 'Practitioner'], ['_id', 'p1,q1,p2'])
    for (const limit of [1, 2, 3]) expect(await allOf(scope, queries, { limit })).toEqual(['Patient/p1', 'Patient/p2', 'Practitioner/q1'])
  })

  it('is not disturbed by writes between pages: what stays as it is comes once', async () => {
    const storage = filled()
    let written = 0
    const between = async (): Promise<unknown> => {
      const id = `new${written++}`
      return storage.write([
        putResource({ type: 'Patient', id, source: person('Patient', id, `Name ${written}`) }, indexer),
        { op: 'delete', type: 'Practitioner', id: `q${49 - written}` },
      ])
    }
    const found = await allOf({ storage, indexer }, await parsed(['Patient', 'Practitioner'], ['_sort', 'family']), { limit: 9, between })
    const old = Array.from({ length: 50 }, (_, index) => `Patient/p${index}`)
    expect(found.filter((address) => address.startsWith('Patient/p')).sort()).toEqual(old.sort())
    expect(new Set(found)).toHaveLength(found.length)
  })

  it('refuses a storage that sorts in an order of its own', async () => {
    const storage = filled()
    const shuffled: Pick<Storage, 'search'> = {
      search: async (query) => ({ items: (await storage.search(query)).items.toReversed() }),
    }
    const queries = await parsed(['Patient', 'Practitioner'], ['_sort', 'family'])
    await expect(severalPage({ storage: shuffled, indexer }, queries, { limit: 10 })).rejects.toMatchObject({ code: 'search-unsupported' })
  })

  it('takes the entries to sort by from the caller, who lets other work run between them', async () => {
    const read: string[] = []
    const entriesOf: SeveralScope['entriesOf'] = async ({ id, resource }) => {
      read.push(id)
      return indexer(resource)
    }
    const queries = await parsed(['Practitioner', 'Patient'], ['_sort', 'family'])
    const never = (): never => expect.unreachable('the indexer is not called')
    const storage = filled()
    const { items, next } = await severalPage({ storage, indexer: never, entriesOf }, queries, { limit: 5 })
    const expected = await severalPage({ storage, indexer }, queries, { limit: 5 })
    expect([items.map(({ id }) => id), next]).toEqual([expected.items.map(({ id }) => id), expected.next])
    expect(read).toContain('p0')
  })

  it('reads no entries to sort by time or id', async () => {
    const never = (): never => expect.unreachable('no resource is read')
    const queries = await parsed(['Practitioner', 'Patient'], ['_sort', '-_lastUpdated,_id'])
    const { items } = await severalPage({ storage: filled(), indexer: never }, queries, { limit: 5 })
    expect(items).toHaveLength(5)
  })

  it.each([
    'x',
    '[]',
    '["Patient","p1",[],[]]',
    '["Patient","p1",[{}],[]]',
    '["Patient","p1",["a"],[["Patient"]]]',
    '["Patient","p1",["a"],[["Patient","x"]]]',
  ])('refuses the cursor %s', async (after) => {
    const queries = await parsed(['Patient', 'Practitioner'], ['_sort', 'family'])
    await expect(severalPage({ storage: filled(), indexer }, queries, { limit: 10, after })).rejects.toMatchObject({
      code: 'search-invalid',
    })
  })
})

describe('parseSeveral', () => {
  it.each([
    [['Patient', 'Nothing'], '_id', 'a', 'search-invalid'],
    [['Patient', 'Observation'], 'family', 'a', 'search-invalid'],
    [['Patient', 'Observation'], '_sort', 'family', 'search-invalid'],
    // A text of one type, a code or a date of the other.
    [['Immunization', 'Medication'], '_sort', 'lot-number', 'search-unsupported'],
    [['GraphDefinition', 'Slot'], '_sort', 'start', 'search-unsupported'],
    [['Location', 'PractitionerRole'], '_sort', 'near', 'search-unsupported'],
  ])('refuses %s by %s=%s', async (types, name, value, code) => {
    await expect(parseSeveral(types, [[name, value]], { parameters })).rejects.toMatchObject({ code })
  })
})
