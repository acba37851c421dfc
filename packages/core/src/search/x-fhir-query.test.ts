import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { describeSuite, suitePath } from '../../../../test/suites.js'
import { publishedSearchParameters, publishedTypes } from '../../test/r4-definitions.js'
import { memoryStorage } from '../memory/index.js'
import type { Storage } from '../storage/index.js'
import { createIndexer, parseSearch, searchParameters, type SearchParameters } from './index.js'

const suite = suitePath('measure-tests')
const DATASET = 'datasets/xq-synthea-13-dev'

interface QueryCase {
  readonly id: string
  readonly query: string
  /** Absent where the query is to be refused. */
  readonly count: number | undefined
}

describeSuite('measure-tests', 'queries of measures over published patients', () => {
  let storage: Storage
  let parameters: SearchParameters
  beforeAll(() => {
    parameters = searchParameters(publishedSearchParameters(), publishedTypes())
    const bundle = JSON.parse(readFileSync(`${suite}/${DATASET}.json`, 'utf8'))
    const resources = bundle.entry.map((entry: { resource: object }) => entry.resource)
    storage = memoryStorage(resources, { indexer: createIndexer(parameters) })
  })

  it.each(casesOf())('$id: $query', async ({ query, count }) => {
    const [type = '', rest = ''] = query.split(/\?(.*)/s)
    const counted = parseSearch(type, new URLSearchParams(rest), { parameters }).then((parsed) => storage.count(parsed.query))
    if (count === undefined) await expect(counted).rejects.toMatchObject({ name: 'OperationError' })
    else expect(await counted).toBe(count)
  })
})

/** The cases of the suite whose query needs nothing but searching. */
function casesOf(): readonly QueryCase[] {
  if (!existsSync(suite)) return []
  const folder = `${suite}/cases/x-fhir-query`
  const files = readdirSync(folder).map((name) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')))
  return files
    .filter(({ datasets, measure }) => datasets[0] === DATASET && measure?.group?.length === 1)
    .map(({ measure, cases }) => ({
      id: cases[0].id,
      query: measure.group[0].population[0].criteria?.expression ?? '',
      count: cases[0].expect.groups?.[0].populations['measure-population'],
    }))
    .filter(({ query }) => query !== '' && !query.includes('{{'))
}
