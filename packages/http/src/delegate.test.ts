import { createContext, forRequest, type OperationContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { OperationError, type ErrorCode } from 'fhir-ops/errors'
import type { Operation, OperationRequest } from 'fhir-ops/operation'
import { parametersFromQuery, parametersOf } from 'fhir-ops/internal/parameters'
import { OPERATIONS } from '@fhir-ops/handler'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reached, startOwnServer, type OwnServer } from '../test/own-server.js'
import { json, startScriptedServer, type ScriptedServer } from '../test/scripted-server.js'
import { delegated, httpStorage, type DelegateOptions } from './index.js'

const SYSTEM = 'http://example.org/colours'

function colours(code: string): object[] {
  return [
    { resourceType: 'CodeSystem', id: 'colours', url: SYSTEM, status: 'active', content: 'complete', concept: [{ code, display: code }] },
    { resourceType: 'ValueSet', id: code, url: `http://example.org/${code}`, status: 'active', compose: { include: [{ system: SYSTEM }] } },
  ]
}

const ctx = forRequest(createContext({ storage: memoryStorage(colours('here')), limits: { operationTimeoutMs: 60_000 } }), {})

function get(query: Record<string, string>): OperationRequest {
  return { type: 'ValueSet', method: 'GET', parameters: parametersFromQuery(Object.entries(query)), strict: true }
}

function post(...parameter: readonly object[]): OperationRequest {
  const body = { resourceType: 'Parameters', parameter }
  return { type: 'ValueSet', method: 'POST', parameters: parametersOf(body), body, strict: true }
}

async function expand(request: OperationRequest, options: DelegateOptions): Promise<unknown> {
  const operation = delegated(OPERATIONS, options).find(({ name }) => name === '$expand')
  const answer = await operation?.run(ctx, request)
  return JSON.parse(JSON.stringify(answer?.resource)).expansion.contains[0].code
}

function operationNamed(name: string): Operation {
  const operation = OPERATIONS.find((one) => one.name === name)
  if (operation === undefined) throw new Error(`no ${name}`)
  return operation
}

describe('$expand before a server of ours', () => {
  let server: OwnServer
  beforeAll(async () => {
    server = await startOwnServer()
    const storage = httpStorage(reached(server))
    for (const resource of colours('there')) {
      const { resourceType: type, id } = resource as { resourceType: string; id: string }
      const text = JSON.stringify({ ...resource, resourceType: type, id }).replace(`"id":"${id}"`, `"id":"${id}","meta":{}`)
      await storage.write([{ op: 'put', type, id, text, entries: [] }])
    }
  })
  afterAll(async () => server.stop())

  const cases: readonly (readonly [name: string, request: OperationRequest, remote: readonly string[], code: string])[] = [
    ['what is here is answered here', get({ url: 'http://example.org/here' }), [], 'here'],
    ['what is not here is answered there', get({ url: 'http://example.org/there' }), [], 'there'],
    ['the same by POST', post({ name: 'url', valueUri: 'http://example.org/there' }), [], 'there'],
    [
      'a system that is remote goes there, also inside a value set',
      post({ name: 'valueSet', resource: { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: SYSTEM }] } } }),
      [SYSTEM],
      'there',
    ],
    [
      'one that is not remote stays',
      post({ name: 'valueSet', resource: { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: SYSTEM }] } } }),
      ['http://example.org/other'],
      'here',
    ],
  ]
  it.each(cases)('%s', async (_, request, remote, code) => {
    expect(await expand(request, { ...reached(server), delegate: ['expand'], remote })).toBe(code)
  })

  it('what neither has is not found, in the words of here', async () => {
    await expect(expand(get({ url: 'http://example.org/none' }), { ...reached(server), delegate: ['expand'] })).rejects.toMatchObject({
      code: 'not-found',
      message: expect.stringContaining('http://example.org/none'),
    })
  })
})

describe('an upstream that operations are handed to', () => {
  let server: ScriptedServer
  beforeAll(async () => {
    server = await startScriptedServer()
  })
  beforeEach(() => void (server.requests.length = 0))
  afterAll(async () => server.stop())
  const there = get({ url: 'http://example.org/there', filter: 'a&b' })
  const options = (): DelegateOptions => ({ baseUrl: server.baseUrl, delegate: ['expand'] })

  it('gets the request as it came', async () => {
    server.behave = json({ resourceType: 'ValueSet', expansion: { contains: [{ code: 'x' }] } })
    expect(await expand(there, options())).toBe('x')
    expect(server.requests).toEqual([
      `GET /fhir/ValueSet/$expand?${new URLSearchParams({ url: 'http://example.org/there', filter: 'a&b' })}`,
    ])
  })

  it('is not asked for other operations, nor for faults of the request', async () => {
    const [lookup] = delegated(OPERATIONS, options()).filter(({ name }) => name === '$lookup')
    await expect(lookup?.run(ctx, { ...get({ system: SYSTEM, code: 'none' }), type: 'CodeSystem' })).rejects.toMatchObject({
      code: 'not-found',
    })
    await expect(expand(get({ url: 'http://example.org/here', count: 'x' }), options())).rejects.toMatchObject({ code: 'parameter-value' })
    expect(server.requests).toEqual([])
  })

  it.each([
    ['fails', json({ secret: 'words' }, 500), 'storage-unavailable'],
    ['refuses', json({ secret: 'words' }, 422), 'unprocessable'],
    ['sends a part of the answer', json({ resourceType: 'ValueSet', status: 'active' }, 206), 'storage-unavailable'],
    ['sends an outcome', json({ resourceType: 'OperationOutcome' }), 'storage-unavailable'],
    ['sends no resource', json({ secret: 'words' }), 'storage-unavailable'],
    ['sends a resource of another type', json({ resourceType: 'Patient', name: [{ text: 'secret words' }] }), 'storage-unavailable'],
    [
      'sends a Bundle of what was asked for',
      json({ resourceType: 'Bundle', entry: [{ resource: { resourceType: 'ValueSet' } }] }),
      'storage-unavailable',
    ],
    ['redirects', json({}, 302, { location: '/elsewhere' }), 'storage-unavailable'],
  ])('and that %s fails the call and shows nothing of itself', async (_, behave, code) => {
    server.behave = behave
    const error: unknown = await expand(there, options()).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code })
    expect(`${error}`).not.toContain('words')
  })

  const parameters = (...parameter: readonly unknown[]): object => ({ resourceType: 'Parameters', parameter })
  const answered = async (name: string, resource: object): Promise<unknown> => {
    server.behave = json(resource)
    const handed = delegated(OPERATIONS, { ...options(), delegate: [name.slice(1)], remote: ['http://example.org/there'] })
    return handed
      .find((one) => one.name === name)
      ?.run(ctx, there)
      .catch((error: unknown) => error)
  }
  const yes = { name: 'result', valueBoolean: true }

  it.each<[name: string, what: string, resource: object]>([
    ['$validate-code', 'a result as text', parameters({ name: 'result', valueString: 'true' })],
    ['$validate-code', 'a result that is text', parameters({ name: 'result', valueBoolean: 'true' })],
    ['$validate-code', 'a result without value', parameters({ name: 'result' })],
    ['$validate-code', 'no result', parameters({ name: 'display', valueString: 'secret words' })],
    ['$validate-code', 'two results', parameters(yes, { name: 'result', valueBoolean: false })],
    ['$validate-code', 'a result with two values', parameters({ ...yes, valueString: 'secret words' })],
    ['$validate-code', 'a message that is no text', parameters(yes, { name: 'message', valueBoolean: true })],
    ['$validate-code', 'a parameter without a name', parameters(yes, { valueString: 'secret words' })],
    ['$validate-code', 'a parameter that is no object', parameters(yes, 'secret words')],
    ['$validate-code', 'parameters that are no list', { resourceType: 'Parameters', parameter: yes }],
    ['$validate-code', 'no parameters', { resourceType: 'Parameters' }],
    ['$validate-code', 'parts that are no list', parameters(yes, { name: 'x', part: { name: 'y' } })],
    ['$validate-code', 'a part without a name', parameters(yes, { name: 'x', part: [{ valueString: 'secret words' }] })],
    ['$translate', 'a result that is a number', parameters({ name: 'result', valueBoolean: 1 })],
    ['$translate', 'a match without parts', parameters(yes, { name: 'match', valueString: 'secret words' })],
    ['$translate', 'a concept that is no Coding', parameters(yes, { name: 'match', part: [{ name: 'concept', valueCode: 'a' }] })],
    ['$subsumes', 'an unknown outcome', parameters({ name: 'outcome', valueCode: 'secret words' })],
    ['$subsumes', 'no outcome', parameters()],
    ['$lookup', 'a display that is no text', parameters({ name: 'name', valueString: 'x' }, { name: 'display', valueString: 5 })],
    ['$batch-validate-code', 'a validation without result', parameters({ name: 'validation', resource: parameters() })],
    ['$batch-validate-code', 'a validation of another type', parameters({ name: 'validation', resource: { resourceType: 'Basic' } })],
    ['$expand', 'a ValueSet without expansion', { resourceType: 'ValueSet', status: 'active' }],
    ['$expand', 'an expansion that is a list', { resourceType: 'ValueSet', expansion: [] }],
    ['$expand', 'contained codes that are no list', { resourceType: 'ValueSet', expansion: { contains: { code: 'secret words' } } }],
    ['$expand', 'a code that is a number', { resourceType: 'ValueSet', expansion: { contains: [{ code: 5 }] } }],
    ['$expand', 'a total that is text', { resourceType: 'ValueSet', expansion: { total: 'secret words' } }],
  ])('and that answers %s with %s fails the call', async (name, _, resource) => {
    const error = await answered(name, resource)
    expect(error).toMatchObject({ code: 'storage-unavailable' })
    expect(`${error}`).not.toContain('words')
  })

  it.each<[name: string, resource: object]>([
    ['$validate-code', parameters(yes, { name: 'message', valueString: 'x' }, { name: 'own', part: [{ name: 'y', valueCoding: {} }] })],
    ['$validate-code', parameters({ ...yes, extension: [{ url: 'http://x', valueCode: 'a' }] })],
    ['$translate', parameters({ name: 'result', valueBoolean: false }, { name: 'message', valueString: 'none' })],
    [
      '$translate',
      parameters(yes, {
        name: 'match',
        part: [
          { name: 'equivalence', valueCode: 'wider' },
          { name: 'concept', valueCoding: {} },
        ],
      }),
    ],
    ['$subsumes', parameters({ name: 'outcome', valueCode: 'subsumed-by' })],
    ['$lookup', parameters({ name: 'name', valueString: 'x' }, { name: 'property', part: [{ name: 'code', valueCode: 'a' }] })],
    [
      '$batch-validate-code',
      parameters({ name: 'validation', resource: parameters(yes) }, { name: 'validation', resource: { resourceType: 'OperationOutcome' } }),
    ],
    ['$expand', { resourceType: 'ValueSet', expansion: { total: 0 } }],
    ['$expand', { resourceType: 'ValueSet', expansion: { contains: [{ abstract: true, contains: [{ code: 'a' }] }] } }],
  ])('and that answers %s as R4 defines is passed on', async (name, resource) => {
    expect(await answered(name, resource)).toMatchObject({ resource })
  })

  describe('with the rights of this service', () => {
    const PERIOD = parametersFromQuery([
      ['periodStart', '2026'],
      ['periodEnd', '2026'],
    ])
    const measure = (id: string): OperationRequest => ({ type: 'Measure', id, method: 'GET', parameters: PERIOD, strict: true })
    const evaluated = (caller: Partial<OperationContext>, more: Partial<DelegateOptions> = {}): Promise<unknown> => {
      server.behave = json({ resourceType: 'MeasureReport' })
      const delegate = ['evaluate-measure']
      const [operation] = delegated(OPERATIONS, { ...options(), delegate, ...more }).filter(({ name }) => name === '$evaluate-measure')
      const named = more.remote === undefined ? measure('there') : { ...measure('there'), body: { library: more.remote } }
      return (
        operation?.run({ ...ctx, ...caller }, named).then(
          () => 'answered',
          ({ code }: OperationError) => code,
        ) ?? Promise.reject()
      )
    }
    const without =
      (action: string, type: string, error: ErrorCode): OperationContext['authorize'] =>
      (asked, of, id) => {
        if (asked === action && of === type && (error === 'forbidden' || id !== undefined)) throw new OperationError(error, 'No.')
      }

    it.each<[string, Partial<OperationContext>, string]>([
      ['all', {}, 'answered'],
      ['a part of the resources', { isPartial: true }, 'not-found'],
      ['not all types', { authorize: without('search', 'Patient', 'forbidden') }, 'not-found'],
      ['all but the measure', { authorize: without('read', 'Measure', 'not-found') }, 'not-found'],
    ])('is asked about data only for callers who see all: %s', async (_, caller, expected) => {
      expect(await evaluated(caller)).toBe(expected)
      expect(server.requests.length).toBe(expected === 'answered' ? 1 : 0)
    })

    it('refuses what is remote to others, but decides itself with the token of the caller', async () => {
      expect(await evaluated({ isPartial: true }, { remote: ['http://x'] })).toBe('forbidden')
      expect(await evaluated({ isPartial: true }, { callerToken: () => 'own' })).toBe('answered')
    })
  })

  it('takes operations in a list only', () => {
    for (const given of [undefined, {}, [undefined], ['$expand']])
      expect(() => Reflect.apply(delegated, undefined, [given, { ...options(), delegate: ['expand'] }])).toThrow(
        'delegated: operations must be a list, with an operation (an object with name, run) in each place.',
      )
  })

  it('knows of every operation that can be handed on what it answers', () => {
    const handed = OPERATIONS.filter(({ body }) => body !== 'text')
    expect(handed.filter(({ answers }) => answers === undefined).map(({ name }) => name)).toEqual([])
  })

  it('may answer an operation of the host with any resource', async () => {
    server.behave = json({ resourceType: 'Basic' })
    const own: Operation = { ...operationNamed('$lookup'), name: '$own', run: () => Promise.reject(new OperationError('not-found', 'No.')) }
    const { answers: _any, ...described } = own
    const [operation] = delegated([described], { ...options(), delegate: ['own'] })
    expect(await operation?.run(ctx, there)).toMatchObject({ resource: { resourceType: 'Basic' } })
  })

  it.each([['expnd'], ['validate']])('cannot be handed %s', (name) => {
    expect(() => delegated(OPERATIONS, { ...options(), delegate: [name] })).toThrow(TypeError)
  })
})
