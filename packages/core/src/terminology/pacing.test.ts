import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { call, codeSystem, cs, valueSet, vs } from '../../test/terminology-content.js'
import { compare } from '../compare/index.js'
import { createContext, createScheduler, forRequest, type OperationContext } from '../context/index.js'
import { expand } from '../expand/index.js'
import { memoryStorage } from '../memory/index.js'
import { objectsAt, type JsonObject } from '../json/index.js'
import { translate } from '../translate/index.js'
import { validateCode } from '../validate-code/index.js'
import { namedValueSet } from './value-set/find-value-set.js'
import { valueSetBatchValidateCodeOperation } from '../operations/index.js'

const CONCEPTS = 20_000
const LARGE = codeSystem(
  'large',
  Array.from({ length: CONCEPTS }, (_, i) => ({ code: `c${i}`, display: `Concept ${i}`, property: [{ code: 'number', valueInteger: i }] })),
)
const isA = (i: number): JsonObject => ({ system: cs('large'), filter: [{ property: 'concept', op: 'is-a', value: `c${i}` }] })
const branches = (count: number): readonly JsonObject[] => Array.from({ length: count }, (_, i) => isA(i))
const matching = (property: string): JsonObject => ({ system: cs('large'), filter: [{ property, op: 'regex', value: '.*7' }] })

const STORED = [LARGE, valueSet('parts', { include: branches(4_000) }), valueSet('few', { include: branches(50) })]
const contextOver = (resources: readonly JsonObject[]): OperationContext =>
  createContext({ storage: memoryStorage(resources.map((resource, i) => ({ ...resource, id: `r${i}` }))) })
const content = contextOver(STORED)
const listed = (compose: JsonObject) => (ctx: OperationContext) => expand(ctx, { valueSet: valueSet('hostile', compose), count: 1 })

const MAP = {
  resourceType: 'ConceptMap',
  url: 'http://example.org/map',
  status: 'active',
  group: [
    {
      source: cs('large'),
      target: cs('other'),
      element: Array.from({ length: 80_000 }, (_, i) => ({ code: `c${i}`, target: [{ code: `c${i}`, equivalence: 'equal' }] })),
    },
  ],
}

const validated = (ctx: OperationContext, name: string, codes: readonly string[]) => {
  const codings = codes.map((code) => ({ system: cs('large'), code }))
  return validateCode(ctx, { url: vs(name), codeableConcept: { coding: codings } })
}

/** Work that takes hundreds of steps. Of each, the clock ticks once whenever somebody looks at it. */
const COSTLY: readonly (readonly [string, (ctx: OperationContext) => Promise<unknown>])[] = [
  ['very many includes', listed({ include: branches(4_000) })],
  ['very many excludes', listed({ include: [{ system: cs('large') }], exclude: branches(4_000) })],
  ['an import of very many parts', listed({ include: [{ valueSet: [vs('parts')] }] })],
  ['very many unknown code systems', listed({ include: Array.from({ length: 4_000 }, (_, i) => ({ system: cs(`unknown-${i}`) })) })],
  ['patterns over all displays', listed({ include: Array.from({ length: 15 }, () => matching('display')) })],
  ['patterns over all values of a property', listed({ include: Array.from({ length: 15 }, () => matching('number')) })],
  ['inactive codes of imports', listed({ include: [{ valueSet: [vs('parts')] }], inactive: false })],
  [
    'comparison of all codes',
    (ctx) => compare(ctx, { thisValueSet: { url: vs('parts') }, otherValueSet: { valueSet: valueSet('x', { include: branches(3_999) }) } }),
  ],
  ['a code that very many parts are asked about', (ctx) => validated(ctx, 'parts', ['c19999'])],
  [
    'very many codings',
    (ctx) =>
      validated(
        ctx,
        'few',
        Array.from({ length: 700 }, (_, i) => `c${i}`),
      ),
  ],
  ['the index of a map', (ctx) => translate(ctx, { conceptMap: MAP, coding: { system: cs('large'), code: 'c1' } })],
  ['a map backwards', (ctx) => translate(ctx, { conceptMap: MAP, coding: { system: cs('other'), code: 'c1' }, reverse: true })],
]

describe('work that takes long', () => {
  beforeEach(async () => {
    // What is looked up once does not count.
    await expand(content, { url: vs('parts'), count: 1 })
    let now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1))
  })
  afterEach(() => void vi.restoreAllMocks())

  it.each(COSTLY)('ends at its time limit: %s', async (_, work) => {
    const hurried = forRequest(content, { limits: { operationTimeoutMs: 200 } })
    await expect(work(hurried)).rejects.toMatchObject({ code: 'computation-timeout' })
  })

  it.each(COSTLY)('lets other work run in between: %s', async (_, work) => {
    let pauses = 0
    const scheduler = { ...createScheduler(), turn: async () => void pauses++ }
    await work(forRequest({ ...content, scheduler }, { limits: { operationTimeoutMs: 1e9 } })).catch(() => undefined)
    expect(pauses).toBeGreaterThan(20)
  })

  it('lets other work run while a property is looked for that is not declared', async () => {
    const ctx = contextOver([LARGE])
    await listed({ include: branches(1) })(ctx)
    let pauses = 0
    const scheduler = { ...createScheduler(), turn: async () => void pauses++ }
    await expect(listed({ include: [matching('absent')] })({ ...ctx, scheduler })).rejects.toMatchObject({ code: 'not-supported' })
    expect(pauses).toBeGreaterThan(5)
  })

  it('lets other work run while the version is prepared that a code states, also with a supplement', async () => {
    const supplement = { ...codeSystem('more', [{ code: 'c1' }]), content: 'supplement', supplements: cs('large') }
    const ctx = contextOver([{ ...LARGE, version: '1' }, codeSystem('large', [{ code: 'c1' }], { version: '2' }), supplement])
    const given = { valueSet: valueSet('all', { include: [{ system: cs('large') }] }), useSupplement: [cs('more')] }
    let pauses = 0
    const scheduler = { mayGoOn: () => false, turn: async () => void pauses++ }
    const coding = { system: cs('large'), version: '1', code: 'c2' }
    expect((await validateCode({ ...ctx, scheduler }, { ...given, coding })).result).toBe(true)
    expect(pauses).toBeGreaterThan(100)
  })

  it('lets other work run while a value set of very many parts is read', async () => {
    const exclude = Array.from({ length: 40_000 }, (_, i) => ({ system: cs('large'), concept: [{ code: `c${i}` }] }))
    let pauses = 0
    const scheduler = { mayGoOn: () => false, turn: async () => void pauses++ }
    const given = valueSet('many', { include: [{ system: cs('large') }], exclude })
    expect((await namedValueSet({ ...contextOver([]), scheduler }, { valueSet: given })).excludes).toHaveLength(40_000)
    expect(pauses).toBeGreaterThan(9)
  })

  it('lets other work run while the codes of very many excludes are taken away', async () => {
    const exclude = Array.from({ length: 4_000 }, (_, i) => ({ system: cs('large'), concept: [{ code: `c${i}` }] }))
    const ctx = contextOver([LARGE, valueSet('rest', { include: [{ system: cs('large') }], exclude })])
    // Plans the value set, and finds the codes of none of its parts.
    await validated(ctx, 'rest', ['c19999'])
    let pauses = 0
    const scheduler = { ...createScheduler(), turn: async () => void pauses++ }
    expect(await expand({ ...ctx, scheduler }, { url: vs('rest'), count: 1 })).toMatchObject({ total: 16_000 })
    expect(pauses).toBeGreaterThan(100)
  })

  it('keeps nothing of a stored value set that was given up half done', async () => {
    const asked = async (ctx: OperationContext): Promise<number> => {
      const before = performance.now()
      await expand(ctx, { url: vs('parts'), count: 1 })
      return performance.now() - before
    }
    // Thousands of real turns, by this clock, would take ten seconds.
    const scheduler = { ...createScheduler(), turn: async () => {} }
    const [whole, given] = [
      { ...contextOver(STORED), scheduler },
      { ...contextOver(STORED), scheduler },
    ]
    for (const ctx of [whole, given]) await expand(ctx, { url: vs('few'), count: 1 })
    const operationTimeoutMs = 0.5 * (await asked(forRequest(whole, { limits: { operationTimeoutMs: 1e9 } })))
    for (let i = 0; i < 4; i++) {
      await expect(asked(forRequest(given, { limits: { operationTimeoutMs } }))).rejects.toMatchObject({ code: 'computation-timeout' })
    }
  })

  it('ends at its time limit: many validations in one request, each in its place', async () => {
    const resource = {
      resourceType: 'Parameters',
      parameter: [
        { name: 'url', valueUri: vs('few') },
        { name: 'system', valueUri: cs('large') },
      ],
    }
    const one = (code: string) => ({
      name: 'validation',
      resource: { ...resource, parameter: [...resource.parameter, { name: 'code', valueCode: code }] },
    })
    const idsMade: number[] = []
    const newId = (): string => `at-${idsMade.push(performance.now())}`
    const hurried = forRequest({ ...content, newId }, { limits: { operationTimeoutMs: 500 } })
    const { parameter } = await call(
      valueSetBatchValidateCodeOperation,
      hurried,
      Array.from({ length: 400 }, (_, i) => one(`c${i}`)),
    )
    const answers = objectsAt({ parameter }, 'parameter').map((answer) => JSON.stringify(answer))
    const late = answers.map((answer) => answer.includes('time limit'))
    expect(answers).toHaveLength(400)
    expect(late[0]).toBe(false)
    expect(late.slice(late.indexOf(true))).toEqual(late.slice(late.indexOf(true)).map(() => true))
    expect(late.at(-1)).toBe(true)
    expect(idsMade[0], 'some time is left for writing the answer').toBeLessThan(Number(hurried.deadline))
  })
})
