import { createContext } from 'fhir-ops/context'
import { botResponse, createBots, execute, type ExecuteInput, type HostBot } from 'fhir-ops/execute'
import { parseHl7 } from 'fhir-ops/hl7v2'
import { memoryStorage } from 'fhir-ops/memory'
import { describe, expect, test } from 'vitest'
import { openBotSandbox } from './index.js'
import { botSchemas } from './schemas.js'

const WEIGHT = {
  type: 'object',
  required: ['weightKg'],
  properties: {
    weightKg: { type: 'number', exclusiveMinimum: 0 },
    at: { type: 'string', format: 'date-time' },
    unit: { enum: ['kg', 'lb'] },
    code: { type: 'string', pattern: '^[A-Z]{2,5}$' },
    tags: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
}

function hostBot(bot: Partial<HostBot>, input: unknown, others: Partial<ExecuteInput> = {}) {
  const bots = createBots({
    schemas: botSchemas(),
    hostBots: [{ id: 'b', run: ({ input: given }) => given, ...bot }],
    exposeBotErrors: true,
  })
  return execute({ ...createContext({ storage: memoryStorage() }), bots }, { bot: { id: 'b' }, input, ...others })
}

describe('the input of a bot of the host', () => {
  test.each<[string, unknown]>([
    ['an object that conforms', { weightKg: 61.5, at: '2026-01-31T10:00:00Z', unit: 'kg', code: 'AB', tags: ['x'] }],
    ['a map without a prototype', Object.assign(Object.create(null), { weightKg: 1 })],
  ])('is taken: %s', async (_, input) => {
    expect((await hostBot({ inputSchema: WEIGHT }, input)).status).toBe(200)
  })

  test.each<[string, unknown, string, string]>([
    ['a missing member', {}, 'input.weightKg', 'is required'],
    ['another type', { weightKg: 'x' }, 'input.weightKg', 'must be number'],
    ['a limit', { weightKg: 0 }, 'input.weightKg', 'must be > 0'],
    ['an unknown member', { weightKg: 1, height: 2 }, 'input.height', 'is not allowed'],
    ['an item', { weightKg: 1, tags: ['a', 2] }, 'input.tags[1]', 'must be string'],
    ['a format', { weightKg: 1, at: 'soon' }, 'input.at', 'must match format "date-time"'],
    ['a pattern', { weightKg: 1, code: 'abc' }, 'input.code', 'must match pattern'],
    ['a value that is not listed', { weightKg: 1, unit: 'st' }, 'input.unit', 'must be one of kg, lb'],
    ['a text', 'hello', 'input', 'must be object'],
    ['nothing', undefined, 'input', 'must be object'],
    ['a name with odd characters', { weightKg: 1, 'a/b~c': 2 }, 'input["a/b~c"]', 'is not allowed'],
  ])('is refused with its place: %s', async (_, input, place, text) => {
    const failure = hostBot({ inputSchema: WEIGHT }, input)
    await expect(failure).rejects.toMatchObject({ code: 'body-structure', expression: [place], message: expect.stringContaining(text) })
  })

  test('is the text of an HL7 message', async () => {
    const inputSchema = { type: 'string', pattern: '^MSH' }
    const message = parseHl7('MSH|^~\\&|a|b|c|d|20260101||ADT^A01|1|P|2.5')
    expect((await hostBot({ inputSchema }, message)).status).toBe(200)
    await expect(hostBot({ inputSchema: { ...inputSchema, pattern: '^PID' } }, message)).rejects.toMatchObject({ code: 'body-structure' })
  })

  test('keeps the bot from being run', async () => {
    let runs = 0
    await expect(hostBot({ inputSchema: WEIGHT, run: () => (runs += 1) }, {})).rejects.toThrow('inputSchema')
    expect(runs).toBe(0)
  })
})

describe('what a bot returns', () => {
  const outputSchema = { type: 'object', required: ['bmi'] }

  test.each<[string, unknown, boolean]>([
    ['a value that conforms', { bmi: 22 }, true],
    ['one that does not', { bim: 22 }, false],
    ['nothing', undefined, false],
    ['the body of a response', botResponse({ status: 201, body: { bmi: 22 } }), true],
    ['a body that does not conform', botResponse({ body: {} }), false],
    ['a response that refuses', botResponse({ status: 400, body: 'No weight.' }), true],
  ])('%s', async (_, returned, isTaken) => {
    const answer = hostBot({ outputSchema, run: () => returned }, {})
    if (isTaken) await expect(answer).resolves.toMatchObject({ value: expect.anything() })
    else await expect(answer).rejects.toMatchObject({ code: 'bot-failed', detail: { diagnostics: expect.stringMatching(/^output/) } })
  })
})

describe('a schema that cannot be used', () => {
  test.each<[string, object, string]>([
    ['an unknown keyword', { typ: 'object' }, 'unknown keyword: "typ"'],
    ['an unknown type', { type: 'text' }, 'must be equal to one of the allowed values'],
    ['an unknown format', { type: 'string', format: 'uri' }, 'unknown format "uri"'],
    ['a look-ahead', { type: 'string', pattern: '^(?=a)' }, "The regular expression '^(?=a)' cannot be used"],
    ['a reference to nothing', { $ref: '#/$defs/x' }, "can't resolve reference #/$defs/x"],
    ['a reference to elsewhere', { $ref: 'http://example.org/schema' }, "can't resolve reference"],
  ])('of the host is refused when the bots are made: %s', (_, inputSchema, message) => {
    const hostBots = [{ id: 'b', run: () => 1, inputSchema: { ...inputSchema } }]
    expect(() => createBots({ schemas: botSchemas(), hostBots })).toThrow(TypeError)
    expect(() => createBots({ schemas: botSchemas(), hostBots })).toThrow(message)
  })

  test('needs what checks schemas', () => {
    expect(() => createBots({ hostBots: [{ id: 'b', run: () => 1, inputSchema: {} }] })).toThrow('createBots needs schemas')
  })
})

describe('a stored bot', () => {
  const code = 'export const handler = ({ input }) => ({ twice: input.n * 2 })'

  async function stored(inputSchema: unknown, input: unknown, schemas = botSchemas()) {
    const storage = memoryStorage([{ resourceType: 'Bot', id: 's', code, inputSchema, outputSchema: { required: ['twice'] } }])
    const runtime = openBotSandbox()
    const bots = createBots({ runtime, schemas })
    try {
      return await execute({ ...createContext({ storage }), bots }, { bot: { id: 's' }, input })
    } finally {
      await runtime.close()
    }
  }

  test('declares schemas, too', async () => {
    const schema = { type: 'object', properties: { n: { $ref: '#/$defs/number' } }, $defs: { number: { type: 'integer' } } }
    expect((await stored(schema, { n: 2 })).value).toEqual({ twice: 4 })
    await expect(stored(schema, { n: 'x' })).rejects.toMatchObject({ code: 'body-structure', expression: ['input.n'] })
  })

  const doubling = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`d${n}`, { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }]),
  )

  test.each<[string, unknown, string, string]>([
    ['references that lead back', { properties: { a: { $ref: '#' } } }, 'definition-invalid', 'what is around the reference'],
    ['references that multiply', { $ref: '#/$defs/d0', $defs: { ...doubling, d30: {} } }, 'definition-invalid', '1000 parts'],
    ['a comparison of all items', { type: 'array', uniqueItems: true }, 'definition-invalid', 'uniqueItems'],
    ['a reference to elsewhere', { $ref: 'http://example.org/x' }, 'definition-invalid', 'only to its own parts'],
    ['too long a schema', { $comment: 'x'.repeat(70_000) }, 'definition-invalid', '65536'],
    ['a text', 'object', 'definition-invalid', 'must have a JSON Schema, an object'],
    ['what is not a schema', { type: 'text' }, 'definition-invalid', 'allowed values'],
  ])('may not have %s', async (_, schema, errorCode, message) => {
    const failure: unknown = await stored(schema, { n: 1 }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: errorCode, message: expect.stringContaining(message) })
  })

  test('answers that schemas are not checked where they are not', async () => {
    const storage = memoryStorage([{ resourceType: 'Bot', id: 's', code, inputSchema: {} }])
    const bots = createBots({})
    const call = execute({ ...createContext({ storage }), bots }, { bot: { id: 's' }, input: {} })
    await expect(call).rejects.toMatchObject({ code: 'not-supported' })
  })
})

test('a schema is compiled once, also where each call brings another object', () => {
  const schemas = botSchemas()
  const schema = { type: 'object' }
  expect(schemas.compile({ ...schema }, false)).toBe(schemas.compile({ ...schema }, false))
})

test('a pattern takes linear time, whatever it is', () => {
  const check = botSchemas().compile({ type: 'string', pattern: '^(a+)+$' }, false)
  expect(check(`${'a'.repeat(200_000)}b`)?.text).toContain('must match pattern')
})
