import { describe, expect, it } from 'vitest'
import { call, callByGet, codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import { forRequest } from '../context/index.js'
import { objectAt, objectsAt, type JsonObject } from '../json/index.js'
import { expandOperation } from './operation.js'

const ALL = valueSet('all', { include: [{ system: cs('living') }] })
const ctx = contextOf(LIVING, ALL)
const codesIn = (resource: JsonObject): readonly unknown[] => objectsAt(objectAt(resource, 'expansion'), 'contains').map(({ code }) => code)

/** A value set that imports others. */
const importing = (name: string, ...imports: readonly string[]): JsonObject => valueSet(name, { include: [{ valueSet: imports.map(vs) }] })

describe('inputs', () => {
  it.each([
    ['', 'parameter-required'],
    ['url=', 'parameter-value'],
    [`url=${vs('all')}&url=${vs('all')}`, 'parameter-invalid'],
    [`url=${vs('all')}&count=-1`, 'parameter-value'],
    [`url=${vs('all')}&count=1.5`, 'parameter-value'],
    [`url=${vs('all')}&count=1e3`, 'parameter-value'],
    [`url=${vs('all')}&count=2147483648`, 'parameter-value'],
    [`url=${vs('all')}&offset=x`, 'parameter-value'],
    [`url=${vs('all')}&activeOnly=yes`, 'parameter-value'],
    [`url=${vs('all')}&filter=${'x'.repeat(4097)}`, 'parameter-too-long'],
    [`url=${vs('all')}&displayLanguage=-`, 'parameter-value'],
    [`url=${vs('all')}&date=2020`, 'parameter-unsupported'],
    [`url=${vs('nothing')}`, 'not-found'],
    ['url=constructor', 'not-found'],
  ])('%j is refused with %s', async (query, code) => {
    await expect(callByGet(expandOperation, ctx, query)).rejects.toMatchObject({ code })
  })

  it.each([
    ['count=0', []],
    ['offset=100', []],
    ['offset=100&count=5', []],
    ['count=2', ['animal', 'cat']],
    ['count=2147483647', ['animal', 'cat', 'lion', 'dog', 'duck', 'plant']],
    ['offset=2147483647&count=2147483647', []],
    ['offset=4', ['duck', 'plant']],
  ])('%j gives a page and the total', async (query, codes) => {
    const resource = await callByGet(expandOperation, ctx, `url=${vs('all')}&${query}`)
    expect(codesIn(resource)).toEqual(codes)
    expect(objectAt(resource, 'expansion')).toMatchObject({ total: 6 })
  })

  it('that nobody knows are passed over, and refused by name when strictness is asked for', async () => {
    const query = `url=${vs('all')}&uuid=1`
    expect(codesIn(await callByGet(expandOperation, ctx, query))).toHaveLength(2)
    await expect(callByGet(expandOperation, ctx, query, { strict: true })).rejects.toMatchObject({ code: 'parameter-invalid' })
  })

  it('may hold no resource that has no use', async () => {
    const parameter = [
      { name: 'url', valueUri: vs('all') },
      { name: 'tx-resource', resource: { resourceType: 'Patient' } },
    ]
    await expect(call(expandOperation, ctx, parameter)).rejects.toMatchObject({ code: 'parameter-invalid' })
  })
})

describe('circles', () => {
  it('of imports are refused, naming the value set', async () => {
    const circle = contextOf(LIVING, importing('a', 'b'), importing('b', 'c'), importing('c', 'b'))
    await expect(callByGet(expandOperation, circle, `url=${vs('a')}`)).rejects.toMatchObject({
      code: 'unprocessable',
      message: expect.stringContaining(vs('b')),
      detail: { messageId: 'VALUESET_CIRCULAR_REFERENCE' },
    })
  })

  it('of an import of itself, also by exclude, are refused', async () => {
    const self = contextOf(LIVING, valueSet('self', { include: [{ system: cs('living') }], exclude: [{ valueSet: [vs('self')] }] }))
    await expect(callByGet(expandOperation, self, `url=${vs('self')}`)).rejects.toMatchObject({ code: 'unprocessable' })
  })

  it('of imports back to a value set that came inline are refused as such', async () => {
    const circle = contextOf(LIVING, importing('b', 'a'))
    const inline = { ...importing('a', 'b'), version: '1' }
    await expect(call(expandOperation, circle, [{ name: 'valueSet', resource: inline }])).rejects.toMatchObject({
      detail: { messageId: 'VALUESET_CIRCULAR_REFERENCE' },
    })
    const other = { ...inline, url: vs('other') }
    await expect(call(expandOperation, circle, [{ name: 'valueSet', resource: other }])).rejects.toMatchObject({
      detail: { messageId: 'VS_EXP_IMPORT_UNK' },
    })
  })

  it('in a hierarchy leave each code once', async () => {
    const parent = (code: string): JsonObject => ({ code: 'parent', valueCode: code })
    const round = codeSystem('round', [{ code: 'a', property: [parent('b')] }, { code: 'b', property: [parent('a')] }, { code: 'a' }])
    const resource = await callByGet(
      expandOperation,
      contextOf(round, valueSet('round', { include: [{ system: cs('round') }] })),
      `url=${vs('round')}&excludeNested=true`,
    )
    expect(codesIn(resource)).toEqual(['a', 'b'])
  })
})

describe('a hierarchy that is too deep to be nested', () => {
  const concepts = Array.from({ length: 5_000 }, (_, i) => ({ code: `c${i}`, property: [{ code: 'parent', valueCode: `c${i - 1}` }] }))
  const deep = contextOf(codeSystem('deep', concepts), valueSet('deep', { include: [{ system: cs('deep') }] }))

  it('is refused with the advice to take it flat', async () => {
    await expect(callByGet(expandOperation, deep, `url=${vs('deep')}`)).rejects.toMatchObject({
      code: 'too-costly',
      message: expect.stringContaining('excludeNested'),
    })
  })

  it('is given flat', async () => {
    expect(codesIn(await callByGet(expandOperation, deep, `url=${vs('deep')}&excludeNested=true`))).toHaveLength(5_000)
  })
})

describe('imports', () => {
  it('of a diamond of 40 levels take 40 steps', async () => {
    const levels = Array.from({ length: 40 }, (_, i) => [
      importing(`${i}a`, `${i + 1}a`, `${i + 1}b`),
      importing(`${i}b`, `${i + 1}a`, `${i + 1}b`),
    ])
    const bottom = ['40a', '40b'].map((name) => valueSet(name, { include: [{ system: cs('living'), concept: [{ code: 'cat' }] }] }))
    const diamond = contextOf(LIVING, ...levels.flat(), ...bottom)
    expect(codesIn(await callByGet(expandOperation, diamond, `url=${vs('0a')}`))).toEqual(['cat'])
  })

  it('of one value set by two includes at each of 60 levels take 60 steps', async () => {
    const twice = (i: number): JsonObject =>
      valueSet(`t${i}`, { include: [{ valueSet: [vs(`t${i + 1}`)] }, { valueSet: [vs(`t${i + 1}`)] }] })
    const doubling = contextOf(
      LIVING,
      ...Array.from({ length: 60 }, (_, i) => twice(i)),
      valueSet('t60', { include: [{ system: cs('living') }] }),
    )
    expect(codesIn(await callByGet(expandOperation, doubling, `url=${vs('t0')}&count=1`))).toEqual(['animal'])
  })

  it('deeper than 100 levels are refused', async () => {
    const chain = Array.from({ length: 120 }, (_, i) => importing(`d${i}`, `d${i + 1}`))
    const deep = contextOf(LIVING, ...chain, valueSet('d120', { include: [{ system: cs('living') }] }))
    await expect(callByGet(expandOperation, deep, `url=${vs('d0')}`)).rejects.toMatchObject({ code: 'too-costly' })
    expect(codesIn(await callByGet(expandOperation, deep, `url=${vs('d50')}&count=1`))).toEqual(['animal'])
  })
})

describe('definitions that cannot be used', () => {
  const refused = async (compose: JsonObject | undefined): Promise<unknown> => {
    const resource = { resourceType: 'ValueSet', url: vs('x'), status: 'active', ...(compose !== undefined && { compose }) }
    return callByGet(expandOperation, contextOf(LIVING, resource), `url=${vs('x')}`).catch((error: unknown) => error)
  }

  it.each([
    ['a missing import', { include: [{ valueSet: [vs('gone')] }] }, 'content-not-found'],
    ['a missing code system', { include: [{ system: cs('gone') }] }, 'content-not-found'],
    ['a missing code system of a list', { include: [{ system: cs('gone'), concept: [{ code: 'x' }] }] }, 'content-not-found'],
    ['a missing version', { include: [{ system: cs('living'), version: '9' }] }, 'content-not-found'],
    ['a missing contained value set', { include: [{ valueSet: ['#gone'] }] }, 'content-not-found'],
    [
      'a filter without value',
      { include: [{ system: cs('living'), filter: [{ property: 'concept', op: 'is-a' }] }] },
      'definition-invalid',
    ],
    [
      'an unknown operator',
      { include: [{ system: cs('living'), filter: [{ property: 'concept', op: 'near', value: 'x' }] }] },
      'not-supported',
    ],
    [
      'a broken pattern',
      { include: [{ system: cs('living'), filter: [{ property: 'code', op: 'regex', value: '(' }] }] },
      'regex-unsupported',
    ],
    ['no definition at all', undefined, 'definition-invalid'],
    ['a list of codes that is null', { include: [{ system: cs('living'), concept: null }] }, 'definition-invalid'],
    ['a listed code that is not a text', { include: [{ system: cs('living'), concept: [{ code: 5 }] }] }, 'definition-invalid'],
    ['a version that is a number', { include: [{ system: cs('living'), version: 1 }] }, 'definition-invalid'],
    ['a system that is a list', { include: [{ system: [cs('living')] }] }, 'definition-invalid'],
    ['an import that is not a list', { include: [{ valueSet: vs('gone') }] }, 'definition-invalid'],
    ['inactive that is text', { inactive: 'false', include: [{ system: cs('living') }] }, 'definition-invalid'],
    ['a filter that is null', { include: [{ system: cs('living'), filter: [null] }] }, 'definition-invalid'],
    ['an exclude that is null', { include: [{ system: cs('living') }], exclude: [null] }, 'definition-invalid'],
  ])('%s is refused', async (_, compose, code) => {
    expect(await refused(compose)).toMatchObject({ code })
  })

  it.each([null, 'text', 7, [null], [{ system: 5 }], [{ concept: 'x', system: cs('living') }]])(
    'an include of the shape %j does no harm',
    async (include) => {
      const found = await refused({ include: include as never })
      expect(found instanceof Error ? (found as { code?: string }).code : objectAt(found as JsonObject, 'expansion')).toBeDefined()
    },
  )

  it('a code system of content not-present has no content', async () => {
    const empty = contextOf(codeSystem('empty', [], { content: 'not-present' }), valueSet('empty', { include: [{ system: cs('empty') }] }))
    await expect(callByGet(expandOperation, empty, `url=${vs('empty')}`)).rejects.toMatchObject({
      code: 'content-not-found',
      message: expect.stringContaining(cs('empty')),
    })
  })
})

describe('large expansions', () => {
  const big = contextOf(
    codeSystem(
      'big',
      Array.from({ length: 3_000 }, (_, i) => ({ code: `c${i}`, display: `Concept ${i}` })),
    ),
    valueSet('big', { include: [{ system: cs('big') }] }),
  )

  it('beyond the limit are refused with the advice to page, and served when a count is given', async () => {
    const limited = forRequest(big, { limits: { maxExpansion: 1_000 } })
    await expect(callByGet(expandOperation, limited, `url=${vs('big')}`)).rejects.toMatchObject({
      code: 'too-costly',
      detail: { diagnostics: expect.stringContaining('count') },
    })
    await expect(callByGet(expandOperation, limited, `url=${vs('big')}&offset=1000`)).rejects.toMatchObject({ code: 'too-costly' })
    expect(codesIn(await callByGet(expandOperation, limited, `url=${vs('big')}&offset=2500`))).toHaveLength(500)
    expect(codesIn(await callByGet(expandOperation, limited, `url=${vs('big')}&count=2000`))).toHaveLength(2_000)
  })

  it('are refused beyond a lower limit of the call, which cannot raise that of the context', async () => {
    const limited = forRequest(big, { limits: { maxExpansion: 1_000 } })
    for (const [ctx, limit] of [
      [big, 2_999],
      [limited, 3_000],
    ] as const)
      await expect(callByGet(expandOperation, ctx, `url=${vs('big')}&limit=${limit}`)).rejects.toMatchObject({ code: 'too-costly' })
    expect(codesIn(await callByGet(expandOperation, big, `url=${vs('big')}&limit=3000`))).toHaveLength(3_000)
  })

  it('beyond the bytes of an answer are refused', async () => {
    const limited = forRequest(big, { limits: { maxAnswerBytes: 10_000 } })
    await expect(callByGet(expandOperation, limited, `url=${vs('big')}&count=2000`)).rejects.toMatchObject({ code: 'too-costly' })
  })
})

describe('a value set of very many parts', () => {
  const concepts = Array.from({ length: 20_000 }, (_, i) => ({ code: `c${i}` }))
  const parts = Array.from({ length: 4_000 }, (_, i) => ({
    system: cs('large'),
    filter: [{ property: 'concept', op: 'is-a', value: `c${i}` }],
  }))
  const many = contextOf(codeSystem('large', concepts), valueSet('many', { include: parts }))

  it('costs as much as its parts, and not as every pair of them', async () => {
    const resource = await callByGet(expandOperation, many, `url=${vs('many')}`)
    expect(codesIn(resource)).toHaveLength(4_000)
  })
})

describe('many large expansions at once', () => {
  it('leave room for other work in between', async () => {
    const concepts = Array.from({ length: 20_000 }, (_, i) => ({ code: `c${i}`, display: `Concept number ${i}` }))
    const large = contextOf(codeSystem('large', concepts), valueSet('large', { include: [{ system: cs('large') }] }))
    let turns = 0
    let running = true
    const others = (async () => {
      while (running) {
        await new Promise((resolve) => setImmediate(resolve))
        turns++
      }
    })()
    const unhurried = forRequest(large, { limits: { operationTimeoutMs: 60_000 } })
    const calls = Array.from({ length: 8 }, () => callByGet(expandOperation, unhurried, `url=${vs('large')}`))
    const answers = await Promise.all(calls)
    running = false
    await others
    expect(answers.map((answer) => codesIn(answer).length)).toEqual(answers.map(() => 20_000))
    expect(turns).toBeGreaterThan(8)
  })
})

describe('names of object members', () => {
  it('are unknown as systems, codes, properties and versions', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const odd = contextOf(LIVING, valueSet('odd', { include: [{ system: cs('living'), concept: [{ code: name }] }] }))
      expect(codesIn(await callByGet(expandOperation, odd, `url=${vs('odd')}&property=${name}&designation=${name}`))).toEqual([])
      const system = contextOf(LIVING, valueSet('odd', { include: [{ system: name }] }))
      await expect(callByGet(expandOperation, system, `url=${vs('odd')}`)).rejects.toMatchObject({ code: 'content-not-found' })
    }
  })
})
