import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { OperationError } from 'fhir-ops/errors'
import { subsumesOperation, validateOperation, valueSetBatchValidateCodeOperation } from 'fhir-ops/internal/operations'
import type { Operation } from 'fhir-ops/operation'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHandler } from '../src/index.js'
import { askFhir, at, send, startServer, type Reply, type RunningServer, type Sending } from './running-server.js'

/** An operation that shows what the handler hands to operations. */
const mirror: Operation = {
  name: '$mirror',
  types: 'any',
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://example.org/mirror',
  needs: { text: 'r on the type', anyOf: [{ action: 'read' }] },
  header: { name: 'x-mirror', parameters: (value) => [{ name: 'header', value, parts: [], expression: 'header' }] },
  run: async (ctx, { type, id, method, parameters, acceptLanguage, strict }) => {
    const names = parameters.map(({ name, value }) => [name, value])
    return {
      status: 200,
      resource: { resourceType: 'Basic', type, id, method, names, acceptLanguage, strict, maxExpansion: ctx.limits.maxExpansion },
    }
  },
}

const taking: Operation = {
  ...mirror,
  name: '$taking',
  resourceParameter: 'patient',
  run: async (_, { parameters }) => ({
    status: 200,
    resource: { resourceType: 'Basic', given: parameters.map(({ name, resource }) => [name, resource]) },
  }),
}

const picky: Operation = {
  ...mirror,
  name: '$picky',
  run: () => Promise.reject(new OperationError('not-found', 'No such thing.', { expression: ['thing[1].code', 'other'] })),
  stream: () => Promise.reject(new OperationError('parameter-invalid', 'No lines.', { expression: ['thing'] })),
}

let running: RunningServer
beforeAll(async () => {
  running = await startServer({
    operations: [mirror, taking, picky, subsumesOperation, valueSetBatchValidateCodeOperation, validateOperation],
  })
})
afterAll(() => running.stop())

const ask = (path: string, sending?: Sending): Promise<Reply> => askFhir(running, path, sending)

describe('what operations get', () => {
  const mirrored = async (query: string, headers: Record<string, string> = {}): Promise<unknown> =>
    (await ask(`/Patient/p/$mirror${query}`, { headers })).json
  it('type, id, method and parameters, without those of the protocol', async () => {
    expect(await mirrored('?a=1&b=x%20y+z&a=2&_format=json&_pretty=true', { 'accept-language': 'de' })).toMatchObject({
      type: 'Patient',
      id: 'p',
      method: 'GET',
      acceptLanguage: 'de',
      strict: false,
      names: [
        ['a', '1'],
        ['b', 'x y z'],
        ['a', '2'],
      ],
    })
  })

  it('what a header of the operation stands for', async () => {
    expect(await mirrored('?a=1', { 'x-mirror': 'b' })).toMatchObject({
      names: [
        ['a', '1'],
        ['header', 'b'],
      ],
    })
  })

  it('query and body parameters of a POST together', async () => {
    const body = JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: 'b', valueString: '2' }] })
    const reply = await ask('/Patient/$mirror?a=1', { method: 'POST', body })
    expect(reply.json).toMatchObject({
      method: 'POST',
      names: [
        ['a', '1'],
        ['b', '2'],
      ],
    })
  })

  it('a body of the type is the value of the one parameter that is a resource, beside those of the query', async () => {
    const reply = await ask('/Patient/$taking?a=1', { method: 'POST', body: '{"resourceType":"Patient","active":true}' })
    expect(reply.json).toMatchObject({
      given: [
        ['a', null],
        ['patient', { resourceType: 'Patient', active: true }],
      ],
    })
  })

  it.each([
    ['{"resourceType":"Patient"}', 200],
    ['{"resourceType":"Observation"}', 400],
    ['{"resourceType":["Parameters"]}', 400],
    ['{}', 400],
    ['', 400],
  ])('a body %j: %d', async (body, status) => {
    expect((await ask('/Patient/$mirror', { method: 'POST', body })).status).toBe(status)
  })

  it.each([
    ['5', 5],
    ['0', 0],
    ['999999999', 100_000],
    ['-1', 100_000],
    ['1e3', 100_000],
    ['', 100_000],
  ])('X-TOO-COSTLY-THRESHOLD: %j only lowers the limit: %d', async (value, limit) => {
    expect(at(await mirrored('', { 'x-too-costly-threshold': value }), 'maxExpansion')).toBe(limit)
  })

  it.each([
    ['handling=strict', true],
    ['return=minimal, handling=strict', true],
    ['handling=lenient', false],
    ['strict', false],
  ])('Prefer: %s means strict: %s', async (prefer, strict) => {
    expect(at(await mirrored('', { prefer }), 'strict')).toBe(strict)
  })
})

describe('the place of an error', () => {
  const things = ['a', 'b'].map((code) => ({ name: 'thing', valueCoding: { code } }))
  const body = JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: 'x', valueString: 'y' }, ...things] })

  it('is the FHIRPath of the input in the Parameters, if that was sent', async () => {
    const { json } = await ask('/Patient/$picky', { method: 'POST', body })
    expect(at(json, 'issue', 0, 'expression')).toEqual(['Parameters.parameter[2].valueCoding.code', 'other'])
  })

  it('also for an answer in lines', async () => {
    const { json } = await ask('/Patient/$picky', { method: 'POST', body, headers: { accept: 'application/fhir+ndjson' } })
    expect(at(json, 'issue', 0, 'expression')).toEqual(['Parameters.parameter[1]'])
  })

  it('is the name of the input in a query', async () => {
    const { json } = await ask('/CodeSystem/$subsumes?system=http://example.org/none&codeA=a&codeB=b')
    expect(at(json, 'issue', 0, 'expression')).toEqual(['system'])
  })

  it('of one validation of several is within its Parameters', async () => {
    const validation = {
      resourceType: 'Parameters',
      parameter: [
        { name: 'url', valueUri: 'http://example.org' },
        { name: 'code', valueCode: ' ' },
      ],
    }
    const several = { resourceType: 'Parameters', parameter: [{ name: 'validation', resource: validation }] }
    const { json } = await ask('/ValueSet/$batch-validate-code', { method: 'POST', body: JSON.stringify(several) })
    expect(at(json, 'parameter', 0, 'resource', 'issue', 0, 'expression')).toEqual(['Parameters.parameter[0].resource.parameter[1]'])
  })
})

describe('the rights of an operation', () => {
  it('must be stated', () => {
    const { needs: _needs, ...operation } = mirror
    expect(() => startedWith(operation)).toThrow(/^createHandler: operations must be a list, with an operation that states what it needs/)
  })
})

function startedWith(operation: object): unknown {
  const options = {
    context: createContext({ storage: memoryStorage() }),
    sessions: running.sessions,
    baseUrl: running.base,
    defaultPolicy: 'deny',
    operations: [operation],
  }
  return Reflect.apply(createHandler, undefined, [options])
}

describe('a call without a body', () => {
  it('takes what it needs from the path and the query, and no type that would announce a body', async () => {
    await ask('/Patient/kept', { method: 'PUT', body: '{"resourceType":"Patient","id":"kept"}' })
    const post = (path: string): Promise<Reply> =>
      send(`${running.base}/fhir/R4${path}`, { method: 'POST', headers: { authorization: `Bearer ${running.token}` } })
    expect(at((await post('/Patient/kept/$validate?mode=delete')).json, 'issue', 0, 'details', 'text')).toBe('All OK')
    expect((await post('/Patient/gone/$validate?mode=delete')).status).toBe(404)
    expect((await post('/Patient/$validate')).status).toBe(400)
    expect((await post('/Patient/kept/$mirror?a=1')).status).toBe(200)
  })
})
