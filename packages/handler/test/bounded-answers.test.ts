import fc from 'fast-check'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { createIndexer, searchParameters } from 'fhir-ops/search'
import type { ReadResult, StoredResource } from 'fhir-ops/storage'
import { finished } from 'fhir-ops/internal/work'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterEach, describe, expect, it } from 'vitest'
import { ANY_CHARACTER } from '../../../test/effort.js'
import { piecesLength, SLICE, type Answer, createAnswerSize, prettyJson } from '../src/http/answer.js'
import { createBundleWriter } from '../src/content/bundle-text.js'
import type { HandlerLimits } from '../src/index.js'
import { askFhir, at, startServer, type Reply, type RunningServer } from './running-server.js'

const running: RunningServer[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

const MIB = 1024 * 1024
const MAX = 2 * MIB

async function start(limits: Partial<HandlerLimits> = {}): Promise<RunningServer> {
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  const context = createContext({ storage: memoryStorage(), search: { parameters }, limits: { maxAnswerBytes: MAX } })
  const server = await startServer({ context, storage: context.storage, limits })
  running.push(server)
  return server
}

async function put(server: RunningServer, id: string, text: string): Promise<void> {
  const reply = await askFhir(server, `/Basic/${id}`, { method: 'PUT', body: `{"resourceType":"Basic","id":"${id}",${text}}` })
  expect(reply.status).toBe(201)
}

const words = (length: number): string => `"language":"${'w'.repeat(length)}"`
const bundle = (type: string, entries: readonly object[]): string => JSON.stringify({ resourceType: 'Bundle', type, entry: entries })
const read = (id: string): object => ({ request: { method: 'GET', url: `Basic/${id}` } })
const write = (id: string, length: number): object => ({
  request: { method: 'PUT', url: `Basic/${id}` },
  resource: { resourceType: 'Basic', id, language: 'w'.repeat(length) },
})
const sent = (server: RunningServer, type: string, entries: readonly object[]): Promise<Reply> =>
  askFhir(server, '', { method: 'POST', body: bundle(type, entries) })
const issueOf = ({ json }: Reply): unknown[] => [at(json, 'issue', 0, 'code'), at(json, 'issue', 0, 'expression')]

describe('an expansion of many codes', () => {
  const CODES = 12_000
  const url = 'http://example.org/many'

  async function startWithCodes(): Promise<RunningServer> {
    const server = await start({ bodyBytes: 4 * MIB })
    const concept = Array.from({ length: CODES }, (_, i) => ({ code: `c${i}`, display: `Ü ${i}` }))
    const stated = { status: 'active', url }
    for (const resource of [
      { resourceType: 'CodeSystem', id: 'many', ...stated, content: 'complete', concept },
      { resourceType: 'ValueSet', id: 'many', ...stated, compose: { include: [{ system: url }] } },
    ]) {
      const { resourceType: type, id } = resource
      expect((await askFhir(server, `/${type}/${id}`, { method: 'PUT', body: JSON.stringify(resource) })).status).toBe(201)
    }
    return server
  }

  it('is sent as it is made, with its length in front, also for HEAD and within a batch', async () => {
    const server = await startWithCodes()
    const whole = await askFhir(server, '/ValueSet/many/$expand')
    expect(at(whole.json, 'expansion', 'contains', CODES - 1)).toEqual({ system: url, code: `c${CODES - 1}`, display: `Ü ${CODES - 1}` })
    const length = String(Buffer.byteLength(whole.text))
    expect(whole.headers['content-length']).toBe(length)
    expect((await askFhir(server, '/ValueSet/many/$expand', { method: 'HEAD' })).headers['content-length']).toBe(length)
    const batch = await sent(server, 'batch', [{ request: { method: 'GET', url: 'ValueSet/many/$expand' } }])
    const contains = at(batch.json, 'entry', 0, 'resource', 'expansion', 'contains')
    expect(contains).toEqual(at(whole.json, 'expansion', 'contains'))
  })
})

describe('a page whose text is longer than is put together', () => {
  const LENGTH = 400_000
  const answered = (texts: readonly string[]): Answer => {
    const writer = createBundleWriter(createContext({ storage: memoryStorage() }), { type: 'searchset' }, '')
    for (const text of texts) writer.add(['{"resource":', text, '}'])
    return writer.answer()
  }

  const languageLengths = ({ json }: Reply): readonly number[] =>
    [0, 1].map((n) => String(at(json, 'entry', n, 'resource', 'language')).length)

  it('is put together while it is sent, in pieces that are short', () => {
    const texts = Array.from({ length: 3 }, (_, n) => `"${'ü😀'[n % 2]}${'x😀'.repeat(n === 1 ? 100 : LENGTH)}"`.toWellFormed())
    const { body, pieces = [] } = answered(texts)
    expect(body).toBeUndefined()
    const list = [...pieces]
    const entries = texts.map((text) => `{"resource":${text}}`).join(',')
    expect(list.join('')).toBe(`{"resourceType":"Bundle","type":"searchset","entry":[${entries}]}`)
    expect(list.every((piece) => piece.isWellFormed())).toBe(true)
    expect(Math.max(...list.map(({ length }) => length))).toBeLessThanOrEqual(SLICE + 1)
    expect(piecesLength(pieces)).toBe(Buffer.byteLength(list.join('')))
  })

  it('has the same content by itself, with its length for HEAD, and within a batch and a transaction', async () => {
    const server = await start()
    await put(server, 'b', words(2 * LENGTH))
    await put(server, 'a', words(LENGTH))
    const whole = await askFhir(server, '/Basic?_total=none')
    expect(languageLengths(whole)).toEqual([LENGTH, 2 * LENGTH])
    const length = String(Buffer.byteLength(whole.text))
    expect(whole.headers['content-length']).toBe(length)
    expect((await askFhir(server, '/Basic?_total=none', { method: 'HEAD' })).headers['content-length']).toBe(length)
    for (const type of ['batch', 'transaction']) {
      const within = await sent(server, type, [{ request: { method: 'GET', url: 'Basic?_total=none' } }])
      expect(at(within.json, 'entry', 0, 'resource', 'entry', 1, 'resource', 'id')).toBe('b')
      expect(within.text).toContain(whole.text.slice(whole.text.indexOf('"entry"')))
    }
    expect(languageLengths(await askFhir(server, '/Basic/_history'))).toEqual([LENGTH, 2 * LENGTH])
  })
})

describe('_pretty', () => {
  const laidOut = (text: string, maxLength = Infinity): string | undefined => finished(prettyJson(text, maxLength))

  it('keeps digits and strings, and empty things on one line', () => {
    expect(laidOut('{"a":[1.50,{}],"b":"x, \\"{:}","c":[]}')).toBe(
      '{\n  "a": [\n    1.50,\n    {}\n  ],\n  "b": "x, \\"{:}",\n  "c": []\n}',
    )
  })

  it('changes no value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const value: unknown = JSON.parse(text)
        expect(JSON.parse(laidOut(JSON.stringify(value)) ?? '')).toEqual(value)
      }),
    )
  })

  it('indents so many levels and no more', () => {
    const text = `${'['.repeat(200)}1,1${']'.repeat(200)}`
    expect(JSON.parse(laidOut(text) ?? '')).toEqual(JSON.parse(text))
    expect(Math.max(...(laidOut(text) ?? '').split('\n').map((line) => line.search(/\S/)))).toBe(24)
  })

  it('is given up where it would be too long, and lets others run meanwhile', () => {
    const text = `[${'1,'.repeat(50_000)}1]`
    expect(laidOut(text, text.length)).toBeUndefined()
    const work = prettyJson(text, Infinity)
    let pieces = 0
    while (work.next().done !== true) pieces++
    expect(pieces).toBeGreaterThan(20)
  })

  it('leaves an answer alone that no person reads, or that would exceed the limit of answers', async () => {
    const server = await start()
    const nested = `"extension":${'[{"url":"u","extension":'.repeat(60)}[${'1,'.repeat(190_000)}1]${'}]'.repeat(60)}`
    await put(server, 'short', '"code":{"text":"x"}')
    await put(
      server,
      'long',
      words(MIB - 10)
        .replace('"language"', '"x":{"data"')
        .replace(/$/, '}'),
    )
    await put(server, 'nested', nested)
    for (const [id, isLaidOut] of [
      ['short', true],
      ['long', false],
      ['nested', false],
    ] as const) {
      const plain = await askFhir(server, `/Basic/${id}`)
      const pretty = await askFhir(server, `/Basic/${id}?_pretty=true`)
      expect([pretty.status, pretty.text !== plain.text, pretty.json]).toEqual([200, isLaidOut, plain.json])
    }
  })
})

describe('the answer to a batch', () => {
  it('of small requests may be as long as other answers, and no longer', async () => {
    const server = await start()
    await put(server, 'b', words(100_000))
    const most = Math.floor(MAX / 100_300)
    const whole = await sent(server, 'batch', Array<object>(most).fill(read('b')))
    expect([whole.status, (at(whole.json, 'entry') as unknown[]).length]).toEqual([200, most])
    expect(whole.text.length).toBeLessThanOrEqual(MAX)
    const longer = await sent(server, 'batch', Array<object>(most + 2).fill(read('b')))
    expect([longer.status, ...issueOf(longer)]).toEqual([422, 'too-costly', [`Bundle.entry[${most}]`]])
  })

  it('does not go on with what could not be answered', async () => {
    const server = await start()
    await put(server, 'b', words(1_000_000))
    const longer = await sent(server, 'batch', [write('first', 10), read('b'), read('b'), read('b'), write('last', 10)])
    expect([longer.status, ...issueOf(longer)]).toEqual([422, 'too-costly', ['Bundle.entry[3]']])
    expect([(await askFhir(server, '/Basic/first')).status, (await askFhir(server, '/Basic/last')).status]).toEqual([200, 404])
  })

  it.each([
    [20, 200],
    [21, 422],
  ])('of %d entries, where 20 are allowed: %d', async (count, status) => {
    const server = await start({ bundleEntries: 20 })
    const reply = await sent(server, 'batch', Array<object>(count).fill(read('none')))
    expect(reply.status).toBe(status)
    if (status === 422) expect(issueOf(reply)).toEqual(['too-costly', ['Bundle.entry']])
  })
})

describe('a transaction whose answer would be too long', () => {
  it('writes nothing', async () => {
    const server = await start()
    const entries = ['a', 'b', 'c'].map((id) => write(id, 800_000))
    const reply = await sent(server, 'transaction', entries)
    expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([422, 'too-costly'])
    expect((await askFhir(server, '/Basic/a')).status).toBe(404)
    const headers = { prefer: 'return=minimal' }
    const minimal = await askFhir(server, '', { method: 'POST', headers, body: bundle('transaction', entries) })
    expect([minimal.status, (await askFhir(server, '/Basic/a')).status]).toEqual([200, 200])
  })

  it('because of its reads, writes nothing and names the one that has no room', async () => {
    const server = await start()
    await put(server, 'r', words(900_000))
    const reply = await sent(server, 'transaction', [read('r'), write('a', 10), read('r'), read('r'), read('a')])
    expect([reply.status, ...issueOf(reply)]).toEqual([422, 'too-costly', ['Bundle.entry[3]']])
    expect((await askFhir(server, '/Basic/a')).status).toBe(404)
  })

  it('because of what its searches find of it, keeps what was written and says so at the read that has no room', async () => {
    const server = await start()
    const search = { request: { method: 'GET', url: 'Basic' } }
    const reply = await sent(server, 'transaction', [write('a', 600_000), search, search, read('a')])
    const statuses = [0, 1, 2, 3].map((index) => at(reply.json, 'entry', index, 'response', 'status'))
    expect([reply.status, statuses]).toEqual([200, ['201', '200', '200', '422']])
    expect(at(reply.json, 'entry', 3, 'response', 'outcome', 'issue', 0, 'code')).toBe('too-costly')
    expect(reply.text.length).toBeLessThanOrEqual(MAX)
  })
})

it('a resource that is read, found or included is sent as its text, which nobody parses', async () => {
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  const basic = { resourceType: 'Basic', id: 'a', subject: { reference: 'Patient/p' } }
  const storage = memoryStorage([basic, { resourceType: 'Patient', id: 'p' }], { indexer: createIndexer(parameters) })
  const unparsed = (stored: StoredResource): StoredResource => {
    const { type, id, versionId, lastUpdated, text } = stored
    return {
      type,
      id,
      versionId,
      lastUpdated,
      text,
      get resource(): never {
        throw new Error('parsed')
      },
    }
  }
  const context = createContext({
    storage: {
      ...storage,
      read: async (type: string, id: string): Promise<ReadResult> => {
        const stored = await storage.read(type, id)
        return stored && unparsed(stored)
      },
      async search(query) {
        const page = await storage.search(query)
        return { ...page, items: page.items.map(unparsed) }
      },
    },
    search: { parameters },
  })
  const server = await startServer({ context, storage: context.storage })
  running.push(server)
  expect((await askFhir(server, '/Basic/a')).json).toMatchObject(basic)
  const found = await askFhir(server, '/Patient?_revinclude=Basic:subject')
  expect([found.status, at(found.json, 'entry', 0, 'resource', 'id'), at(found.json, 'entry', 1, 'resource', 'id')]).toEqual([
    200,
    'p',
    'a',
  ])
})

describe('a page of long resources', () => {
  /** A server that keeps count of what its storage gives. */
  async function counting(): Promise<{ server: RunningServer; given: { characters: number } }> {
    const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
    const storage = memoryStorage()
    const given = { characters: 0 }
    const context = createContext({
      storage: {
        ...storage,
        async search(query) {
          const page = await storage.search(query)
          given.characters += page.items.reduce((sum, { text }) => sum + text.length, 0)
          return page
        },
      },
      search: { parameters },
      limits: { maxAnswerBytes: MAX },
    })
    const server = await startServer({ context, storage: context.storage })
    running.push(server)
    return { server, given }
  }

  const ids = Array.from({ length: 12 }, (_, n) => `b${String(n).padStart(2, '0')}`)

  it.each([
    '/Basic?_count=1000',
    '/Basic?_count=1000&_sort=-_id',
    '?_type=Basic,Patient&_count=1000',
    '?_type=Basic,Patient&_count=1000&_sort=-_id',
    '/Basic/_history?_count=1000',
  ])('is short, and the next ones have the rest: %s', async (path) => {
    const { server, given } = await counting()
    for (const id of ids) await put(server, id, words(300_000))
    const found: unknown[] = []
    for (let next: string | undefined = path; next !== undefined;) {
      given.characters = 0
      const { status, json, text } = await askFhir(server, next)
      expect(status).toBe(200)
      expect(Math.max(text.length, given.characters)).toBeLessThan(MAX)
      const entries = at(json, 'entry') as unknown[]
      expect(entries.length).toBeGreaterThan(0)
      found.push(...entries.map((entry) => at(entry, 'resource', 'id')))
      const links = at(json, 'link') as { relation: string; url: string }[]
      next = links.find(({ relation }) => relation === 'next')?.url.replace(/^.*\/fhir\/R4/, '')
    }
    expect(new Set(found)).toEqual(new Set(ids))
    expect(found).toHaveLength(ids.length)
  })

  it('with includes that do not fit is refused, and what does not fit is not read', async () => {
    const { server, given } = await counting()
    for (const id of ids) await put(server, id, words(300_000))
    const extension = ids.map((id) => ({ reference: `Basic/${id}` }))
    const list = { resourceType: 'List', id: 'l', status: 'current', mode: 'working', entry: extension.map((item) => ({ item })) }
    await askFhir(server, '/List/l', { method: 'PUT', body: JSON.stringify(list) })
    const reply = await askFhir(server, '/List?_include=List:item')
    expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([422, 'too-costly'])
    expect(given.characters).toBeLessThan(2 * MAX)
  })
})

describe('a write that ends after the time limit of its request', () => {
  const LIMIT_MS = 1_000
  /** The request is given up 250 ms after its time limit. */
  const LATE_MS = 110

  /** A server whose storage ends a write just after the time limit, and takes a while for each read. */
  async function slow(): Promise<{ server: RunningServer; started: { at: number } }> {
    const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
    const storage = memoryStorage([{ resourceType: 'Basic', id: 'old', code: { text: 'x' } }])
    const started = { at: 0 }
    const context = createContext({
      storage: {
        ...storage,
        async read<T extends string>(type: T, id: string) {
          await new Promise((resolve) => setTimeout(resolve, 15))
          return storage.read(type, id)
        },
        async write(entries) {
          await new Promise((resolve) => setTimeout(resolve, started.at + LIMIT_MS + LATE_MS - performance.now()))
          return storage.write(entries)
        },
      },
      search: { parameters },
      limits: { operationTimeoutMs: LIMIT_MS },
    })
    const server = await startServer({ context, storage: context.storage })
    running.push(server)
    // The first transaction compiles what it needs, which can take longer than a request may be late.
    await sent(server, 'transaction', [read('old'), write('first', 10)])
    return { server, started }
  }

  /** Asks until the request is answered in the time that is left to it, which a busy machine may take, but not each time. */
  async function inTime(ask: (id: string) => Promise<Reply>): Promise<Reply> {
    for (let attempt = 1; attempt < 20; attempt++) {
      const reply = await ask(`a${attempt}`)
      if (reply.status < 500) return reply
    }
    return ask('a20')
  }

  it('is answered as done in a transaction, whose reads say that there was no time for them', async () => {
    const { server, started } = await slow()
    let written = ''
    const reply = await inTime(async (id) => {
      written = id
      started.at = performance.now()
      return sent(server, 'transaction', [read('old'), write(id, 10), read(id)])
    })
    const statuses = [0, 1, 2].map((index) => at(reply.json, 'entry', index, 'response', 'status'))
    expect([reply.status, statuses], reply.text).toEqual([200, ['503', '201', '503']])
    expect(at(reply.json, 'entry', 2, 'response', 'outcome', 'issue', 0, 'code')).toBe('timeout')
    expect((await askFhir(server, `/Basic/${written}`)).status).toBe(200)
  })

  it('is answered as done, without a layout that there is no time for', async () => {
    const { server, started } = await slow()
    const coding = Array.from({ length: 2_000 }, (_, at) => ({ code: `c${at}` }))
    const reply = await inTime(async (id) => {
      const body = JSON.stringify({ resourceType: 'Basic', id, code: { coding } })
      started.at = performance.now()
      return askFhir(server, `/Basic/${id}?_pretty=true`, { method: 'PUT', body })
    })
    expect([reply.status, at(reply.json, 'code', 'coding', 1_999, 'code')]).toEqual([201, 'c1999'])
  })
})

describe('the size of an answer', () => {
  const bytesOf = (text: string): number => new TextEncoder().encode(text).length

  it('is that of its UTF-8', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: ANY_CHARACTER, maxLength: 20 })), fc.nat(200), (texts, maxBytes) => {
        const size = createAnswerSize({ maxBytes, advice: '' })
        let total = 0
        for (const text of texts.filter((one) => one.isWellFormed())) {
          const isWithin = total + bytesOf(text) <= maxBytes
          expect(size.takes(text)).toBe(isWithin)
          if (isWithin) total += bytesOf(text)
        }
      }),
    )
  })
})

describe('an expansion whose text is longer than is put together', () => {
  const system = 'http://example.org/many'
  const concept = Array.from({ length: 20_000 }, (_, i) => ({ code: `c${i}`, display: `Ünicode ${i} ${'w'.repeat(20)}` }))
  const content = [
    { resourceType: 'CodeSystem', id: 'many', url: system, status: 'active', content: 'complete', concept },
    { resourceType: 'ValueSet', id: 'many', url: 'http://example.org/all', status: 'active', compose: { include: [{ system }] } },
  ]
  const path = '/ValueSet/$expand?url=http://example.org/all'

  async function startWith(maxAnswerBytes: number): Promise<RunningServer> {
    const context = createContext({ storage: memoryStorage(content), limits: { maxAnswerBytes, maxExpansion: 20_000 } })
    const server = await startServer({ context, storage: context.storage })
    running.push(server)
    return server
  }

  const codesIn = (json: unknown): unknown[] => {
    const contains = at(json, 'expansion', 'contains')
    return Array.isArray(contains) ? contains.map((one) => at(one, 'code')) : []
  }
  const all = concept.map(({ code }) => code)

  it('is whole, with its length: to GET, HEAD and _pretty, in a batch, and as a Response', async () => {
    const server = await startWith(4 * MIB)
    const { text, json, headers } = await askFhir(server, path)
    expect(codesIn(json)).toEqual(all)
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
    const head = await askFhir(server, path, { method: 'HEAD' })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', headers['content-length']])
    expect(codesIn((await askFhir(server, `${path}&_pretty=true`)).json)).toEqual(all)
    const batch = await sent(server, 'batch', [{ request: { method: 'GET', url: path.slice(1) } }])
    expect(codesIn(at(batch.json, 'entry', 0, 'resource'))).toEqual(all)
    const authorization = `Bearer ${server.token}`
    const web = await server.handler(new Request(`${server.base}/fhir/R4${path}`, { headers: { authorization } }))
    expect(codesIn(await web.json())).toEqual(all)
  })

  it('is refused where its bytes are more than an answer may have, though its characters are not', async () => {
    const { text } = await askFhir(await startWith(4 * MIB), path)
    const reply = await askFhir(await startWith(text.length + 1_000), path)
    expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([422, 'too-costly'])
  })
})
