import { createContext } from 'fhir-ops/context'
import { memoryConceptStore, memoryStorage } from 'fhir-ops/memory'
import type { JsonObject } from 'fhir-ops/internal/json'
import { packageLayer } from 'fhir-ops/packages'
import { r4, r4TypeModel } from '@fhir-ops/r4'
import { searchParameters } from 'fhir-ops/search'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { headOf, headParameters } from '../src/content/definition-heads.js'
import { askFhir, at, send, startServer, USER, type Reply, type RunningServer } from './running-server.js'

const GENDER = 'http://hl7.org/fhir/ValueSet/administrative-gender'
let running: RunningServer

beforeAll(async () => {
  const release = r4()
  const storage = memoryStorage([], { indexer: release.indexer })
  const concepts = memoryConceptStore()
  const staged = await concepts.stage({ url: 'http://a.example/cs', version: '2026-01', format: 'x', concepts: 7, header: '{}' })
  await staged.publish()
  running = await startServer({ storage, context: createContext({ storage, concepts, ...release }) })
  expect((await put('ValueSet', 'mine', { url: 'http://a.example/vs', status: 'active' })).status).toBe(201)
})
afterAll(() => running.stop())

const get = (path: string): Promise<Reply> => askFhir(running, path)
const put = (type: string, id: string, members: object): Promise<Reply> =>
  askFhir(running, `/${type}/${id}`, { method: 'PUT', body: JSON.stringify({ resourceType: type, id, ...members }) })
const total = async (path: string): Promise<number> => Number(at((await get(path)).json, 'total'))
const idsOf = ({ json }: Reply): unknown[] =>
  ((at(json, 'entry') as object[] | undefined) ?? []).map((entry) => at(entry, 'resource', 'id'))

describe('the definitions that engines use', () => {
  it('are found by their url, read by their id, and have one version', async () => {
    const found = await get(`/ValueSet?url=${GENDER}`)
    expect([at(found.json, 'total'), idsOf(found)]).toEqual([1, ['administrative-gender']])
    expect(await Promise.all(['4.0.1', '4.0.0'].map((version) => total(`/ValueSet?url=${GENDER}|${version}`)))).toEqual([1, 0])
    const read = await get('/ValueSet/administrative-gender')
    expect([read.status, at(read.json, 'url'), read.headers.etag]).toEqual([200, GENDER, 'W/"1"'])
    expect((await get('/ValueSet/administrative-gender/_history/1')).status).toBe(200)
    expect((await get('/ValueSet/administrative-gender/_history/2')).status).toBe(404)
    const history = await get('/ValueSet/administrative-gender/_history')
    expect([history.status, idsOf(history), at(history.json, 'total')]).toEqual([200, ['administrative-gender'], undefined])
    expect(idsOf(await get('/ValueSet/administrative-gender/_history?_since=2000'))).toEqual(['administrative-gender'])
    expect(idsOf(await get('/ValueSet/administrative-gender/_history?_at=2000'))).toEqual([])
    expect((await get('/ValueSet/no-such-set/_history')).status).toBe(404)
    expect((await get('/StructureDefinition?url=http://hl7.org/fhir/StructureDefinition/Patient&_summary=count')).json).toMatchObject({
      total: 1,
    })
    expect((await get('/ValueSet/no-such-set')).status).toBe(404)
  })

  it('come after what is stored, page by page, each once, as many as the total says', async () => {
    const all = await total('/ValueSet?_summary=count')
    expect(all).toBeGreaterThan(500)
    const ids: unknown[] = []
    let path: string | undefined = '/ValueSet?_count=100&_elements=url'
    while (path !== undefined) {
      const page = await get(path)
      expect(at(page.json, 'total')).toBe(all)
      ids.push(...idsOf(page))
      const links = at(page.json, 'link') as { relation: string; url: string }[]
      path = links.find(({ relation }) => relation === 'next')?.url.split('/fhir/R4')[1]
    }
    expect([ids.length, new Set(ids).size, ids[0]]).toEqual([all, all, 'mine'])
    const full = await get('/ValueSet?_count=1')
    expect([idsOf(full), String(at(full.json, 'link', 1, 'url')).includes('_cursor=')]).toEqual([['mine'], true])
  })

  it('are summarized, and searched like what is stored', async () => {
    const { json } = await get(`/CodeSystem?name=AdministrativeGender&_summary=true`)
    expect(at(json, 'entry', 0, 'resource', 'meta', 'tag', 0, 'code')).toBe('SUBSETTED')
    expect(at(json, 'entry', 0, 'resource', 'concept')).toBeUndefined()
    expect(await total('/StructureDefinition?type=Patient&derivation=specialization&_summary=count')).toBe(1)
    expect((await get('/ValueSet?nonsense=1')).status).toBe(400)
    expect((await get('/ValueSet?_cursor=definitions.nonsense')).status).toBe(400)
  })

  it('include imported code systems, without their concepts', async () => {
    const { json } = await get('/CodeSystem?url=http://a.example/cs')
    expect(at(json, 'entry', 0, 'resource')).toMatchObject({ version: '2026-01', content: 'not-present', count: 7 })
    expect((await get(`/CodeSystem/${String(at(json, 'entry', 0, 'resource', 'id'))}`)).status).toBe(200)
  })

  it('are listed by the TerminologyCapabilities, which say nothing of stored code systems where callers need a token', async () => {
    await put('CodeSystem', 'kept', { url: 'http://stored.example', status: 'active', content: 'complete' })
    expect(await listedSystems(running)).toEqual(['http://a.example/cs'])
  })

  it('are hidden by what is stored under their id, and cannot be changed', async () => {
    const url = 'http://hl7.org/fhir/ValueSet/link-type'
    const before = await total('/ValueSet?_summary=count')
    const patch = { method: 'PATCH', body: '[]', headers: { 'content-type': 'application/json-patch+json' } }
    expect((await askFhir(running, '/ValueSet/link-type', patch)).status).toBe(422)
    const refusal = await askFhir(running, '/ValueSet/link-type', { method: 'DELETE' })
    expect([refusal.status, at(refusal.json, 'issue', 0, 'code')]).toEqual([422, 'not-supported'])
    expect((await put('ValueSet', 'link-type', { url: 'http://a.example/own', status: 'draft' })).status).toBe(201)
    expect(at((await get('/ValueSet/link-type')).json, 'url')).toBe('http://a.example/own')
    expect([await total('/ValueSet?_summary=count'), await total(`/ValueSet?url=${url}`)]).toEqual([before, 0])
    await askFhir(running, '/ValueSet/link-type', { method: 'DELETE' })
    expect(at((await get('/ValueSet/link-type')).json, 'url')).toBe(url)
  })

  it('are shown to those only whose scopes cover them', async () => {
    const asked = async (scope: string): Promise<unknown[]> => {
      const { token } = await running.sessions.create({ user: USER, scopes: [scope] })
      const own = { ...running, token }
      const search = await askFhir(own, `/ValueSet?url=${GENDER}`)
      return [(await askFhir(own, '/ValueSet/administrative-gender')).status, search.status, at(search.json, 'total')]
    }
    expect(await asked('system/Patient.rs')).toEqual([403, 403, undefined])
    expect(await asked('system/ValueSet.rs?url=http://a.example/vs')).toEqual([404, 200, 0])
    expect(await asked(`system/ValueSet.rs?url=${GENDER}`)).toEqual([200, 200, 1])
  })

  it('are stated in the CapabilityStatement', async () => {
    const resources = at((await get('/metadata')).json, 'rest', 0, 'resource') as { type: string; documentation?: string }[]
    const documented = resources.filter(({ documentation }) => documentation !== undefined).map(({ type }) => type)
    expect(documented).toContain('StructureDefinition')
    expect(documented).not.toContain('Patient')
  })
})

/** Definitions, and the types of which all were listed. */
function listedDefinitions({ definitions }: Pick<ReturnType<typeof r4>, 'definitions'>): {
  readonly listed: readonly string[]
  readonly definitions: typeof definitions
} {
  const listed: string[] = []
  const all = (layer: (typeof definitions)[number]) => async (type: string) => {
    listed.push(type)
    return (await layer.all?.(type)) ?? []
  }
  return { listed, definitions: definitions.map((layer) => ({ ...layer, all: all(layer) })) }
}

it('are not made for the deletion of what is stored', async () => {
  const release = r4()
  const storage = memoryStorage([{ resourceType: 'ValueSet', id: 'mine', status: 'active' }], { indexer: release.indexer })
  const { listed, definitions } = listedDefinitions(release)
  const other = await startServer({ storage, context: createContext({ storage, ...release, definitions }) })
  expect((await askFhir(other, '/ValueSet/mine', { method: 'DELETE' })).status).toBe(204)
  expect(listed).toEqual([])
  expect((await askFhir(other, '/ValueSet/administrative-gender', { method: 'DELETE' })).status).toBe(422)
  expect(listed).toEqual(['ValueSet'])
  await other.stop()
})

it('what is stored beside them does not make them again, and an import does', async () => {
  const release = r4()
  const storage = memoryStorage([], { indexer: release.indexer })
  const store = memoryConceptStore()
  let writes = 0
  // As over a database file, which counts every write in it.
  const concepts = { ...store, revision: () => writes }
  const { listed, definitions } = listedDefinitions(release)
  const other = await startServer({ storage, context: createContext({ storage, concepts, ...release, definitions }) })
  const count = async (path: string): Promise<unknown> => {
    writes++
    return at((await askFhir(other, path)).json, 'total')
  }
  expect([await count('/CodeSystem?_id=imported.example-1'), await count('/ValueSet?_id=administrative-gender')]).toEqual([0, 1])
  expect([await count('/CodeSystem?_id=imported.example-1'), await count('/ValueSet?_id=administrative-gender')]).toEqual([0, 1])
  expect(listed).toEqual(['CodeSystem', 'ValueSet'])
  await (await store.stage({ url: 'http://imported.example', version: '1', format: 'x', concepts: 7, header: '{}' })).publish()
  expect([await count('/CodeSystem?_id=imported.example-1'), await count('/ValueSet?_id=administrative-gender')]).toEqual([1, 1])
  expect(listed).toEqual(['CodeSystem', 'ValueSet', 'CodeSystem'])
  await other.stop()
})

it('a search says when a source of definitions cannot be listed', async () => {
  const { definitions, ...release } = r4()
  const storage = memoryStorage([], { indexer: release.indexer })
  const unlisted = definitions.map(({ find }) => ({ find }))
  const other = await startServer({ storage, context: createContext({ storage, ...release, definitions: unlisted }) })
  const { json } = await askFhir(other, `/ValueSet?url=${GENDER}`)
  const [plain, count] = [await askFhir(other, '/Patient'), await askFhir(other, '/ValueSet?_summary=count')]
  await other.stop()
  expect(at(count.json, 'entry'), 'a count has no entries').toBeUndefined()
  expect([at(json, 'total'), at(json, 'entry', 0, 'search', 'mode'), at(json, 'entry', 0, 'resource', 'issue', 0, 'code')]).toEqual([
    0,
    'outcome',
    'incomplete',
  ])
  expect(at(plain.json, 'entry')).toBeUndefined()
})

describe('the TerminologyCapabilities of an open server', () => {
  it('list stored code systems and those of packages that have concepts, as they are at the moment', async () => {
    const { indexer, definitions, ...release } = r4()
    const storage = memoryStorage([], { indexer })
    const cs = (url: string, content: string): { url: string; status: string; content: string } => ({ url, status: 'active', content })
    const file = (resource: { url: string }): { name: string; type: string; url: string; text: string } => ({
      name: 'CodeSystem.json',
      type: 'CodeSystem',
      url: resource.url,
      text: JSON.stringify({ resourceType: 'CodeSystem', ...resource }),
    })
    const files = [file(cs('http://b.example', 'fragment')), file(cs('http://c.example', 'not-present'))]
    const packaged = packageLayer({
      name: 'a.package',
      version: '1.0.0',

      dependencies: new Map(),
      definitions: files,
    })
    const context = createContext({ storage, ...release, definitions: [packaged, ...definitions] })
    const open = await startServer({ storage, context, auth: 'off' })
    const store = (id: string, members: object): Promise<Reply> =>
      askFhir(open, `/CodeSystem/${id}`, { method: 'PUT', body: JSON.stringify({ resourceType: 'CodeSystem', id, ...members }) })
    expect(await listedSystems(open)).toEqual(['http://b.example'])
    await store('a', cs('http://a.example', 'complete'))
    await store('s', { ...cs('http://s.example', 'supplement'), supplements: 'http://a.example' })
    expect(await listedSystems(open)).toEqual(['http://a.example', 'http://b.example'])
    await askFhir(open, '/CodeSystem/a', { method: 'DELETE' })
    expect(await listedSystems(open)).toEqual(['http://b.example'])
    await open.stop()
  })
})

async function listedSystems(server: RunningServer): Promise<unknown[]> {
  const { status, json } = await send(`${server.base}/fhir/R4/metadata?mode=terminology`)
  expect(status).toBe(200)
  return ((at(json, 'codeSystem') as object[] | undefined) ?? []).map((system) => at(system, 'uri'))
}

it.each(['CodeSystem', 'SearchParameter', 'StructureDefinition', 'ValueSet'])(
  'of type %s have in their heads what most parameters find, and nothing else',
  async (type) => {
    const release = r4()
    const { parameters } = release.search
    const ofHeads = headParameters(parameters, type)
    const codes = [...ofHeads.keys()]
    for (const code of ['name', 'status', 'date', 'publisher', 'context-type']) expect(codes).toContain(code)
    for (const code of ['_text', '_content']) expect(codes).not.toContain(code)
    const entriesOf = (resource: JsonObject, code: string): readonly unknown[] =>
      release.indexer(resource).filter(({ param }) => param === code || param.startsWith(`${code}:`))
    const listed = (await Promise.all(release.definitions.map(async (layer) => (await layer.all?.(type)) ?? []))).flat()
    for (const [code, names] of ofHeads)
      for (const { resource } of listed.filter((_, place) => place % 100 === 0))
        expect(entriesOf(headOf(resource, new Set(names)), code), code).toEqual(entriesOf(resource, code))
  },
)

it('have in their heads the members of choices and what belongs to primitives', () => {
  const map = { resourceType: 'ConceptMap', sourceUri: 'http://a.example', _source: {}, sources: 1, _title: {}, title: 'T', group: [] }
  expect(headOf(map, new Set(['ConceptMap', 'source']))).toEqual({ resourceType: 'ConceptMap', sourceUri: 'http://a.example', _source: {} })
  expect([...headParameters(r4().search.parameters, 'ConceptMap').keys()]).toContain('source')
})

it.each([
  ['ConceptMap.group.element.code', ['group']],
  ['(ConceptMap.source as uri) | ConceptMap.target.as(uri)', ['source', 'target']],
  ["ConceptMap.url.where(%resource.status = 'draft')", ['ConceptMap', 'url', 'where', 'resource', 'status', 'draft']],
  ['ConceptMap.where(status.exists()).url', ['ConceptMap', 'where', 'status', 'exists', 'url']],
  ['ConceptMap.name.combine(title)', ['ConceptMap', 'name', 'combine', 'title']],
  ['ConceptMap.group.descendants()', undefined],
  ['ConceptMap.children()', undefined],
])('a parameter of the expression %s leads to the members %j of a head', (expression, names) => {
  const custom = { resourceType: 'SearchParameter', url: 'http://a.example', code: 'own', base: ['ConceptMap'], type: 'string', expression }
  expect(headParameters(searchParameters([custom], r4TypeModel()), 'ConceptMap').get('own')).toEqual(names)
})
