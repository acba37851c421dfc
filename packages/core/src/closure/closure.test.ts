import { describe, expect, it } from 'vitest'
import { call, contextOf, cs, LIVING } from '../../test/terminology-content.js'
import type { JsonObject } from '../json/index.js'
import { closure, closureOperation, type ClosureResult } from './index.js'

const concepts = (...codes: readonly string[]): readonly { system: string; code: string }[] => codes.map((code) => ({ system: cs('living'), code }))
const rows = ({ entries }: ClosureResult): readonly string[] => entries.map(({ code, target }) => `${code}<${target}`).sort()

describe('a closure table', () => {
  it('brings with each addition what is above and below the new codes, and every pair once', async () => {
    const ctx = contextOf(LIVING)
    expect(await closure(ctx, { name: 't' })).toEqual({ name: 't', version: '0', entries: [] })
    expect(rows(await closure(ctx, { name: 't', concepts: concepts('lion', 'dog') }))).toEqual([])
    const second = await closure(ctx, { name: 't', concepts: concepts('animal', 'cat', 'lion', 'animal') })
    expect([second.version, rows(second)]).toEqual(['2', ['cat<animal', 'dog<animal', 'lion<animal', 'lion<cat']])
    expect(rows(await closure(ctx, { name: 't', concepts: concepts('cat') }))).toEqual([])
  })

  it('tells again what is new since a version', async () => {
    const ctx = contextOf(LIVING)
    await closure(ctx, { name: 't' })
    await closure(ctx, { name: 't', concepts: concepts('lion', 'cat') })
    await closure(ctx, { name: 't', concepts: concepts('animal') })
    const since = async (version: string): Promise<readonly string[]> => rows(await closure(ctx, { name: 't', since: version }))
    expect(await since('0')).toEqual(['cat<animal', 'lion<animal', 'lion<cat'])
    expect(await since('1')).toEqual(['cat<animal', 'lion<animal'])
    expect(await since('2')).toEqual([])
    for (const version of ['3', '-1', 'x', '1.5']) await expect(closure(ctx, { name: 't', since: version })).rejects.toMatchObject({ code: 'parameter-value' })
  })

  it('is empty again when it is made anew', async () => {
    const ctx = contextOf(LIVING)
    await closure(ctx, { name: 't' })
    await closure(ctx, { name: 't', concepts: concepts('lion', 'cat') })
    await closure(ctx, { name: 't' })
    expect(await closure(ctx, { name: 't', since: '0' })).toMatchObject({ version: '0', entries: [] })
  })

  it('loses nothing when several requests add at once', async () => {
    const ctx = contextOf(LIVING)
    await closure(ctx, { name: 't' })
    await Promise.all(['lion', 'cat', 'animal'].map((code) => closure(ctx, { name: 't', concepts: concepts(code) })))
    expect(rows(await closure(ctx, { name: 't', since: '0' }))).toEqual(['cat<animal', 'lion<animal', 'lion<cat'])
  })

  it.each([
    [{ name: 'never', concepts: concepts('cat') }, 'not-found'],
    [{ name: 'never', since: '0' }, 'not-found'],
    [{ name: 't', concepts: concepts('cow') }, 'not-found'],
    [{ name: 't', concepts: [{ system: cs('gone'), code: 'cat' }] }, 'not-found'],
    [{ name: 't', concepts: concepts('cat'), since: '0' }, 'parameter-invalid'],
  ])('refuses %j with %s', async (input, code) => {
    const ctx = contextOf(LIVING)
    await closure(ctx, { name: 't' })
    await expect(closure(ctx, input)).rejects.toMatchObject({ code })
  })
})

describe('the operation', () => {
  const at = (ctx: ReturnType<typeof contextOf>, ...parameter: readonly JsonObject[]): Promise<JsonObject> => call(closureOperation, ctx, parameter)
  const name = { name: 'name', valueString: 'constructor' }

  it('answers with a ConceptMap in which the broader code subsumes the narrower', async () => {
    const ctx = contextOf(LIVING)
    expect(await at(ctx, name)).toMatchObject({ resourceType: 'ConceptMap', version: '0' })
    const coding = (code: string): JsonObject => ({ name: 'concept', valueCoding: { system: cs('living'), code } })
    expect(await at(ctx, name, coding('lion'), coding('cat'))).toMatchObject({
      version: '1',
      group: [{ source: cs('living'), target: cs('living'), element: [{ code: 'lion', target: [{ code: 'cat', equivalence: 'subsumes' }] }] }],
    })
  })

  it.each([
    [[], 'parameter-required'],
    [[{ name: 'name', valueString: 'x'.repeat(257) }], 'parameter-too-long'],
    [[name, { name: 'concept', valueCoding: { code: 'cat' } }], 'parameter-value'],
    [[name, { name: 'concept', valueString: 'cat' }], 'parameter-value'],
  ])('refuses %j with %s', async (parameter, code) => {
    await expect(at(contextOf(LIVING), ...(parameter as JsonObject[]))).rejects.toMatchObject({ code })
  })
})
