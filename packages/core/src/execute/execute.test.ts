import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createContext, createScheduler, type OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { parseHl7 } from '../hl7v2/index.js'
import { memoryStorage } from '../memory/index.js'
import {
  type ExecuteResult,
  type BotContext,
  type BotEvent,
  type BotFunction,
  type BotLogEntry,
  type BotOptions,
  type BotRuntime,
  type ExecuteInput,
  botEntries,
  botResponse,
  createBots,
  execute,
  readBot,
  readBotInput,
  writeBotOutput,
} from './index.js'

const bot = (id: string, more: object = {}) => ({ resourceType: 'Bot', id, code: `code of ${id}`, ...more })
const identified = (value: string, system = 'urn:s') => ({ identifier: [{ system, value }] })

const STORED = [
  bot('alone', identified('alone')),
  bot('twin-b', { ...identified('twin'), project: 'p2' }),
  bot('twin-a', { ...identified('twin'), project: 'p1' }),
  bot('other-system', identified('alone', 'urn:t')),
  bot('weighed', { inputSchema: { type: 'object' } }),
  { resourceType: 'Bot', id: 'damaged', code: 1 },
]

/** Gives back the code and the event it was called with, as data. */
const echo: BotRuntime = { concurrency: 2, run: async ({ code, event }) => ({ code, event }), close: async () => {} }

function caller(options: BotOptions = {}, authorize?: (id: string | undefined) => void, more: Partial<OperationContext> = {}) {
  const log: BotLogEntry[] = []
  const bots = createBots({ runtime: echo, onLog: (entry) => log.push(entry), ...options })
  const indexer = (resource: object) => ('code' in resource && resource.code === 1 ? [] : botEntries({ ...resource }))
  const ctx = {
    ...createContext({ storage: memoryStorage(STORED, { indexer }), newId: () => 'new-id' }),
    bots,
    ...(authorize && { authorize: (_: string, __: string, id?: string) => authorize(id) }),
    ...more,
  }
  return {
    log,
    call: (input: Partial<ExecuteInput> & Pick<ExecuteInput, 'bot'>, signal?: AbortSignal) =>
      execute({ ...ctx, signal }, { input: {}, ...input }),
  }
}
const running = (run: BotFunction, options: BotOptions = {}) => {
  const { call, log } = caller({ hostBots: [{ id: 'h', run }], ...options })
  return { log, call: (input: Partial<ExecuteInput> = {}, signal?: AbortSignal) => call({ bot: { id: 'h' }, ...input }, signal) }
}
const failure = (run: Promise<ExecuteResult>) =>
  run.then(
    () => expect.fail('It gave an answer.'),
    (error: OperationError) => error,
  )

test('needs a context with bots', async () => {
  const execution = (bots: object): Promise<unknown> =>
    Reflect.apply(execute, undefined, [
      { ...createContext({ storage: memoryStorage() }), ...bots },
      { bot: { id: 'b' }, input: 1 },
    ])
  await expect(execution({})).rejects.toThrow('The context has no bots.')
  await expect(execution({ bots: undefined })).rejects.toThrow('bots is missing.')
  await expect(execution({ bots: {} })).rejects.toThrow('bots has no host.')
})

describe('which bot', () => {
  test.each([
    [{ id: 'alone' }, 'alone'],
    [{ identifier: 'urn:s|alone' }, 'alone'],
    [{ identifier: { system: 'urn:t', value: 'alone' } }, 'other-system'],
  ])('%j is %s', async (address, id) => {
    expect((await caller().call({ bot: address })).value).toMatchObject({ code: `code of ${id}`, event: { bot: { id } } })
  })

  test.each(['alone', '|alone', 'urn:s|', '|', '', 'urn:s|alone|', 'a|b|c'])('the identifier %j has the wrong form', async (identifier) => {
    expect(await failure(caller().call({ bot: { identifier } }))).toMatchObject({ code: 'parameter-value' })
  })

  test.each([
    { id: 'none' },
    { id: 'constructor' },
    { identifier: 'urn:s|none' },
    { identifier: 'urn:s|ALONE' },
    { identifier: 'urn|alone' },
  ])('%j is not found', async (address) => {
    expect(await failure(caller().call({ bot: address }))).toMatchObject({ code: 'not-found' })
  })

  test('several bots of one identifier are named by id, never the first is taken', async () => {
    const error = await failure(caller().call({ bot: { identifier: 'urn:s|twin' } }))
    expect(error).toMatchObject({ code: 'multiple-matches', message: expect.stringContaining("'twin-a', 'twin-b'") })
  })

  test('the project of the caller narrows, by identifier and by id', async () => {
    const { call } = caller()
    expect((await call({ bot: { identifier: 'urn:s|twin' }, project: 'p2' })).value).toMatchObject({ code: 'code of twin-b' })
    expect(await failure(call({ bot: { identifier: 'urn:s|twin' }, project: 'p3' }))).toMatchObject({ code: 'not-found' })
    expect(await failure(call({ bot: { id: 'twin-a' }, project: 'p2' }))).toMatchObject({ code: 'not-found' })
  })

  test('bots that the caller may not know of do not count and are not named', async () => {
    const { call } = caller({}, (id) => {
      if (id === 'twin-a') throw new OperationError('not-found', 'hidden')
    })
    expect((await call({ bot: { identifier: 'urn:s|twin' } })).value).toMatchObject({ code: 'code of twin-b' })
    expect(await failure(call({ bot: { id: 'twin-a' } }))).toMatchObject({ code: 'not-found', message: "There is no bot 'twin-a'." })
  })

  test('a damaged bot of another project, or one that the caller may not know of, is not reported', async () => {
    expect(await failure(caller().call({ bot: { id: 'damaged' }, project: 'p1' }))).toMatchObject({ code: 'not-found' })
    const { call } = caller({}, () => {
      throw new OperationError('not-found', 'hidden')
    })
    expect(await failure(call({ bot: { id: 'damaged' } }))).toMatchObject({ code: 'not-found' })
  })

  test('a function of the host hides a stored bot of its id, and counts among its identifiers', async () => {
    const { call } = caller({
      hostBots: [
        { id: 'alone', run: () => 'host' },
        { id: 'third', ...identified('twin'), run: () => 1 },
      ],
    })
    expect((await call({ bot: { id: 'alone' } })).value).toBe('host')
    expect(await failure(call({ bot: { identifier: 'urn:s|alone' } }))).toMatchObject({ code: 'not-found' })
    expect(await failure(call({ bot: { identifier: 'urn:s|twin' } }))).toMatchObject({
      message: expect.stringContaining("'third', 'twin-a', 'twin-b'"),
    })
  })

  test('a stored bot that was never checked is 422, without a runtime it is not supported, too long it is too costly', async () => {
    expect(await failure(caller().call({ bot: { id: 'damaged' } }))).toMatchObject({ code: 'definition-invalid' })
    const { runtime: _, ...none } = { runtime: undefined }
    const bots = createBots(none)
    const ctx = { ...createContext({ storage: memoryStorage(STORED.slice(0, 1), { indexer: (resource) => botEntries(resource) }) }), bots }
    expect(await failure(execute(ctx, { bot: { id: 'alone' }, input: 1 }))).toMatchObject({ code: 'not-supported' })
    const length = 'code of alone'.length
    expect((await caller({ limits: { sourceBytes: length } }).call({ bot: { id: 'alone' } })).status).toBe(200)
    expect(await failure(caller({ limits: { sourceBytes: length - 1 } }).call({ bot: { id: 'alone' } }))).toMatchObject({
      code: 'bot-too-costly',
    })
  })

  test('two functions of the host cannot have one id', () => {
    expect(() =>
      createBots({
        hostBots: [
          { id: 'x', run: () => 1 },
          { id: 'x', run: () => 2 },
        ],
      }),
    ).toThrow(TypeError)
  })
})

describe('the event', () => {
  test('holds the input and a safe few of the headers', async () => {
    const headers = { accept: '*/*', 'user-agent': 'x', authorization: 'Bearer secret', cookie: 'secret', 'x-forwarded-for': '10.0.0.1' }
    const { call } = running((event) => event)
    expect((await call({ input: { a: 1 }, headers, query: { q: '1' }, requestId: 'r' })).value).toEqual({
      input: { a: 1 },
      contentType: 'application/json',
      method: 'POST',
      query: { q: '1' },
      headers: { accept: '*/*', 'user-agent': 'x' },
      bot: { id: 'h' },
      requestId: 'r',
    })
  })

  test.each([
    ['text', 'text/plain'],
    [{ resourceType: 'Patient' }, 'application/fhir+json'],
    [{ a: 1 }, 'application/json'],
    [parseHl7('MSH|^~\\&|A'), 'x-application/hl7-v2+er7'],
  ])('the content type of an in-process call follows from its input', async (input, contentType) => {
    expect((await running((event) => event.contentType).call({ input })).value).toBe(contentType)
  })

  test('capabilities are those that the caller grants', async () => {
    const { call } = running((_: BotEvent, context: BotContext) => Object.keys(context).sort())
    const storage = { read: async () => undefined, search: async () => [], write: async () => ({}) }
    expect((await call()).value).toEqual(['log', 'signal'])
    expect((await call({ capabilities: { storage } })).value).toEqual(['log', 'signal', 'storage'])
  })

  test('a long input is parsed while others run, for a function of the host and for a schema', async () => {
    const json = JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`m${n}`, n])))
    const { input } = readBotInput('application/json', json, (text) => JSON.parse(text))
    let haveOthersRun = false
    const seen: unknown[] = []
    const look = (value: unknown): undefined => {
      seen.push([haveOthersRun, JSON.stringify(value) === json])
    }
    const hostBots = [{ id: 'h', run: (event: BotEvent) => look(event.input) }]
    const { call } = caller({ hostBots, schemas: { compile: () => look } })
    let now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1))
    for (const id of ['h', 'weighed']) {
      haveOthersRun = false
      setTimeout(() => (haveOthersRun = true), 0)
      await call({ bot: { id }, input })
    }
    vi.restoreAllMocks()
    expect(seen).toEqual([
      [true, true],
      [true, true],
    ])
  })
})

describe('the answer', () => {
  const message = parseHl7('MSH|^~\\&|A')
  test.each([
    ['a text', '<b>x</b>', 'text/plain', '<b>x</b>'],
    ['an empty text', '', 'text/plain', ''],
    ['a resource', { resourceType: 'Patient' }, 'application/fhir+json', '{"resourceType":"Patient"}'],
    ['an object', { a: [1] }, 'application/json', '{"a":[1]}'],
    ['a list', [{ resourceType: 'Patient' }], 'application/json', '[{"resourceType":"Patient"}]'],
    ['a number', 0, 'application/json', '0'],
    ['a boolean', false, 'application/json', 'false'],
    ['a message', message, 'x-application/hl7-v2+er7', 'MSH|^~\\&|A'],
    ['a date', new Date(0), 'application/json', '"1970-01-01T00:00:00.000Z"'],
    ['a promise', Promise.resolve('x'), 'text/plain', 'x'],
    ['a resourceType that is none', { resourceType: '<x>' }, 'application/json', '{"resourceType":"<x>"}'],
    ['a resourceType that FHIR lacks', { resourceType: 'Nonsense' }, 'application/json', '{"resourceType":"Nonsense"}'],
  ])('of %s has its type', async (_, value, mediaType, body) => {
    const answer = await running(() => value).call()
    expect(answer).toMatchObject({ status: 200, content: { mediaType, text: body } })
    expect(writeBotOutput(answer)).toEqual({ status: 200, headers: { 'Content-Type': `${mediaType}; charset=utf-8` }, body })
  })

  test.each([undefined, null])('of %s is 204 without a body', async (value) => {
    expect(writeBotOutput(await running(() => value).call())).toEqual({ status: 204, headers: {} })
  })

  test.each([
    ['x', 'application/json', 'application/json', '"x"'],
    ['x', 'text/plain;q=0.1, application/json;q=0.9', 'application/json', '"x"'],
    ['x', '*/*', 'text/plain', 'x'],
    ['x', 'application/*', 'application/json', '"x"'],
    ['x', 'application/fhir+json', 'text/plain', 'x'],
    ['x', 'garbage;;q=x,,', 'text/plain', 'x'],
    ['x', '*/*;q=0.5, text/plain;q=0', 'application/json', '"x"'],
    [{ resourceType: 'Patient' }, 'application/json', 'application/json', '{"resourceType":"Patient"}'],
    [{ a: 1 }, 'text/plain', 'application/json', '{"a":1}'],
    [message, 'text/plain', 'text/plain', 'MSH|^~\\&|A'],
  ])('of %j for Accept %s is %s', async (value, accept, mediaType, body) => {
    expect(writeBotOutput(await running(() => value).call(), accept)).toMatchObject({
      headers: { 'Content-Type': `${mediaType}; charset=utf-8` },
      body,
    })
  })

  test('is written once, in the first content type that it has', async () => {
    const toJSON = vi.fn(() => ({ resourceType: 'Basic' }))
    const { content } = await running(() => ({ resourceType: 'Basic', toJSON })).call()
    expect([content?.mediaType, toJSON.mock.calls.length]).toEqual(['application/fhir+json', 1])
  })

  test('is what botResponse says', async () => {
    const response = botResponse({ status: 201, headers: { Location: 'Patient/1' }, body: { a: 1 } })
    expect(writeBotOutput(await running(() => response).call())).toEqual({
      status: 201,
      headers: { Location: 'Patient/1', 'Content-Type': 'application/json; charset=utf-8' },
      body: '{"a":1}',
    })
    expect(await running(() => botResponse({})).call()).toMatchObject({ status: 204, value: undefined })
    expect(writeBotOutput(await running(() => botResponse({ status: 204, body: 'x' })).call())).toEqual({ status: 204, headers: {} })
  })

  test.each([
    ['status 199', { status: 199 }],
    ['status 300', { status: 300 }],
    ['status 302', { status: 302, headers: { Location: 'https://example.org' } }],
    ['status 500', { status: 500 }],
    ['status 200.5', { status: 200.5 }],
    ['status NaN', { status: Number.NaN }],
    ['a header of its own', { headers: { 'Set-Cookie': 'x' } }],
    ['a content type', { headers: { 'Content-Type': 'text/html' } }],
    ['a split header', { headers: { ETag: 'a\r\nX: y' } }],
    ['a header that is not a text', { headers: { ETag: 1 as never } }],
  ])('cannot have %s', async (_, response) => {
    expect(await failure(running(() => botResponse(response)).call())).toMatchObject({ code: 'bot-failed' })
  })

  test('an object that looks like a response is only data', async () => {
    expect(await running(() => ({ status: 500, headers: {}, body: 1 })).call()).toMatchObject({ status: 200 })
  })

  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}"]["${']'.repeat(depth)}`)
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  test.each([
    ['cyclic', () => cyclic],
    ['a BigInt', () => 1n],
    ['a function', () => () => 1],
    ['a symbol', () => Symbol('x')],
    ['nested too deep', () => nested(129)],
    [
      'throwing',
      () => ({
        toJSON() {
          throw new Error('x')
        },
      }),
    ],
  ])('a result that is %s fails', async (_, run) => {
    expect(await failure(running(run).call())).toMatchObject({ code: 'bot-failed' })
  })

  test('the limits of depth and size are exact', async () => {
    expect((await running(() => nested(128)).call()).status).toBe(200)
    const limits = { outputBytes: 10 }
    expect((await running(() => 'é'.repeat(5), { limits }).call()).status).toBe(200)
    expect(await failure(running(() => 'é'.repeat(5) + 'x', { limits }).call())).toMatchObject({ code: 'bot-too-costly' })
  })
})

describe('a failing bot', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
    [
      'throws no error',
      () => {
        throw 'secret'
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    [
      'throws one of our errors',
      () => {
        throw new OperationError('not-found', 'secret')
      },
    ],
  ])('that %s is told in our words, and in its own to the log', async (_, run) => {
    const { call, log } = running(run)
    const error = await failure(call({ requestId: 'r' }))
    expect(error).toMatchObject({ code: 'bot-failed', message: 'The bot failed.' })
    expect(error.detail.diagnostics).toBeUndefined()
    expect(log).toEqual([{ level: 'error', botId: 'h', requestId: 'r', text: expect.stringContaining('secret') }])
  })

  test('shows its own words where exposeBotErrors is set', async () => {
    const error = await failure(
      running(
        () => {
          throw new Error('own\nwords')
        },
        { exposeBotErrors: true },
      ).call(),
    )
    expect(error).toMatchObject({ message: 'The bot failed.', detail: { diagnostics: 'Error: own\\nwords' } })
  })

  test('log lines are cut at 8,192 characters and hold no control characters', async () => {
    const { call, log } = running((_: BotEvent, context: BotContext) =>
      context.log('a\r\n\u001b[31mb\u009b\u2028', { c: 1 }, 'x'.repeat(9_000)),
    )
    await call()
    expect(log[0]!.text).toMatch(/^a\\r\\n\\u001b\[31mb\\u009b\\u2028 \{"c":1\} x+$/)
    expect(log[0]!.text).toHaveLength(8_192)
  })
})

describe('time and turns', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const forever = () => new Promise<never>(() => {})

  test('a function that does not end is left when its time is up, and its signal is aborted', async () => {
    let signal: AbortSignal | undefined
    const { call } = running((_: BotEvent, context: BotContext) => ((signal = context.signal), forever()), { limits: { timeoutMs: 1_000 } })
    const ended = failure(call())
    await vi.advanceTimersByTimeAsync(999)
    expect(signal?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await ended).toMatchObject({ code: 'bot-timeout', message: 'The bot did not end within 1000 ms.' })
    expect(signal?.aborted).toBe(true)
  })

  test('a caller that goes is not kept', async () => {
    const leaving = new AbortController()
    const { call } = running(forever)
    const ended = failure(call({}, leaving.signal))
    await vi.advanceTimersByTimeAsync(1)
    leaving.abort()
    expect(await ended).toMatchObject({ code: 'aborted' })
    expect(await failure(call({}, AbortSignal.abort()))).toMatchObject({ code: 'aborted' })
  })

  test('beyond the bots that run and those that may wait, calls are throttled', async () => {
    const { call } = running(forever, { maxConcurrentBots: 2, maxQueuedBots: 1, limits: { timeoutMs: 1_000 } })
    const calls = Array.from({ length: 4 }, () => failure(call()))
    expect(await calls[3]).toMatchObject({ code: 'throttled', detail: { retryAfterSeconds: 1 } })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await Promise.all(calls.slice(0, 2))).toMatchObject([{ code: 'bot-timeout' }, { code: 'bot-timeout' }])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(['throttled', 'bot-timeout']).toContain((await calls[2]!).code)
    await vi.advanceTimersByTimeAsync(1_000)
    expect((await running(() => 1).call()).value).toBe(1)
  })

  test('turns are given in order, and a caller that goes gives up its place', async () => {
    const order: string[] = []
    const ends: (() => void)[] = []
    const { call } = running((event) => (order.push(event.requestId), new Promise<void>((resolve) => ends.push(resolve))), {
      maxConcurrentBots: 1,
    })
    const leaving = new AbortController()
    const first = call({ requestId: 'first' })
    await vi.advanceTimersByTimeAsync(1)
    const second = failure(call({ requestId: 'second' }, leaving.signal))
    const third = call({ requestId: 'third' })
    await vi.advanceTimersByTimeAsync(1)
    leaving.abort()
    expect(await second).toMatchObject({ code: 'aborted' })
    ends[0]?.()
    await first
    await vi.advanceTimersByTimeAsync(1)
    ends[1]?.()
    await third
    expect(order).toEqual(['first', 'third'])
  })
})

describe('a runtime of stored bots', () => {
  test.each([
    ['members', Object.fromEntries(Array.from({ length: 150_000 }, (_, n) => [`member${n}`, n]))],
    ['items', Array.from({ length: 150_000 }, (_, n) => ({ n }))],
  ])('may answer with a great many %s, which are written while others run', async (_, answer) => {
    let pauses = 0
    const scheduler = { ...createScheduler(), mayGoOn: () => false, turn: async () => void pauses++ }
    const { call } = caller({ runtime: { ...echo, run: async () => answer } }, undefined, { scheduler })
    const { content } = await call({ bot: { id: 'alone' } })
    expect(content).toEqual({ mediaType: 'application/json', text: JSON.stringify(answer) })
    expect(pauses).toBeGreaterThan(20)
  })

  const started = (options: BotOptions, ahead: number) => {
    let runs = 0
    const runtime: BotRuntime = { concurrency: 2, ahead, run: () => (runs++, new Promise(() => {})), close: async () => {} }
    const { call } = caller({ runtime, maxQueuedBots: 4, ...options })
    let refused = 0
    for (let at = 0; at < 10; at++) void call({ bot: { id: 'alone' } }).catch(() => refused++)
    return () => [runs, refused]
  }

  test.each<[string, BotOptions, number, readonly [number, number]]>([
    ['as many as it does, when it takes none ahead', {}, 0, [2, 4]],
    ['those that it takes ahead, too, which are some of those that may wait', {}, 3, [5, 4]],
    ['no more ahead than may wait', {}, 100, [6, 4]],
    ['none ahead where the host lets it do less than it could', { maxConcurrentBots: 1 }, 3, [1, 5]],
  ])('is given %s', async (_, options, ahead, expected) => {
    const counts = started(options, ahead)
    await expect.poll(counts).toEqual(expected)
  })
})

describe('a Bot resource', () => {
  test('is read whole', () => {
    const resource = bot('b', { ...identified('v'), meta: {}, name: 'N', project: 'p', runtime: 'sandbox' })
    expect(readBot(resource)).toEqual({
      id: 'b',
      identifier: [{ system: 'urn:s', value: 'v' }],
      name: 'N',
      project: 'p',
      code: 'code of b',
    })
  })

  test.each([
    [{ runtime: 'host' }, 'Bot.runtime'],
    [{ runtime: 'sandbox2' }, 'Bot.runtime'],
    [{ code: undefined }, 'Bot.code'],
    [{ code: '' }, 'Bot.code'],
    [{ resourceType: 'Patient' }, 'Bot.resourceType'],
    [{ run: 'x' }, 'Bot.run'],
    [{ identifier: {} }, 'Bot.identifier'],
    [{ identifier: ['x'] }, 'Bot.identifier'],
    [{ identifier: [{ value: 'x' }] }, 'Bot.identifier'],
    [{ project: 1 }, 'Bot.project'],
  ])('with %j is refused', (change, expression) => {
    expect(() => readBot({ ...bot('b'), ...change })).toThrow(
      expect.objectContaining({ code: 'resource-invalid', expression: [expression] }),
    )
  })
})

describe('an explanation', () => {
  const texts = ({ explanation }: Pick<ExecuteResult, 'explanation'>) => explanation?.steps.map(({ text }) => text)

  test('says which bot ran and how input and answer were read and written', async () => {
    const { call } = running(() => 'done')
    expect(texts(await call({ input: 'text', explain: true }))).toEqual([
      'The bot h is a function of the host.',
      'The input is text/plain, by its value.',
      'The bot returned a value that is sent as text/plain; the status is 200.',
    ])
    expect((await call({ input: 'text' })).explanation).toBeUndefined()
  })

  test('of a stored bot whose input type the call names, and that returns nothing', async () => {
    const { call } = caller({ runtime: { ...echo, run: async () => undefined } })
    expect(texts(await call({ bot: { identifier: 'urn:s|alone' }, contentType: 'application/fhir+json', explain: true }))).toEqual([
      'The bot alone is stored, and runs in the runtime of this process.',
      'The input is application/fhir+json, as the call says.',
      'The bot returned nothing to send; the status is 204.',
    ])
  })

  test('names the schemas that input and answer conform to, also where one does not', async () => {
    const isText = (value: unknown) => (typeof value === 'string' ? undefined : { place: '', text: 'must be string' })
    const hostBots = [{ id: 'h', run: ({ input }: BotEvent) => (input === 'none' ? 1 : 'ok'), inputSchema: {}, outputSchema: {} }]
    const { call } = caller({ hostBots, schemas: { compile: () => isText } })
    expect(texts(await call({ bot: { id: 'h' }, input: 'some', explain: true }))).toEqual(
      expect.arrayContaining([
        'The input conforms to the inputSchema of the bot.',
        'What the bot returned conforms to the outputSchema of the bot.',
      ]),
    )
    const { code, detail } = await failure(call({ bot: { id: 'h' }, input: 'none', explain: true }))
    expect([code, detail.explanation?.steps.at(-1)]).toEqual([
      'bot-failed',
      {
        kind: 'schema',
        outcome: 'fails',
        path: 'Bot.outputSchema',
        text: 'What the bot returned does not conform to the outputSchema of the bot.',
      },
    ])
  })
})

test('answers and messages of another copy of the package in the process are what they are', async () => {
  vi.resetModules()
  const other = await import('./index.js')
  const { parseHl7: parseByOther } = await import('../hl7v2/index.js')
  expect(other.botResponse).not.toBe(botResponse)
  const returned: readonly unknown[] = [other.botResponse({ status: 201, body: 'made' }), parseByOther('MSH|^~\\&|a')]
  const hostBots = returned.map((value, index) => ({ id: `h${index}`, run: () => value }))
  const ctx = { ...createContext({ storage: memoryStorage() }), bots: createBots({ hostBots }) }
  const written = await Promise.all(hostBots.map(async ({ id }) => writeBotOutput(await execute(ctx, { bot: { id }, input: undefined }))))
  expect(written.map(({ status, headers, body }) => [status, headers['Content-Type'], body])).toEqual([
    [201, 'text/plain; charset=utf-8', 'made'],
    [200, 'x-application/hl7-v2+er7; charset=utf-8', 'MSH|^~\\&|a'],
  ])
})
