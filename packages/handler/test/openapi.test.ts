import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createContext } from 'fhir-ops/context'
import { createBots } from 'fhir-ops/execute'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'
import { OpenAPIClientAxios, type Document } from 'openapi-client-axios'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HandlerOptions } from '../src/index.js'
import { at, send, startServer, type RunningServer } from './running-server.js'

const MAX_BYTES = 300_000
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const SYSTEM = 'http://a.example/cs'
const STORED = [
  { resourceType: 'CodeSystem', id: 'cs', url: SYSTEM, status: 'active', content: 'complete', concept: [{ code: 'a', display: 'Alpha' }] },
  { resourceType: 'ValueSet', id: 'vs', url: 'http://a.example/vs', status: 'active', compose: { include: [{ system: SYSTEM }] } },
  {
    resourceType: 'OperationDefinition',
    id: 'own',
    url: 'http://hl7.org/fhir/OperationDefinition/ValueSet-expand',
    version: '9.0.0',
    name: 'Secret',
    status: 'active',
    kind: 'operation',
    code: 'expand',
    parameter: [{ name: 'secret', use: 'in', min: 0, max: '1', type: 'string' }],
  },
]

const running: RunningServer[] = []
async function started(options: Partial<HandlerOptions> = {}): Promise<RunningServer> {
  const release = r4()
  const storage = memoryStorage(STORED, { indexer: release.indexer })
  const bots = createBots({ hostBots: [{ id: 'echo', run: () => null }] })
  const server = await startServer({ storage, context: createContext({ storage, ...release }), bots, ...options })
  running.push(server)
  return server
}

const documentOf = async ({ base }: RunningServer): Promise<Document> => JSON.parse((await send(`${base}/openapi.json`)).text) as Document

let server: RunningServer
let document: Document
beforeAll(async () => {
  server = await started()
  document = await documentOf(server)
})
afterAll(() => Promise.all(running.map((one) => one.stop())))

/** Every method of every path. */
const documented = (): readonly (readonly [string, string])[] =>
  Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.filter((method) => at(item, method) !== undefined).map((method) => [method.toUpperCase(), path] as const),
  )

/** Places in a schema that generators of code do not read as they are meant: conditions, `true` or `false`, codes without a type, what stands beside a reference. */
function unreadable(schema: unknown, place: string): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [place]
  const keywords = Object.keys(schema)
  const isUntyped = !keywords.includes('type') && (keywords.includes('enum') || keywords.includes('const'))
  const isExtended = keywords.includes('$ref') && keywords.length > 1
  const conditions = keywords.filter((keyword) => ['not', 'if', 'then', 'oneOf', 'minProperties', '$comment'].includes(keyword))
  const properties = Object.entries(at(schema, 'properties') ?? {})
  const listed = ['allOf', 'anyOf'].flatMap((keyword) => {
    const of = at(schema, keyword)
    return Array.isArray(of) ? of.map((one, index) => [`${keyword}/${index}`, one] as const) : []
  })
  const items = at(schema, 'items')
  return [
    ...(isUntyped || isExtended ? [place] : []),
    ...conditions.map((keyword) => `${place}/${keyword}`),
    ...[...properties, ...listed, ...(items === undefined ? [] : [['items', items] as const])].flatMap(([name, one]) =>
      unreadable(one, `${place}/${name}`),
    ),
  ]
}

/** A path with values of its variables. */
const filled = (path: string): string =>
  path.replace('{type}', 'Observation').replace('{id}', 'x').replace('{version}', '1').replace('{member}', 'Condition')

describe('the OpenAPI document', () => {
  it('is one, by the schema of OpenAPI 3.1, and no more than a client wants to read', async () => {
    const { status, headers, text } = await send(`${server.base}/openapi.json`)
    expect([status, headers['content-type']]).toEqual([200, 'application/json;charset=UTF-8'])
    expect(await new Validator().validate(JSON.parse(text))).toMatchObject({ valid: true })
    expect(text.length).toBeLessThan(MAX_BYTES)
  })

  it('refers to components that there are, and names each route once', () => {
    const text = JSON.stringify(document)
    const names = [...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name = '']) => name.split('/'))
    expect(names.filter((name) => at(document.components, ...name) === undefined)).toEqual([])
    const ids = documented().map(([method, path]) => at(document.paths, path, method.toLowerCase(), 'operationId'))
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('describes types only as generators of code read them: members, lists and codes, no conditions', () => {
    const wrong = Object.entries(document.components?.schemas ?? {}).flatMap(([name, schema]) => unreadable(schema, name))
    expect(wrong).toEqual([])
    expect(at(document.components, 'schemas', 'HumanName', 'properties')).toMatchObject({
      use: { type: 'string', enum: ['usual', 'official', 'temp', 'nickname', 'anonymous', 'old', 'maiden'] },
      family: { type: 'string' },
      given: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      period: { $ref: '#/components/schemas/Period' },
    })
    expect(at(document.components, 'schemas', 'Timing.repeat', 'properties', 'dayOfWeek', 'items')).toEqual({
      anyOf: [{ type: 'string', enum: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] }, { type: 'null' }],
    })
    expect(at(document.components, 'schemas', 'Dosage.doseAndRate', 'properties', 'rateQuantity')).toEqual({
      $ref: '#/components/schemas/SimpleQuantity',
    })
    expect(at(document.components, 'schemas', 'Resource', 'additionalProperties')).toBe(true)
  })

  it('has a schema for each media type, and members of a form wherever a form is sent', () => {
    const contents = documented().flatMap(([method, path]) => {
      const { requestBody, responses = {} } = Object(at(document.paths, path, method.toLowerCase()))
      return [requestBody, ...Object.values(responses)].flatMap((one) =>
        Object.entries(at(one, 'content') ?? {}).map(
          ([mediaType, content]) => [`${method} ${path} ${mediaType}`, at(content, 'schema')] as const,
        ),
      )
    })
    expect(contents.filter(([, schema]) => schema === undefined)).toEqual([])
    expect(contents.filter(([name, schema]) => name.endsWith('form-urlencoded') && at(schema, 'type') !== 'object')).toEqual([])
    expect(contents.flatMap(([name, schema]) => unreadable(schema, name))).toEqual([])
  })

  it('has no schema that nothing refers to', () => {
    const text = JSON.stringify(document)
    const names = Object.keys(document.components?.schemas ?? {})
    expect(names.filter((name) => !text.includes(`"$ref":"#/components/schemas/${name}"`))).toEqual([])
  })

  it('says which parameters an operation takes and gives, with those that are no part of a query', () => {
    const described = (name: string): unknown => at(document.components, 'schemas', name, 'description')
    expect(described('ValueSet-expand-input')).toContain('- `valueSet` (ValueSet): The value set is provided directly')
    expect(described('CodeSystem-lookup-output')).toMatch(/^- `designation`.*\n {2}- `language` \(code\)\n {2}- `use` \(Coding\): /m)
  })

  it('lists every route of the table', () => {
    const expected = server.handler.routes.flatMap(({ method, path, types }) =>
      (types ?? ['{type}']).map((type) => `${method} ${path.replace(':type', type).replaceAll(/:(\w+)/g, '{$1}')}`),
    )
    const listed = new Set(documented().map((one) => one.join(' ')))
    expect(expected.filter((one) => !listed.has(one))).toEqual([])
  })

  it('lists nothing that the handler does not answer', async () => {
    const wrong = await Promise.all(
      documented().map(async ([method, path]) => {
        const { headers } = await send(`${server.base}${filled(path)}`, { method: 'OPTIONS' })
        return headers.allow?.split(', ').includes(method) === true ? [] : [`${method} ${path}`]
      }),
    )
    expect(wrong.flat()).toEqual([])
  })

  it('has the parameters of operations from their definitions, and nothing of what is stored', () => {
    const names = at(document.paths, '/fhir/R4/ValueSet/$expand', 'get', 'parameters')
    expect(names).toContainEqual({ $ref: '#/components/parameters/ValueSet-expand.includeDesignations' })
    const ofBots = ['/fhir/R4/Bot/$execute', '/fhir/R4/Bot/{id}/$execute'].map((path) => at(document.paths, path, 'get', 'parameters'))
    expect(ofBots).toEqual([[{ $ref: '#/components/parameters/identifier' }], undefined])
    expect(at(document.components, 'parameters', 'ValueSet-expand.count')).toMatchObject({ in: 'query', schema: { type: 'integer' } })
    expect(JSON.stringify(document)).not.toMatch(/secret/)
  })

  it('says what operations take that store what they are given', () => {
    const body = at(document.paths, '/fhir/R4/Measure/{id}/$submit-data', 'post', 'requestBody', 'content', 'application/fhir+json')
    expect(body).toEqual({ schema: { $ref: '#/components/schemas/Measure-submit-data-input' } })
  })

  it('demands a token, but for what everybody may ask', () => {
    const open = documented().filter(([method, path]) => at(document.paths, path, method.toLowerCase(), 'security') !== undefined)
    const isPublic = new Set(server.handler.routes.flatMap(({ access, path }) => (access === 'public' ? [path] : [])))
    expect(new Set(open.map(([, path]) => path))).toEqual(isPublic)
    expect(Object.keys(document.components?.securitySchemes ?? {})).toEqual(['bearer'])
  })

  it('names the issuer, and demands no token below FHIR where none is needed', async () => {
    const other = await documentOf(await started({ auth: 'off', dpop: {}, smartConfiguration: { issuer: 'https://issuer.example/' } }))
    expect(Object.keys(other.components?.securitySchemes ?? {})).toEqual(['bearer', 'dpop', 'openIdConnect'])
    expect(at(other.components, 'securitySchemes', 'openIdConnect', 'openIdConnectUrl')).toBe(
      'https://issuer.example/.well-known/openid-configuration',
    )
    expect(at(other.paths, '/fhir/R4/{type}', 'get', 'security')).toEqual([])
    expect(at(other.paths, '/auth/me', 'get', 'security')).toBeUndefined()
  })

  it('is made again when it could not be made', async () => {
    const state = { isDown: true }
    const smartConfiguration = async (): Promise<{ issuer: string }> => {
      if (state.isDown) throw new Error('down')
      return { issuer: 'https://issuer.example' }
    }
    const { base } = await started({ smartConfiguration })
    expect((await send(`${base}/openapi.json`)).status).toBe(503)
    state.isDown = false
    expect((await send(`${base}/openapi.json`)).status).toBe(200)
  })

  it('is valid where there are no types, searches and bots', async () => {
    const plain = await startServer()
    running.push(plain)
    const other = await documentOf(plain)
    expect(await new Validator().validate({ ...other })).toMatchObject({ valid: true })
    expect(at(other.components, 'schemas', 'Bundle', 'properties')).toEqual({ resourceType: { type: 'string', const: 'Bundle' } })
  })
})

describe('a client that is made from the document', () => {
  const problems = (path: string, method: string, answer: unknown): unknown => {
    const content = at(document.paths, path, method, 'responses', '200', 'content')
    const schema = at(content, 'application/fhir+json', 'schema') ?? at(content, 'application/json', 'schema')
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const validate = ajv.compile({ ...(schema as object), components: document.components })
    return validate(answer) ? [] : validate.errors
  }

  it('stores, reads, finds, expands and looks at sessions, and the answers have the documented form', async () => {
    const headers = { authorization: `Bearer ${server.token}` }
    const api = new OpenAPIClientAxios({ definition: document, axiosConfigDefaults: { headers } })
    const client = await api.init()
    const call = async (name: string, ...sent: readonly unknown[]): Promise<{ status: number; data: unknown }> => {
      const operation: unknown = Reflect.get(client, name)
      if (typeof operation !== 'function') throw new TypeError(`The client has no ${name}.`)
      return (await Reflect.apply(operation, client, sent)) as { status: number; data: unknown }
    }
    const patient = { resourceType: 'Patient', name: [{ family: 'Lovelace' }] }
    const made = await call('createResource', { type: 'Patient' }, patient, { headers: { 'content-type': 'application/fhir+json' } })
    expect(made.status).toBe(201)
    const id = at(made.data, 'id')
    const read = await call('readResource', { type: 'Patient', id })
    expect(read.data).toMatchObject(patient)
    const found = await call('searchType', { type: 'Patient', _count: 5 })
    expect(at(found.data, 'entry', 0, 'resource', 'id')).toBe(id)
    const expanded = await call('getValueSetIdExpand', { id: 'vs', count: 1 })
    expect(at(expanded.data, 'expansion', 'contains', 0, 'code')).toBe('a')
    const looked = await call('getCodeSystemLookup', { system: SYSTEM, code: 'a' })
    const checked = await call('getValueSetValidateCode', { url: 'http://a.example/vs', system: SYSTEM, code: 'a' })
    const sessions = await call('getAuthMe')
    const claims = await call('getOauth2Userinfo')
    expect([
      problems('/fhir/R4/{type}/{id}', 'get', read.data),
      problems('/fhir/R4/{type}', 'get', found.data),
      problems('/fhir/R4/ValueSet/{id}/$expand', 'get', expanded.data),
      problems('/fhir/R4/CodeSystem/$lookup', 'get', looked.data),
      problems('/fhir/R4/ValueSet/$validate-code', 'get', checked.data),
      problems('/auth/me', 'get', sessions.data),
      problems('/oauth2/userinfo', 'get', claims.data),
    ]).toEqual([[], [], [], [], [], [], []])
    expect(problems('/fhir/R4/{type}', 'get', { resourceType: 'Bundle', type: 'none' })).not.toEqual([])
  })

  it.each(['full', 'normative', 'terminology'])('metadata in mode %s has the documented form', async (mode) => {
    const { text } = await send(`${server.base}/fhir/R4/metadata?mode=${mode}`)
    expect(problems('/fhir/R4/metadata', 'get', JSON.parse(text))).toEqual([])
  })
})
