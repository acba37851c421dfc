import { createContext, type OperationContext } from 'fhir-ops/context'
import { createBots, type BotContext, type BotEvent } from 'fhir-ops/execute'
import { searchCodes } from 'fhir-ops/expand'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { putResource } from 'fhir-ops/storage'
import { r4 } from '@fhir-ops/r4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { at, fhirHeaders, send, startServer, type Reply, type RunningServer } from './running-server.js'

const reference = (to: string): object => ({ reference: to })
const coded = (code: string): object[] => [{ coding: [{ system: 'http://c', code }] }]
const observation = (id: string, patient: string, category = 'laboratory'): JsonObject => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  category: coded(category),
  code: { text: 'x' },
  subject: reference(`Patient/${patient}`),
})

const SOME_ONLY = 'The access token allows read on some resources of ValueSet only, and this needs it on all of them.'

/** Two patients, each with an observation; what is the other's is named so. */
const CONTENT: readonly JsonObject[] = [
  { resourceType: 'Patient', id: 'me', name: [{ family: 'Mine' }], generalPractitioner: [reference('Practitioner/d')] },
  { resourceType: 'Patient', id: 'other', name: [{ family: 'Theirs' }] },
  observation('mine', 'me'),
  observation('mine-social', 'me', 'social-history'),
  { ...observation('mine-derived', 'me'), derivedFrom: [reference('Observation/theirs')] },
  observation('theirs', 'other'),
  { resourceType: 'Practitioner', id: 'd' },
  { resourceType: 'Basic', id: 'theirs', code: { text: 'x' }, subject: reference('Patient/other') },
  {
    resourceType: 'List',
    id: 'theirs',
    status: 'current',
    mode: 'working',
    subject: reference('Patient/other'),
    entry: [{ item: reference('Patient/me') }],
  },
  {
    resourceType: 'Measure',
    id: 'm',
    url: 'http://x/m',
    status: 'active',
    group: ['Observation', 'Observation?subject:Patient.family=theirs', 'Patient?_has:Observation:subject:status=final'].map(
      (expression) => ({
        population: [
          {
            code: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-population', code: 'measure-population' }] },
            criteria: { language: 'application/x-fhir-query', expression },
          },
        ],
      }),
    ),
  },
  ...['v', 'absent'].map((valueSet) => ({
    resourceType: 'Measure',
    id: `in-${valueSet}`,
    status: 'active',
    group: [
      {
        population: [
          {
            code: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-population', code: 'measure-population' }] },
            criteria: { language: 'application/x-fhir-query', expression: `Patient?gender:in=http://x/${valueSet}` },
          },
        ],
      },
    ],
  })),
  {
    resourceType: 'ValueSet',
    id: 'v',
    url: 'http://x/v',
    status: 'active',
    compose: { include: [{ system: 'http://hl7.org/fhir/administrative-gender', concept: [{ code: 'male' }] }] },
  },
  {
    resourceType: 'ValueSet',
    id: 'draft',
    url: 'http://x/d',
    status: 'draft',
    compose: { include: [{ system: 'http://hl7.org/fhir/administrative-gender', concept: [{ code: 'female' }] }] },
  },
]

let server: RunningServer
beforeAll(async () => {
  const release = r4()
  const storage = memoryStorage(CONTENT, { indexer: release.indexer })
  const spy = async (event: BotEvent, { storage: own }: BotContext): Promise<unknown> => [
    (await own?.search('Observation'))?.map(({ id }) => id),
    await own?.read('Observation', String(at(event.query, 'id'))),
  ]
  await storage.write([putResource({ type: 'Observation', id: 'gone-theirs', source: observation('', 'other') }, release.indexer)])
  await storage.write([{ op: 'delete', type: 'Observation', id: 'gone-theirs' }])
  const context: OperationContext = createContext({
    storage,
    ...release,
    search: { ...release.search, codesOf: searchCodes(() => context) },
  })
  server = await startServer({
    storage,
    context,
    bots: createBots({ hostBots: [{ id: 'spy', run: spy }] }),
    grantBotStorage: true,
  })
})
afterAll(() => server.stop())

const tokenFor = async (scopes: readonly string[], patient?: string): Promise<string> =>
  (await server.sessions.create({ user: 'ann', scopes, patient })).token

interface Asked {
  readonly method?: string
  readonly body?: object
  readonly headers?: Record<string, string>
}

function ask(token: string, path: string, { method = 'GET', body, headers }: Asked = {}): Promise<Reply> {
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  return send(`${server.base}/fhir/R4/${path}`, { method, headers: { ...fhirHeaders(token), ...headers }, ...text })
}

/** What a test stores is not there for the others. */
const remove = async ({ json }: Reply): Promise<void> =>
  void (await server.storage.write([{ op: 'delete', type: 'Observation', id: String(at(json, 'id')) }]))

const idsIn = ({ json }: Reply): unknown[] =>
  ((at(json, 'entry') as object[] | undefined) ?? []).map((entry) => at(entry, 'resource', 'id'))
/** What a reply says, apart from generated ids and the id that was asked for. */
const shapeOf = ({ status, text }: Reply): unknown => [status, text.replace(/"id":"[^"]+"/, '').replaceAll(/theirs|absent/g, '')]

const MINE = ['patient/*.cruds', 'user/Measure.r', 'user/ValueSet.r', 'user/Bot.r']

describe('patient scopes', () => {
  let token: string
  beforeAll(async () => (token = await tokenFor(MINE, 'me')))

  it.each([
    ['Observation', ['mine', 'mine-derived', 'mine-social']],
    ['Observation?subject=Patient/other', []],
    ['Observation?_id=theirs', []],
    ['Observation?subject:Patient.family=Theirs', []],
    ['Observation?subject:Patient.family=Mine', ['mine', 'mine-derived', 'mine-social']],
    ['Observation?derived-from.status=final', []],
    ['Patient', ['me']],
    ['Patient?_has:Observation:subject:status=final', ['me']],
    ['Patient?_has:Observation:_id=theirs&_has:Observation:subject:_id=theirs', undefined],
    ['Patient?_has:Observation:subject:_id=theirs', []],
    ['Patient?_has:Observation:subject:derived-from=Observation/theirs', ['me']],
    ['Patient?_list=theirs', []],
    ['Patient?_list=absent', []],
    ['Observation?_id=mine-derived&_include=Observation:derived-from', ['mine-derived']],
    ['Observation?_id=mine&_include=*', ['mine', 'me']],
    ['Patient?_include=Patient:general-practitioner', ['me']],
    ['Patient?_revinclude=Observation:subject', ['me', 'mine', 'mine-derived', 'mine-social']],
    ['Patient/other/Observation', []],
    ['Patient/me/Observation', ['mine', 'mine-derived', 'mine-social']],
    ['Basic', []],
    ['?_type=Observation,Patient', ['mine', 'mine-derived', 'mine-social', 'me']],
    ['?_type=Observation,Basic&_id=theirs', []],
    ['Patient/other/*', []],
    ['Patient/me/*', ['mine', 'mine-derived', 'mine-social']],
    ['Patient/me/*?_type=Observation&subject:Patient.family=Theirs', []],
  ])('%s finds %j', async (path, expected) => {
    const reply = await ask(token, path)
    if (expected === undefined) return expect(reply.status).toBe(400)
    expect([reply.status, new Set(idsIn(reply))]).toEqual([200, new Set(expected)])
    if (!path.includes('include')) expect(at(reply.json, 'total')).toBe(expected.length)
  })

  it.each(['?_id=d', 'Practitioner', 'Practitioner/d', 'Organization', 'ConceptMap', 'Observation?performer:Practitioner.name=x'])(
    '%s is forbidden: it is in no compartment of patients',
    async (path) => expect((await ask(token, path)).status).toBe(403),
  )

  it('what is of others looks exactly like what does not exist, by every route', async () => {
    const asked = (id: string): Promise<Reply>[] => [
      ask(token, `Observation/${id}`),
      ask(token, `Observation/${id}/_history/1`),
      ask(token, `Observation/${id}/_history`),
      ask(token, `Observation/gone-${id}`),
      ask(token, `Observation/gone-${id}/_history/2`),
      ask(token, `Observation/${id}`, { method: 'PUT', body: observation(id, 'me') }),
      ask(token, `Observation/${id}`, { method: 'PUT', body: observation(id, 'me'), headers: { 'if-none-match': '*' } }),
      ask(token, `Observation/${id}`, { method: 'PUT', body: observation(id, 'me'), headers: { 'if-match': 'W/"1"' } }),
      ask(token, `Observation?identifier=nothing`, { method: 'PUT', body: observation(id, 'me') }),
      ask(token, `Observation/${id}`, { method: 'DELETE' }),
      ask(token, `Observation/${id}`, { method: 'DELETE', headers: { 'if-match': 'W/"1"' } }),
      ask(token, `Observation?_id=${id}`, { method: 'DELETE' }),
      ask(token, `Observation/${id}/$validate`),
      ask(token, `Bot/spy/$execute?id=${id}`),
      ask(token, '', { method: 'POST', body: bundle('batch', { method: 'GET', url: `Observation/${id}` }) }),
      ask(token, '', { method: 'POST', body: bundle('transaction', { method: 'DELETE', url: `Observation/${id}` }) }),
      ask(token, '', { method: 'POST', body: bundle('transaction', { method: 'PUT', url: `Observation/${id}` }, observation(id, 'me')) }),
    ]
    const [hidden, absent] = await Promise.all(['theirs', 'absent'].map((id) => Promise.all(asked(id))))
    expect(hidden!.map(shapeOf)).toEqual(absent!.map(shapeOf))
    expect(hidden!.map(({ status }) => status)).toEqual([
      404, 404, 404, 404, 404, 404, 404, 404, 404, 204, 412, 204, 404, 200, 200, 200, 404,
    ])
    expect((await server.storage.read('Observation', 'theirs'))?.versionId).toBe('1')
  })

  it('of a history those versions are seen that are granted', async () => {
    const ids = new Set(idsIn(await ask(token, 'Observation/_history')))
    expect([ids.has('mine'), ids.has('theirs'), ids.has('gone-theirs')]).toEqual([true, false, false])
    expect((await ask(token, '_history')).status).toBe(403)
  })

  it.each(['POST', 'PUT'])('%s cannot store what belongs to another', async (method) => {
    const path = method === 'POST' ? 'Observation' : 'Observation/mine'
    expect((await ask(token, path, { method, body: observation('mine', 'other') })).status).toBe(403)
    const stored = await ask(token, path, { method, body: observation('mine', 'me') })
    expect(stored.status).toBe(method === 'POST' ? 201 : 200)
    if (method === 'POST') await remove(stored)
  })

  it('a transaction cannot store what belongs to another', async () => {
    const body = bundle('transaction', { method: 'POST', url: 'Observation' }, observation('x', 'other'))
    expect((await ask(token, '', { method: 'POST', body })).status).toBe(403)
  })

  it('a measure counts what is in the compartment', async () => {
    const reply = await ask(token, 'Measure/m/$evaluate-measure?periodStart=2026&periodEnd=2026')
    const counts = (at(reply.json, 'group') as object[]).map((group) => at(group, 'population', 0, 'count'))
    const { total } = (await ask(token, 'Observation?_summary=count')).json as { total: number }
    expect(counts).toEqual([total, 0, 1])
  })

  it('a bot sees what its caller sees', async () => {
    const [found, theirs] = (await ask(token, 'Bot/spy/$execute?id=theirs')).json as [string[], unknown]
    expect([found.includes('mine'), found.includes('theirs'), theirs]).toEqual([true, false, null])
  })

  it('terminology needs the right to all value sets', async () => {
    expect((await ask(token, 'ValueSet/$expand?url=http://x/v')).status).toBe(200)
    const some = await tokenFor(['user/ValueSet.rs?status=active'])
    const refused = await ask(some, 'ValueSet/$expand?url=http://x/d')
    expect([refused.status, refused.json]).toMatchObject([403, { issue: [{ details: { text: SOME_ONLY } }] }])
    expect(idsIn(await ask(some, 'ValueSet?url=http://x/v,http://x/d'))).toEqual(['v'])
  })

  it('$closure, whose tables belong to nobody, takes no narrow scopes', async () => {
    const body = { resourceType: 'Parameters', parameter: [{ name: 'name', valueString: 'table' }] }
    const replies = [token, await tokenFor(['user/ValueSet.r'])].map((one) => ask(one, '$closure', { method: 'POST', body }))
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([403, 200])
  })

  it.each([[undefined], ['nobody']])('grant nothing of anybody when the patient is %s', async (patient) => {
    const lost = await tokenFor(['patient/*.cruds'], patient)
    const replies = await Promise.all([ask(lost, 'Observation/mine'), ask(lost, 'Observation')])
    expect(replies.map(({ status }) => status)).toEqual(patient === undefined ? [403, 403] : [404, 200])
    expect(replies.flatMap(idsIn)).toEqual([])
  })

  it('beside a scope of the user widen it', async () => {
    const both = await tokenFor(
      ['patient/Observation.rs', 'user/Observation.rs?category=http://c|social-history', 'user/Patient.r'],
      'other',
    )
    expect(idsIn(await ask(both, 'Observation'))).toEqual(['mine-social', 'theirs'])
    expect((await ask(both, 'Patient/me')).status).toBe(200)
  })
})

describe('scopes with a query', () => {
  it.each([
    ['user/Observation.rs?category=http://c|social-history', ['mine-social']],
    ['user/Observation.rs?category=http%3A%2F%2Fc%7Csocial-history', ['mine-social']],
    ['user/Observation.rs?category=social-history&subject=Patient/other', []],
    ['patient/Observation.rs?category=laboratory', ['mine']],
    ['patient/Observation.read?category=laboratory', ['mine']],
  ])('%s grants %j', async (scope, expected) => {
    const token = await tokenFor([scope], 'me')
    const found = idsIn(await ask(token, 'Observation?_id=mine,mine-social,theirs'))
    const read = await Promise.all(
      ['mine', 'mine-social', 'theirs'].map(async (id) => ((await ask(token, `Observation/${id}`)).status === 200 ? [id] : [])),
    )
    expect([found, read.flat()]).toEqual([expected, expected])
  })

  it.each([
    'nonsense=x',
    'subject:Patient.family=mine',
    'derived-from.status=final',
    '_has:Provenance:target:recorded=2026',
    '_count=5',
    'category:in=http://unknown',
    '%zz=1',
  ])('?%s is not understood, and grants nothing', async (query) =>
    expect((await ask(await tokenFor([`user/Observation.rs?${query}`]), 'Observation')).status).toBe(403),
  )

  it('hold for what is stored', async () => {
    const token = await tokenFor(['user/Observation.crus?category=http://c|social-history'])
    const stored = await Promise.all([
      ask(token, 'Observation', { method: 'POST', body: observation('x', 'me', 'social-history') }),
      ask(token, 'Observation', { method: 'POST', body: observation('x', 'me') }),
      ask(token, 'Observation/mine-social', { method: 'PUT', body: observation('mine-social', 'me') }),
      ask(token, 'Observation/mine', { method: 'PUT', body: observation('mine', 'me', 'social-history') }),
    ])
    expect(stored.map(({ status }) => status)).toEqual([201, 403, 403, 404])
    if (stored[0] !== undefined) await remove(stored[0])
  })
})

describe('codes of value sets', () => {
  const CASES: [readonly string[], readonly number[]][] = [
    [
      ['user/Patient.rs', 'user/ValueSet.r'],
      [200, 404],
    ],
    [
      ['user/Patient.rs', 'user/CodeSystem.r'],
      [200, 404],
    ],
    [['user/Patient.rs'], [403, 403]],
    [
      ['user/Patient.rs', 'user/ValueSet.r?status=active'],
      [403, 403],
    ],
    [['user/Observation.rs'], [403, 403]],
  ]

  it.each(CASES)('in a search by :in need the rights that an expansion needs: %j', async (scopes, expected) => {
    const token = await tokenFor(scopes)
    const replies = await Promise.all(['v', 'absent'].map((id) => ask(token, `Patient?gender:in=http://x/${id}`)))
    expect(replies.map(({ status }) => status)).toEqual(expected)
  })

  it.each(CASES)('in the criteria of a measure need the same rights: %j', async (scopes, [found, missing]) => {
    const token = await tokenFor([...scopes, 'user/Measure.r'])
    const replies = await Promise.all(
      ['v', 'absent'].map((id) => ask(token, `Measure/in-${id}/$evaluate-measure?periodStart=2026&periodEnd=2026`)),
    )
    // What a Measure names and is not there is a fault of the Measure.
    expect(replies.map(({ status }) => status)).toEqual([found, missing === 404 ? 422 : missing])
  })
})

function bundle(type: string, request: object, resource?: object): object {
  return { resourceType: 'Bundle', type, entry: [{ request, ...(resource !== undefined && { resource }) }] }
}
