import { createHandler } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import fc from 'fast-check'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { expect, it } from 'vitest'
import { rounds, SEED } from '../../../../test/effort.js'
import type { Pair } from '../search/naive/search.js'
import type { Resource } from '../search/naive/values.js'
import { change, IDS } from '../search/random-resources.js'
import { search } from '../search/random-searches.js'

/** Of resources and requests. */
const ROUNDS = rounds({ quick: 4, all: 200 })

const release = r4({ words: true })
const BASE = 'http://fhir.example.org/fhir/R4'
const now = (): Date => new Date('2024-01-01T00:00:00Z')

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

interface Said {
  readonly status: number
  readonly text: string
}

type Ask = (asked: Asked) => Promise<Said>

/** A service that has these resources and nothing else, asked with one token of the patient `p1`. */
async function serviceWith(resources: readonly Resource[], scopes: readonly string[]): Promise<Ask> {
  const storage = memoryStorage(
    resources.map((resource) => ({ ...resource })),
    { indexer: release.indexer, now },
  )
  const sessions = createSessions({ store: memorySessionStore() })
  const { token } = await sessions.create({ user: 'ann', scopes, patient: 'p1' })
  const handler = createHandler({
    // The definitions are made searchable by the first who asks, which may take longer than a request has where others work, too.
    context: createContext({ storage, ...release, now, limits: { operationTimeoutMs: 60_000 } }),
    indexer: release.indexer,
    sessions,
    baseUrl: 'http://fhir.example.org',
    defaultPolicy: 'deny',
  })
  return async ({ method, path, body, headers }) => {
    const type = body === undefined ? {} : { 'content-type': 'application/fhir+json' }
    const sent = { authorization: `Bearer ${token}`, ...type, ...headers }
    const response = await handler(
      new Request(`${BASE}/${path}`, { method, headers: sent, ...(body !== undefined && { body: JSON.stringify(body) }) }),
    )
    return { status: response.status, text: (await response.text()).replaceAll(GENERATED, '') }
  }
}

const GENERATED = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

const one = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

/** What can be written can be read, too, so that reading and searching tell all that is seen. */
const scopes = one([
  ['patient/*.cruds'],
  ['patient/*.r', 'patient/Observation.cruds', 'user/Patient.s', 'patient/Encounter.s'],
  ['user/*.rs', 'patient/Observation.cud'],
  ['patient/Observation.cruds', 'user/Observation.rs?status=final', 'user/Patient.cruds?gender=female', 'user/Organization.cruds'],
  ['user/Observation.cruds?status=final', 'user/Patient.rs?active=true', 'user/Encounter.rs', 'user/List.rs?title:exact=Ann'],
  ['patient/*.rs', 'user/Organization.rs?active=true', 'user/Observation.rs?code=x', 'user/List.cruds'],
])

/** What shapes the result of a search over a type, or follows its references. */
const SHAPES: Readonly<Record<string, readonly Pair[]>> = {
  Organization: [
    ['_revinclude', 'Patient:organization'],
    ['_include:iterate', 'Organization:partof'],
    ['partof:below', 'g1'],
  ],
  Patient: [
    ['_include', '*'],
    ['_revinclude', 'Observation:subject'],
    ['_revinclude', 'Encounter:patient'],
    ['_revinclude', 'List:item'],
  ],
  Encounter: [
    ['_include', 'Encounter:subject'],
    ['_revinclude', 'Observation:encounter'],
    ['part-of:above', 'e1'],
  ],
  Observation: [
    ['_include', '*'],
    ['_include:iterate', 'Patient:organization'],
    ['_revinclude:iterate', 'Observation:derived-from'],
  ],
  RiskAssessment: [['_include', 'RiskAssessment:subject']],
  List: [
    ['_include', 'List:item'],
    ['_include:iterate', 'List:item'],
  ],
}
const PLAIN = [
  ['_summary', 'count'],
  ['_total', 'accurate'],
  ['_elements', 'id'],
] as const

const queryOf = (pairs: readonly Pair[]): string =>
  new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString()

const searching = search.chain(({ types, pairs }) => {
  const [type = '', another] = types
  const shapes = [...PLAIN, ...(another === undefined ? (SHAPES[type] ?? []) : [])]
  return fc.subarray(shapes, { maxLength: 2 }).map((shape): Asked => {
    const query = queryOf([...pairs, ...shape])
    return { method: 'GET', path: another === undefined ? `${type}?${query}` : `?_type=${types.join(',')}&${query}` }
  })
})

const address = one(Object.keys(IDS)).chain((type) => one(IDS[type] ?? []).map((id) => `${type}/${id}`))
const criteria = search
  .filter(({ types }) => types.length === 1)
  .map(({ types: [type], pairs }) => {
    const own = pairs.filter(([name]) => !name.startsWith('_sort') && name !== '_count')
    return { type: type ?? '', query: queryOf(own) }
  })
const condition = one([{}, { 'if-match': 'W/"1"' }, { 'if-match': '*' }, { 'if-none-match': '*' }, { 'if-match': 'W/"2"' }])

const listing = fc
  .tuple(one(['', ...Object.keys(IDS).map((type) => `${type}/`)]), fc.integer({ min: 1, max: 4 }), one(['', '&_at=2024', '&_at=2023']))
  .map(([type, count, at]): Asked => ({ method: 'GET', path: `${type}_history?_count=${count}${at}` }))
const reading = fc
  .tuple(address, one(['', '/_history', '/_history/1', '/_history/2', '/$validate', '/$validate?mode=delete', '/Observation', '/*']))
  .map(([at, rest]): Asked => ({ method: 'GET', path: `${at}${rest}` }))
const writing = fc.oneof(
  fc.tuple(change, condition).map(([{ op, resource }, headers]): Asked => {
    const path = `${resource.resourceType}/${resource.id}`
    return op === 'put' ? { method: 'PUT', path, body: resource, headers } : { method: 'DELETE', path, headers }
  }),
  change.map(({ resource }): Asked => ({ method: 'POST', path: resource.resourceType, body: { ...resource, id: undefined } })),
  fc.tuple(criteria, change).map(([{ type, query }, { resource }]): Asked => ({
    method: 'PUT',
    path: `${type}?${query}`,
    body: { ...resource, resourceType: type },
  })),
  fc.tuple(criteria, change).map(([{ type, query }, { resource }]): Asked => ({
    method: 'POST',
    path: type,
    body: { ...resource, resourceType: type },
    headers: { 'if-none-exist': query },
  })),
  criteria.map(({ type, query }): Asked => ({ method: 'DELETE', path: `${type}?${query}` })),
)

const bundled = fc
  .tuple(one(['batch', 'transaction']), fc.array(fc.oneof(searching, reading, writing), { minLength: 1, maxLength: 3 }))
  .map(([type, asked]): Asked => {
    const entry = asked.map(({ method, path, body, headers = {} }) => ({
      ...(body !== undefined && { resource: body }),
      request: {
        method,
        url: path,
        ifMatch: headers['if-match'],
        ifNoneMatch: headers['if-none-match'],
        ifNoneExist: headers['if-none-exist'],
      },
    }))
    return { method: 'POST', path: '', body: { resourceType: 'Bundle', type, entry } }
  })

const request = fc.oneof({ weight: 4, arbitrary: searching }, listing, reading, writing, bundled)

it(`what a caller may not see makes no difference to any answer (seed ${SEED}, ${ROUNDS} rounds)`, async () => {
  const round = fc.tuple(fc.array(change, { maxLength: 30 }), scopes, fc.array(request, { minLength: 10, maxLength: 20 }))
  await fc.assert(
    fc.asyncProperty(round, async ([changes, granted, requests]) => {
      const resources = [...new Map(changes.map(({ resource }) => [`${resource.resourceType}/${resource.id}`, resource])).values()]
      const whole = await serviceWith(resources, granted)
      const seen: Resource[] = []
      for (const resource of resources) {
        const { resourceType, id } = resource
        const [read, found] = await Promise.all([
          whole({ method: 'GET', path: `${resourceType}/${id}` }),
          whole({ method: 'GET', path: `${resourceType}?_id=${id}` }),
        ])
        if (read.status === 200 || found.text.includes('"entry"')) seen.push(resource)
      }
      const part = await serviceWith(seen, granted)
      for (const asked of requests) expect(await whole(asked), JSON.stringify([granted, asked])).toEqual(await part(asked))
    }),
    { numRuns: ROUNDS, seed: SEED, endOnFailure: true },
  )
})
