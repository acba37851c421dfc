import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { codeSystem, contextOf, cs, valueSet, vs } from '../../test/terminology-content.js'
import { compare } from '../compare/index.js'
import { forRequest, type OperationContext } from '../context/index.js'
import { expand } from '../expand/index.js'
import type { JsonObject } from '../json/index.js'

const CONCEPTS = 20_000
const LARGE = codeSystem(
  'large',
  Array.from({ length: CONCEPTS }, (_, i) => ({ code: `c${i}`, display: `Concept ${i}`, property: [{ code: 'number', valueInteger: i }] })),
)
const isA = (i: number): JsonObject => ({ system: cs('large'), filter: [{ property: 'concept', op: 'is-a', value: `c${i}` }] })
const branches = (count: number): readonly JsonObject[] => Array.from({ length: count }, (_, i) => isA(i))
const matching = (property: string): JsonObject => ({ system: cs('large'), filter: [{ property, op: 'regex', value: '.*7' }] })

const content: OperationContext = { ...contextOf(LARGE, valueSet('parts', { include: branches(4_000) })), deadline: undefined }
const listed = (compose: JsonObject) => (ctx: OperationContext) => expand(ctx, { valueSet: valueSet('hostile', compose), count: 1 })

/** Work that takes thousands of steps. Of each, the clock ticks once whenever somebody looks at it. */
const COSTLY: readonly (readonly [string, (ctx: OperationContext) => Promise<unknown>])[] = [
  ['very many includes', listed({ include: branches(4_000) })],
  ['very many excludes', listed({ include: [{ system: cs('large') }], exclude: branches(4_000) })],
  ['an import of very many parts', listed({ include: [{ valueSet: [vs('parts')] }] })],
  ['very many unknown code systems', listed({ include: Array.from({ length: 4_000 }, (_, i) => ({ system: cs(`unknown-${i}`) })) })],
  ['patterns over all displays', listed({ include: Array.from({ length: 50 }, () => matching('display')) })],
  ['patterns over all values of a property', listed({ include: Array.from({ length: 50 }, () => matching('number')) })],
  ['inactive codes of imports', listed({ include: [{ valueSet: [vs('parts')] }], inactive: false })],
  [
    'comparison of all codes',
    (ctx) => compare(ctx, { thisValueSet: { url: vs('parts') }, otherValueSet: { valueSet: valueSet('x', { include: branches(3_999) }) } }),
  ],
]

describe('work that takes long', () => {
  beforeEach(async () => {
    // What is made once for each code system does not count.
    await listed({ include: [{ system: cs('large') }] })(content)
    let now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1))
  })
  afterEach(() => void vi.restoreAllMocks())

  it.each(COSTLY)('ends at its time limit: %s', async (_, work) => {
    const hurried = forRequest(content, { limits: { operationTimeoutMs: 400 } })
    await expect(work(hurried)).rejects.toMatchObject({ code: 'computation-timeout' })
  })

  it.each(COSTLY)('lets other work run in between: %s', async (_, work) => {
    let pauses = 0
    const turns = { next: async () => void pauses++ }
    await work(forRequest({ ...content, turns }, { limits: { operationTimeoutMs: 1e9 } })).catch(() => undefined)
    expect(pauses).toBeGreaterThan(40)
  })
})
