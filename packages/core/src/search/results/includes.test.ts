import { describe, expect, it } from 'vitest'
import { publishedSearchParameters, publishedTypes } from '../../../test/r4-definitions.js'
import { OperationError } from '../../errors/index.js'
import { memoryStorage } from '../../memory/index.js'
import type { IndexEntry, StoredResource } from '../../storage/index.js'
import { createIndexer, includedResources, parseSearch, searchParameters, type SearchPair } from '../index.js'

const parameters = searchParameters(publishedSearchParameters(), publishedTypes())
const indexer = createIndexer(parameters)

const entriesOf = ({ resource }: StoredResource): readonly IndexEntry[] => indexer(resource)

const reference = (to: string): object => ({ reference: to })
const storage = memoryStorage(
  [
    { resourceType: 'Organization', id: 'top' },
    { resourceType: 'Organization', id: 'middle', partOf: reference('Organization/top') },
    { resourceType: 'Organization', id: 'low', partOf: reference('Organization/middle') },
    {
      resourceType: 'Patient',
      id: 'a',
      managingOrganization: reference('Organization/low'),
      generalPractitioner: [reference('Practitioner/d'), reference('Practitioner/gone')],
    },
    { resourceType: 'Patient', id: 'b', link: [{ other: reference('Patient/a'), type: 'seealso' }] },
    { resourceType: 'Practitioner', id: 'd' },
    { resourceType: 'Observation', id: 'o1', subject: reference('Patient/a'), performer: [reference('Practitioner/d')] },
    { resourceType: 'Observation', id: 'o2', subject: reference('Patient/b'), derivedFrom: [reference('Observation/o1')] },
    { resourceType: 'Provenance', id: 'v', target: [reference('Observation/o1'), reference('Patient/b')] },
  ],
  { indexer },
)

function pairsOf(query: string): readonly SearchPair[] {
  return query.split('&').map((pair): SearchPair => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)])
}

async function found(type: string, query: string, limit = 100): Promise<string> {
  const { query: parsed, includes = [] } = await parseSearch(type, pairsOf(query), { parameters, includes: true })
  const { items } = await storage.search(parsed)
  const shows = ({ id }: { readonly id: string }): boolean => id !== 'v'
  const included = await includedResources({ storage, entriesOf, shows, limit }, items, includes)
  return included.map((resource) => `${resource.type}/${resource.id}`).join(' ')
}

describe('included resources', () => {
  it.each([
    ['Patient', '_id=a&_include=Patient:organization', 'Organization/low'],
    ['Patient', '_id=a&_include=Patient:general-practitioner', 'Practitioner/d'],
    ['Patient', '_id=a&_include=Patient:general-practitioner:Organization', ''],
    [
      'Patient',
      '_id=a&_include=Patient:organization&_include:iterate=Organization:partof',
      'Organization/low Organization/middle Organization/top',
    ],
    ['Patient', '_id=a,b&_include=Patient:link', ''],
    ['Patient', '_id=a&_include=*', 'Organization/low Practitioner/d'],
    ['Patient', '_id=a&_include=Patient:*', 'Organization/low Practitioner/d'],
    ['Patient', '_id=a&_revinclude=Observation:subject', 'Observation/o1'],
    ['Patient', '_id=a,b&_revinclude=Observation:patient', 'Observation/o1 Observation/o2'],
    [
      'Patient',
      '_id=a&_revinclude=Observation:subject:Patient&_revinclude:iterate=Observation:derived-from',
      'Observation/o1 Observation/o2',
    ],
    [
      'Patient',
      '_id=b&_revinclude=Observation:subject&_include:iterate=Observation:derived-from&_include:iterate=Observation:performer',
      'Observation/o2 Observation/o1 Practitioner/d',
    ],
    ['Patient', '_id=b&_revinclude=Patient:link', ''],
    ['Patient', '_id=a&_revinclude=Patient:*', 'Patient/b'],
    ['Patient', '_id=b&_revinclude=Provenance:target', ''],
    ['Patient', '_id=nobody&_include=*', ''],
  ])('%s?%s gives [%s]', async (type, query, expected) => {
    expect(await found(type, query)).toBe(expected)
  })

  it('are refused when they are too many', async () => {
    await expect(found('Patient', '_include=*', 1)).rejects.toMatchObject({ code: 'too-costly' })
  })

  it('end between two questions to the storage when the caller has gone', async () => {
    const query = '_id=a&_include=Patient:organization&_include:iterate=Organization:partof'
    const { query: parsed, includes = [] } = await parseSearch('Patient', pairsOf(query), { parameters, includes: true })
    const { items } = await storage.search(parsed)
    let questions = 0
    const step = (): undefined => {
      if (++questions > 2) throw new OperationError('aborted', 'The request was cancelled.')
    }
    const work = includedResources({ storage, entriesOf, shows: () => true, limit: 100, step }, items, includes)
    await expect(work).rejects.toMatchObject({ code: 'aborted' })
  })

  it('let other work run, at each of many', async () => {
    const { query: parsed, includes = [] } = await parseSearch('Observation', pairsOf('_include=*'), { parameters, includes: true })
    const { items } = await storage.search(parsed)
    let [steps, runs] = [0, 0]
    const step = async (): Promise<void> => {
      steps++
      await new Promise((resolve) => setImmediate(resolve))
      runs++
    }
    const included = await includedResources({ storage, entriesOf, shows: () => true, limit: 100, step }, items, includes)
    expect(steps).toBeGreaterThanOrEqual(items.length + included.length)
    expect(runs).toBe(steps)
  })

  it('are looked for with one look at each resource, however many includes start from it', async () => {
    const query = '_id=a,b&_include=Patient:link&_include=Patient:organization&_include=*&_include:iterate=Organization:partof'
    const { query: parsed, includes = [] } = await parseSearch('Patient', pairsOf(query), { parameters, includes: true })
    const { items } = await storage.search(parsed)
    const asked: string[] = []
    const noting = async (resource: StoredResource): Promise<readonly IndexEntry[]> => {
      asked.push(resource.id)
      return entriesOf(resource)
    }
    const included = await includedResources({ storage, entriesOf: noting, shows: () => true, limit: 100 }, items, includes)
    expect(included.map(({ id }) => id)).toEqual(['low', 'd', 'middle', 'top'])
    expect(asked).toEqual(['a', 'b', 'low', 'middle', 'top'])
  })

  it('come once, however many lead to them', async () => {
    expect(await found('Observation', '_include=Observation:subject&_include=Observation:patient')).toBe('Patient/a Patient/b')
  })
})

describe('an include', () => {
  it.each([
    ['_include=Patient', 'form'],
    ['_include=Patient:', 'form'],
    ['_include=Nothing:subject', 'form'],
    ['_include=constructor:subject', 'form'],
    ['_include=Patient:organization:Nothing', 'form'],
    ['_include=Patient:organization:Practitioner', 'cannot include anything in this search'],
    ['_include=Patient:name', 'reference'],
    ['_include=Patient:nonsense', 'reference'],
    ['_include=Observation:subject', 'cannot include anything in this search'],
    ['_revinclude=Encounter:service-provider', 'cannot include anything in this search'],
    ['_revinclude=Observation:subject:Group', 'cannot include anything in this search'],
    ['_revinclude=*', 'type'],
    ['_include:iterate=*', 'type'],
    ['_include:recurse=Patient:organization', 'iterate'],
    ['_include:iterate:iterate=Patient:organization', 'iterate'],
    ['_include=Patient:organisation', "'organisation'. Did you mean 'organization'?"],
  ])('%s is refused', async (query, part) => {
    await expect(parseSearch('Patient', pairsOf(query), { parameters, includes: true })).rejects.toMatchObject({
      code: 'search-invalid',
      message: expect.stringContaining(part),
    })
  })

  it('is refused where the caller does not give what it brings', async () => {
    await expect(parseSearch('Patient', pairsOf('_include=*'), { parameters })).rejects.toMatchObject({ code: 'search-unsupported' })
  })

  it('by canonical is refused', async () => {
    const table = publishedSearchParameters().map((row) => (row.url.endsWith('/MeasureReport-measure') ? { ...row, canonical: true } : row))
    const options = { parameters: searchParameters(table, publishedTypes()), includes: true }
    await expect(parseSearch('MeasureReport', pairsOf('_include=MeasureReport:measure'), options)).rejects.toMatchObject({
      code: 'search-unsupported',
    })
  })
})
