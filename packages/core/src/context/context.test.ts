import { describe, expect, test, vi } from 'vitest'
import type { Definition } from '../content/index.js'
import { memoryStorage } from '../memory/index.js'
import { cached, createCache, createContext, createPace, createScheduler, forRequest, type CacheKind } from './index.js'

interface Index {
  readonly of: Definition
}

function kind(made: Definition[]): CacheKind<Index> {
  return {
    name: 'index',
    is: (value): value is Index => 'of' in value,
    bytes: () => 10,
    make: (definition) => {
      made.push(definition)
      return { of: definition }
    },
  }
}

const definition = (key?: string): Definition => ({
  type: 'ValueSet',
  url: 'u',
  status: 'active',
  resource: {},
  ...(key !== undefined && { key }),
})

describe('cached', () => {
  test('makes a thing once for one key', () => {
    const made: Definition[] = []
    const cache = createCache()
    expect(cached(cache, kind(made), definition('k'))).toBe(cached(cache, kind(made), definition('k')))
    expect(made).toHaveLength(1)
  })

  test('never keeps what came with a request', () => {
    const made: Definition[] = []
    const cache = createCache()
    cached(cache, kind(made), definition())
    cached(cache, kind(made), definition())
    expect(made).toHaveLength(2)
  })

  test('keeps the definitions of two storages apart, also where both contexts make the same ids', async () => {
    const cache = createCache()
    const keyOver = async (name: string): Promise<string | undefined> => {
      const storage = memoryStorage([{ resourceType: 'ValueSet', id: 'v', url: 'http://x/v', status: 'active', name }])
      const found = await createContext({ storage, cache, newId: () => 'id-1' }).content.resolve('ValueSet', 'http://x/v')
      return found?.key
    }
    expect(await keyOver('a')).not.toBe(await keyOver('b'))
  })

  test('forgets what was unused for longest when the bytes are used up', () => {
    const made: Definition[] = []
    const cache = createCache({ maxBytes: 20 })
    for (const key of ['a', 'b', 'c', 'a']) cached(cache, kind(made), definition(key))
    expect(made.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'a'])
  })

  test('makes room for a value that has grown', () => {
    const cache = createCache({ maxBytes: 20 })
    const [growing, other] = [{}, {}]
    cache.set('other', other, 10)
    cache.set('growing', growing, 5)
    expect(cache.get('other')).toBe(other)
    cache.set('growing', growing, 15)
    expect([cache.get('growing'), cache.get('other'), cache.revision?.()]).toEqual([growing, undefined, 1])
  })
})

describe('createPace', () => {
  test.each([
    ['a caller who has gone', { signal: AbortSignal.abort() }, 'aborted'],
    ['a limit that has passed', { deadline: performance.now() - 1 }, 'computation-timeout'],
  ])('%s ends the work', (_, options, code) => {
    const pace = createPace({ ...options, scheduler: createScheduler() })
    expect(() => pace.step()).toThrow(expect.objectContaining({ code }))
  })

  test('steps of long work let other work run', async () => {
    const order: string[] = []
    setTimeout(() => order.push('other'), 0)
    const pace = createPace({ scheduler: createScheduler() })
    let turn: Promise<void> | undefined
    while (turn === undefined) turn = pace.step()
    await turn
    order.push('mine')
    expect(order).toEqual(['other', 'mine'])
  })
})

describe('a long definition', () => {
  test('is parsed while other work runs, once for all who ask for it', async () => {
    const concept = Array.from({ length: 40_000 }, (_, i) => ({ code: `c${i}`, display: `Concept ${i}` }))
    const storage = memoryStorage([{ resourceType: 'CodeSystem', id: 'x', url: 'http://example.org/x', status: 'active', concept }])
    const { content } = createContext({ storage })
    let now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1))
    let ranMeanwhile = false
    setTimeout(() => (ranMeanwhile = true), 0)
    const found = await Promise.all([1, 2].map(() => content.find('CodeSystem', 'url', 'http://example.org/x')))
    vi.restoreAllMocks()
    expect(ranMeanwhile).toBe(true)
    expect(found[0]?.[0]?.resource['concept']).toEqual(concept)
    expect(found[1]?.[0]?.resource).toBe(found[0]?.[0]?.resource)
  })
})

describe('the context of a request', () => {
  const ctx = createContext({ storage: memoryStorage() })

  test.each([
    [undefined, 'The input must be an object.'],
    [{ resources: 5 }, 'resources must be a list, with an object in each place.'],
    [{ resources: [5] }, 'resources must be a list, with an object in each place.'],
    [{ limits: { maxExpansion: -1 } }, 'limits must be limits by their names, each a number of 0 or more.'],
    [{ limits: { maxExpansions: 1 } }, 'limits must be limits by their names, each a number of 0 or more.'],
    [{ signal: 5 }, 'signal must be a signal'],
    [{ resource: {} }, 'resource'],
  ])('%j is refused', (options, message) => {
    expect(() => Reflect.apply(forRequest, undefined, [ctx, options])).toThrow(message)
    expect(() => Reflect.apply(forRequest, undefined, [undefined, {}])).toThrow('The context is missing.')
  })

  test('has the limits that it sets, and those of its process', () => {
    expect(forRequest(ctx, { limits: { maxExpansion: 7 } }).limits).toEqual({ ...ctx.limits, maxExpansion: 7 })
  })
})
