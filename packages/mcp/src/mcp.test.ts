import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { EmptyResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { createBots, type BotContext, type BotEvent } from 'fhir-ops/execute'
import { codeSystem, conceptMap, patient, testService, valueSet, type TestService } from '@fhir-ops/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { createMcpHandler, createMcpServer } from './index.js'

const system = codeSystem().url
const measure = {
  resourceType: 'Measure',
  id: 'patients',
  status: 'active',
  group: [
    {
      population: [
        {
          code: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-population', code: 'initial-population' }] },
          criteria: { language: 'application/x-fhir-query', expression: 'Patient' },
        },
      ],
    },
  ],
}

let service: TestService
let client: Client

beforeAll(async () => {
  const hostBots = [
    { id: 'twice', run: ({ input }: BotEvent) => ({ twice: input }) },
    { id: 'text', run: () => 'hello' },
  ]
  const resources = [patient(), patient({ id: 'other' }), patient({ id: 'third' }), codeSystem(), valueSet(), conceptMap(), measure]
  service = await testService({ resources, handler: { bots: createBots({ hostBots }) } })
  client = await connected(service, service.token)
})

async function connected({ handler, baseUrl, context }: TestService, token: string): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  await createMcpServer({ handler, baseUrl, context, authorization: `Bearer ${token}` }).connect(far)
  const made = new Client({ name: 'test', version: '1' })
  await made.connect(near)
  // Listing the tools makes the client check each result by its output schema.
  await made.listTools()
  return made
}

async function call(name: string, input: Record<string, unknown>, by: Client = client): Promise<Record<string, unknown>> {
  const result = await by.callTool({ name, arguments: input })
  const [content] = Array.isArray(result.content) ? result.content : []
  return result.isError === true ? { error: content.text } : { ...(result.structuredContent as object) }
}

test('the server says its name and the version of its package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  expect(client.getServerVersion()).toEqual({ name: 'fhir-ops', version })
})

describe('tools', () => {
  test('are described, with schemas and whether they change something', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'expand',
      'lookup',
      'validate_code',
      'subsumes',
      'translate',
      'validate',
      'read',
      'search',
      'evaluate_measure',
      'execute_bot',
      'json_schema',
    ])
    for (const tool of tools) {
      expect(tool.description?.length, tool.name).toBeGreaterThan(40)
      expect(tool.annotations?.readOnlyHint, tool.name).toBe(tool.name !== 'execute_bot')
    }
  })

  test('expand pages through the codes, and explains', async () => {
    const first = await call('expand', { url: valueSet().url, count: 3 })
    expect(first).toMatchObject({ total: 4, nextOffset: 3, codes: [{ code: 'planned' }, { code: 'unplanned' }, { code: 'urgent' }] })
    expect(first['explanation']).toEqual(expect.arrayContaining([expect.any(String)]))
    const last = await call('expand', { url: valueSet().url, count: 3, offset: 3 })
    expect(last).toMatchObject({ codes: [{ system, code: 'emergency', display: 'Emergency' }] })
    expect(last).not.toHaveProperty('nextOffset')
    expect(await call('expand', { url: valueSet().url, filter: 'urg' })).toMatchObject({ codes: [{ code: 'urgent' }] })
  })

  test.each<[string, Record<string, unknown>, object]>([
    ['lookup', { system, code: 'urgent' }, { display: 'Urgent', definition: 'Today.' }],
    ['validate_code', { system, code: 'urgent', valueSet: valueSet().url }, { valid: true, display: 'Urgent' }],
    ['validate_code', { system, code: 'soon' }, { valid: false, message: expect.stringContaining('soon') }],
    ['subsumes', { system, codeA: 'unplanned', codeB: 'urgent' }, { outcome: 'subsumes' }],
    [
      'translate',
      { system, code: 'urgent', url: conceptMap().url },
      { result: true, matches: [{ equivalence: 'equivalent', code: 'UR' }] },
    ],
    ['translate', { system, code: 'unplanned', url: conceptMap().url }, { result: false, matches: [] }],
    [
      'validate',
      { resource: { resourceType: 'Patient', gender: 'x' } },
      { valid: false, findings: expect.arrayContaining([expect.objectContaining({ severity: 'error', place: 'Patient.gender' })]) },
    ],
    ['validate', { resource: patient() }, { valid: true, findings: [] }],
    ['read', { type: 'Patient', id: 'lovell' }, { resource: { resourceType: 'Patient', birthDate: '1980-12-10' } }],
    [
      'evaluate_measure',
      { id: 'patients', periodStart: '2026-01-01', periodEnd: '2026-12-31' },
      { report: { group: [{ population: [{ count: 3 }] }] } },
    ],
    ['execute_bot', { id: 'twice', input: { a: 1 } }, { output: { twice: { a: 1 } } }],
    ['execute_bot', { id: 'text', input: {} }, { output: 'hello' }],
    ['json_schema', { url: 'HumanName' }, { schema: { $ref: '#/$defs/HumanName' } }],
  ])('%s answers %j', async (name, input, answer) => {
    expect(await call(name, input)).toMatchObject(answer)
  })

  test('search pages, without narratives', async () => {
    const first = await call('search', { type: 'Patient', parameters: 'gender=female&_sort=_id', count: 2 })
    expect(first).toMatchObject({ resources: [{ id: 'lovell' }, { id: 'other' }], next: expect.any(String) })
    expect(JSON.stringify(first)).not.toContain('<div')
    expect(await call('search', { type: 'Patient', next: first['next'] })).toMatchObject({ resources: [{ id: 'third' }] })
  })

  test.each<[string, string, Record<string, unknown>, string]>([
    ['a missing argument', 'expand', {}, 'required property "url"'],
    ['an unknown argument', 'lookup', { system, code: 'x', cod: 'x' }, "There is no argument 'cod' of lookup. Did you mean 'code'?"],
    [
      'an argument of another type',
      'expand',
      { url: 'x', count: 'many' },
      'arguments/count: Instance type "string" is invalid. Expected "integer".',
    ],
    ['a name that every object has', 'lookup', { system, code: 'x', toString: 'x' }, "There is no argument 'toString' of lookup."],
    ['a text that is too short', 'lookup', { system: '', code: 'x' }, 'arguments/system: String is too short (0 < 1).'],
    ['a path as an id', 'read', { type: 'Patient', id: '../Bot/x' }, 'arguments/id: String does not match pattern.'],
    ['no map', 'translate', { system, code: 'x' }, 'required property "source"'],
    ['an id that is not a part of an address', 'read', { type: 'Patient', id: '..' }, 'An id of . or ..'],
    ['what is not there', 'read', { type: 'Patient', id: 'none' }, 'none'],
    ['an unknown value set', 'expand', { url: 'urn:none' }, 'urn:none'],
    ['an unknown search parameter', 'search', { type: 'Patient', parameters: 'colour=red' }, 'colour'],
    ['an unknown type for a schema', 'json_schema', { url: 'Patiant' }, 'Patiant'],
    ['a result that is too long', 'execute_bot', { id: 'twice', input: { a: 'x'.repeat(1024 * 1024) } }, 'longer than 1048576 characters'],
  ])('say in words what is wrong: %s', async (_, name, input, message) => {
    expect((await call(name, input))['error']).toContain(message)
  })

  test('do what the token allows', async () => {
    const { token } = await service.sessions.create({ user: 'guest', scopes: ['system/ValueSet.rs'], ttl: 3600 })
    const guest = await connected(service, token)
    expect(await call('expand', { url: valueSet().url }, guest)).toMatchObject({ total: 4 })
    expect((await call('read', { type: 'Patient', id: 'lovell' }, guest))['error']).toBeDefined()
    expect((await call('json_schema', { url: 'HumanName' }, guest))['error']).toContain('does not allow read on StructureDefinition')
    const writer = await service.sessions.create({ user: 'writer', scopes: ['system/StructureDefinition.r'] })
    expect(await call('json_schema', { url: 'HumanName' }, await connected(service, writer.token))).toHaveProperty('schema')
  })

  test('have the codes of value sets in a schema only for those who may expand them', async () => {
    const profile = {
      resourceType: 'StructureDefinition',
      id: 'married',
      url: 'http://example.org/StructureDefinition/married',
      type: 'Patient',
      kind: 'resource',
      derivation: 'constraint',
      baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
      differential: { element: [{ path: 'Patient.maritalStatus', binding: { strength: 'required', valueSet: valueSet().url } }] },
    }
    const other = await testService({ resources: [codeSystem(), valueSet(), profile] })
    const schemaWith = async (...scopes: readonly string[]): Promise<string> => {
      const { token } = await other.sessions.create({ user: 'writer', scopes: ['system/StructureDefinition.r', ...scopes] })
      const answer = await call('json_schema', { url: profile.url }, await connected(other, token))
      expect(answer).toHaveProperty('schema')
      return JSON.stringify(answer)
    }
    expect(await schemaWith('system/ValueSet.r')).toContain('"unplanned"')
    expect(await schemaWith()).not.toContain('"unplanned"')
  })

  test('that fail for a reason of their own say nothing of it', async () => {
    const { baseUrl, context } = service
    const [near, far] = InMemoryTransport.createLinkedPair()
    const reported = Promise.withResolvers<Error>()
    const server = createMcpServer({
      handler: Object.assign(() => Promise.reject(new Error('/srv/secret.js')), service.handler),
      baseUrl,
      context,
      onError: reported.resolve,
    })
    await server.connect(far)
    const made = new Client({ name: 'test', version: '1' })
    await made.connect(near)
    await expect(made.callTool({ name: 'read', arguments: { type: 'Patient', id: 'x' } })).rejects.toThrow(
      'The request could not be answered.',
    )
    expect(await reported.promise).toEqual(new Error('/srv/secret.js'))
  })

  test('that do not exist are refused', async () => {
    await expect(client.callTool({ name: 'delete_all', arguments: {} })).rejects.toThrow("There is no tool 'delete_all'.")
    await expect(client.callTool({ name: `a\n${'b'.repeat(10_000)}` })).rejects.toThrow(`There is no tool 'a\\n${'b'.repeat(97)}…'.`)
  })
})

describe('resources', () => {
  test('are listed by type, page by page', async () => {
    const uris: string[] = []
    for (let cursor: string | undefined, pages = 0; pages < 200; pages++) {
      const page = await client.listResources(cursor === undefined ? {} : { cursor })
      uris.push(...page.resources.map(({ uri }) => uri))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    expect(uris).toEqual(
      expect.arrayContaining(['fhir:///ValueSet/visit-priority', 'fhir:///ConceptMap/visit-priority', 'fhir:///Measure/patients']),
    )
    await expect(client.listResources({ cursor: 'Patient?' })).rejects.toThrow('not one of this server')
  })

  test('that could not be searched are an error, and those that the caller may not search are left out', async () => {
    const answering = async (status: number): Promise<Client> => {
      const issue = [{ severity: 'error', code: 'timeout', details: { text: 'Took too long.' } }]
      const handler = Object.assign(async () => Response.json({ resourceType: 'OperationOutcome', issue }, { status }), service.handler)
      const [near, far] = InMemoryTransport.createLinkedPair()
      await createMcpServer({ handler, baseUrl: service.baseUrl, context: service.context }).connect(far)
      const made = new Client({ name: 'test', version: '1' })
      await made.connect(near)
      return made
    }
    await expect((await answering(503)).listResources()).rejects.toThrow('Took too long.')
    expect((await (await answering(403)).listResources()).resources).toEqual([])
  })

  test('are read by type and id', async () => {
    const { contents } = await client.readResource({ uri: 'fhir:///ValueSet/visit-priority' })
    expect(contents[0]).toMatchObject({ mimeType: 'application/fhir+json', text: expect.stringContaining('VisitPriorities') })
    await expect(client.readResource({ uri: 'fhir:///Patient/none' })).rejects.toMatchObject({ code: -32_002 })
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow('A resource is fhir:///Type/id.')
    await service.seed({ resourceType: 'Basic', id: 'long', code: { text: 'x'.repeat(1024 * 1024) } })
    await expect(client.readResource({ uri: 'fhir:///Basic/long' })).rejects.toThrow('longer than 1048576 characters')
  })
})

describe('prompts', () => {
  test('name the tools that exist', async () => {
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['code_term', 'map_code', 'fix_resource', 'build_value_set'])
    const { messages } = await client.getPrompt({ name: 'code_term', arguments: { term: 'high blood pressure', valueSet: 'http://v' } })
    expect(messages[0]?.content).toMatchObject({ type: 'text', text: expect.stringContaining('"high blood pressure"') })
    await expect(client.getPrompt({ name: 'code_term', arguments: { term: 'x' } })).rejects.toThrow('valueSet')
    await expect(client.getPrompt({ name: 'other' })).rejects.toThrow("There is no prompt 'other'.")
  })
})

describe('what is asked in another form than that of the protocol', () => {
  test.each<[string, unknown, string]>([
    ['tools/call', {}, 'params.name'],
    ['tools/call', { name: 5 }, 'params.name'],
    ['tools/call', { name: 'lookup', arguments: [] }, 'params.arguments'],
    ['tools/call', undefined, 'params'],
    ['tools/list', { cursor: 5 }, 'params.cursor'],
    ['resources/read', { uri: 5 }, 'params.uri'],
    ['resources/read', {}, 'params.uri'],
    ['resources/list', { cursor: {} }, 'params.cursor'],
    ['prompts/get', { name: 'code_term', arguments: { term: 5 } }, 'params.arguments.term'],
  ])('is refused as such: %s %j', async (method, params, place) => {
    const request = JSON.parse(JSON.stringify({ method, params }))
    await expect(client.request(request, EmptyResultSchema)).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining(`'${place}'`),
    })
  })

  test('is no method where there is none', async () => {
    const request = client.request({ method: 'completion/complete', params: {} }, EmptyResultSchema)
    await expect(request).rejects.toMatchObject({ code: -32_601, message: expect.stringContaining("'completion/complete'") })
  })
})

describe('over HTTP', () => {
  function httpClient(token: string | undefined, headers: Record<string, string> = {}, auth?: 'off'): Promise<Client> {
    const { handler, baseUrl, context } = service
    const mcp = createMcpHandler({ handler, baseUrl, context, ...(auth !== undefined && { auth }) })
    const transport = new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), {
      fetch: (url, init) => mcp(new Request(url, init)),
      requestInit: { headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) } },
    })
    const made = new Client({ name: 'test', version: '1' })
    return made.connect(transport).then(() => made)
  }

  test('the same tools answer, with the token of the service', async () => {
    const made = await httpClient(service.token)
    expect(await call('lookup', { system, code: 'urgent' }, made)).toMatchObject({ display: 'Urgent' })
  })

  test('a token is needed, and ends with its session', async () => {
    await expect(httpClient(undefined)).rejects.toThrow()
    await expect(httpClient('wrong')).rejects.toThrow()
    const issued = await service.sessions.create({ user: 'guest', scopes: ['openid', 'system/CodeSystem.rs'], ttl: 3600 })
    const made = await httpClient(issued.token)
    expect(await call('lookup', { system, code: 'urgent' }, made)).toMatchObject({ display: 'Urgent' })
    await service.sessions.delete(issued.loginId)
    await expect(call('lookup', { system, code: 'urgent' }, made)).rejects.toThrow()
  })

  test('the refusal is 401 with the challenge of the service', async () => {
    const { handler, baseUrl, context } = service
    const mcp = createMcpHandler({ handler, baseUrl, context })
    const answer = await mcp(new Request(`${baseUrl}/mcp`, { method: 'POST', body: '{}' }))
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')])
  })

  const ask = (init: RequestInit): Promise<Response> => {
    const { handler, baseUrl, context } = service
    return createMcpHandler({ handler, baseUrl, context })(new Request(`${baseUrl}/mcp`, { method: 'POST', duplex: 'half', ...init }))
  }

  test('no byte of a body is read before the token is accepted, nor more than 4 MiB', async () => {
    let read = 0
    const endless = (): ReadableStream =>
      new ReadableStream(
        {
          pull(controller) {
            read += 100_000
            controller.enqueue(new Uint8Array(100_000))
          },
        },
        { highWaterMark: 0 },
      )
    expect([(await ask({ body: endless() })).status, read]).toEqual([401, 0])
    const headers = { authorization: `Bearer ${service.token}` }
    expect([(await ask({ body: endless(), headers })).status, read < 5_000_000]).toEqual([413, true])
  })

  const typed = (): Record<string, string> => ({
    authorization: `Bearer ${service.token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  })
  const message = (method: string, params: object = {}): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

  const members = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, 1]))

  test('what arguments are made of may have many members', async () => {
    const body = message('tools/call', { name: 'execute_bot', arguments: { id: 'twice', input: members(101) } })
    expect(await (await ask({ body, headers: typed() })).json()).toMatchObject({
      result: { structuredContent: { output: { twice: { m100: 1 } } } },
    })
  })

  test.each([
    ['nested deeply', '['.repeat(4 * 1024 * 1024 - 1)],
    [
      'with deep arguments',
      message('tools/call', { name: 'execute_bot' }).replace(
        '}}',
        `,"arguments":{"id":"twice","input":${'{"a":'.repeat(200)}1${'}'.repeat(203)}`,
      ),
    ],
    ['of several messages', `[${message('tools/list')},${message('tools/list')}]`],
    ['with a member twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}'],
    ['with an object of many members', message('tools/call', { name: 'lookup', arguments: members(101) })],
    ['with many members beside the arguments', message('tools/call', { name: 'lookup', arguments: {}, _meta: members(101) })],
    ['with a member of the prototype', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"__proto__":{}}}'],
    ['that is not UTF-8', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\u00ff"}', 'latin1')],
    ['that is not JSON', '{'],
    ['that is empty', ''],
  ])('a body %s is refused', async (_, body) => {
    const answer = await ask({ body, headers: typed() })
    const text = await answer.text()
    expect([answer.status, JSON.parse(text)]).toEqual([
      400,
      { jsonrpc: '2.0', error: { code: -32_000, message: expect.any(String) }, id: null },
    ])
    expect(text).not.toMatch(/stack|Unexpected|token/)
  })

  test.each(['required', 'off'] as const)('a token in the URL is refused by the service: auth %s', async (auth) => {
    const { handler, baseUrl, context } = service
    const request = new Request(`${baseUrl}/mcp?access%5Ftoken=x`, { method: 'POST', body: message('tools/list'), headers: typed() })
    const answer = await createMcpHandler({ handler, baseUrl, context, auth })(request)
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([400, expect.stringContaining('invalid_request')])
  })

  test.each(['GET', 'DELETE', 'PUT', 'HEAD'])('%s is 405', async (method) => {
    const answer = await ask({ method, headers: typed() })
    expect([answer.status, answer.headers.get('allow'), answer.headers.get('cache-control')]).toEqual([405, 'POST', 'no-store'])
  })

  test('work ends when its caller has gone', async () => {
    const aborted = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const run = async ({ signal }: BotContext): Promise<void> => {
      signal?.addEventListener('abort', () => aborted.resolve())
      started.resolve()
      await aborted.promise
    }
    const other = await testService({
      handler: { bots: createBots({ hostBots: [{ id: 'slow', run: (_event, context) => run(context) }] }) },
    })
    const { handler, baseUrl, context, token } = other
    const caller = new AbortController()
    const body = message('tools/call', { name: 'execute_bot', arguments: { id: 'slow', input: {} } })
    const headers = { ...typed(), authorization: `Bearer ${token}` }
    const answer = createMcpHandler({ handler, baseUrl, context })(
      new Request(`${baseUrl}/mcp`, { method: 'POST', body, headers, signal: caller.signal }),
    )
    await started.promise
    caller.abort()
    await aborted.promise
    expect((await answer).status).toBe(400)
  })

  test('answers are for no cache and no page', async () => {
    const headers = typed()
    for (const body of ['{"jsonrpc":"2.0","id":1,"method":"tools/list"}', '{']) {
      const answer = await ask({ body, headers })
      expect([answer.headers.get('cache-control'), answer.headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff'])
    }
  })

  test('a page of another origin is refused', async () => {
    await expect(httpClient(service.token, { origin: 'https://evil.example' })).rejects.toThrow()
  })
})

test('the package is loaded where code may not be made from strings', () => {
  const program = "console.log(Object.keys(await import('@fhir-ops/mcp')).length > 1)"
  const flags = ['--disallow-code-generation-from-strings', '--input-type=module', '-e', program]
  expect(execFileSync(process.execPath, flags, { cwd: join(import.meta.dirname, '..'), encoding: 'utf8' })).toBe('true\n')
})
