import { describe, expect, it } from 'vitest'
import { call, callByGet, codeSystem, contextOf, cs, LIVING } from '../../test/terminology-content.js'
import { createContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import { subsumes } from './index.js'
import { subsumesOperation } from '../operations/index.js'

const TWO_PARENTS = codeSystem('many', [
  { code: 'a' },
  { code: 'b' },
  {
    code: 'c',
    property: [
      { code: 'parent', valueCode: 'a' },
      { code: 'parent', valueCode: 'b' },
    ],
  },
  { code: 'd', property: [{ code: 'parent', valueCode: 'c' }] },
])
const FOLDED = codeSystem('folded', [{ code: 'Up', concept: [{ code: 'Down' }] }], { caseSensitive: false })
const CIRCLE = codeSystem('circle', [
  { code: 'one', property: [{ code: 'parent', valueCode: 'two' }] },
  { code: 'two', property: [{ code: 'parent', valueCode: 'one' }] },
])
const MEANINGS = ['is-a', 'classified-with', 'part-of', 'grouped-by'].map((hierarchyMeaning) =>
  codeSystem(hierarchyMeaning, [{ code: 'upper', concept: [{ code: 'lower' }] }], { hierarchyMeaning }),
)
const ctx = contextOf(LIVING, TWO_PARENTS, FOLDED, CIRCLE, ...MEANINGS)

function coding(name: string, code: string | undefined, more: JsonObject = {}): JsonObject {
  return { name, valueCoding: { system: cs('living'), code, ...more } }
}

describe('subsumption', () => {
  it.each([
    ['living', 'cat', 'cat', 'equivalent'],
    ['living', 'animal', 'lion', 'subsumes'],
    ['living', 'lion', 'animal', 'subsumed-by'],
    ['living', 'cat', 'dog', 'not-subsumed'],
    ['many', 'b', 'd', 'subsumes'],
    ['many', 'd', 'a', 'subsumed-by'],
    ['many', 'a', 'b', 'not-subsumed'],
    ['folded', 'UP', 'down', 'subsumes'],
    ['is-a', 'upper', 'lower', 'subsumes'],
    ['classified-with', 'lower', 'upper', 'subsumed-by'],
    ['part-of', 'upper', 'lower', 'not-subsumed'],
    ['part-of', 'lower', 'lower', 'equivalent'],
    ['grouped-by', 'upper', 'lower', 'not-subsumed'],
    ['folded', 'UP', 'up', 'equivalent'],
    ['circle', 'one', 'two', 'equivalent'],
  ])('in %s: %s and %s are %s', async (name, codeA, codeB, outcome) => {
    expect(await subsumes(ctx, { system: cs(name), codeA, codeB })).toEqual({ outcome })
  })

  it.each([
    [`system=${cs('living')}&codeA=cat&codeB=cow`, 'not-found'],
    [`system=${cs('gone')}&codeA=cat&codeB=dog`, 'not-found'],
    [`system=${cs('living')}&version=9&codeA=cat&codeB=dog`, 'not-found'],
    [`system=${cs('living')}&codeA=cat&codeB=dog&check-system-version=${cs('living')}|2`, 'not-found'],
    [`system=${cs('living')}&version=1.0.0&codeA=cat&codeB=dog&check-system-version=${cs('living')}|2`, 'unprocessable'],
    [`system=${cs('living')}&codeA=cat`, 'parameter-required'],
    ['codeA=cat&codeB=dog', 'parameter-required'],
  ])('%s is refused with %s', async (query, code) => {
    await expect(callByGet(subsumesOperation, ctx, query)).rejects.toMatchObject({ code })
  })

  it.each([
    [
      'a code beside its coding',
      [{ name: 'codeA', valueCode: 'cat' }, coding('codingA', 'cat'), coding('codingB', 'dog')],
      'source-ambiguous',
    ],
    ['codings of two systems', [coding('codingA', 'cat'), coding('codingB', 'a', { system: cs('many') })], 'parameter-invalid'],
    [
      'a coding of another system than the parameter',
      [{ name: 'system', valueUri: cs('many') }, coding('codingA', 'cat'), coding('codingB', 'dog')],
      'parameter-invalid',
    ],
    [
      'codings of two versions',
      [coding('codingA', 'cat', { version: '1.0.0' }), coding('codingB', 'dog', { version: '2' })],
      'parameter-invalid',
    ],
    [
      'a coding of another version than the parameter',
      [{ name: 'version', valueString: '2' }, coding('codingA', 'cat', { version: '1.0.0' }), coding('codingB', 'dog')],
      'parameter-invalid',
    ],
    ['a coding without code', [coding('codingA', undefined), coding('codingB', 'dog')], 'parameter-required'],
    ['one code only', [coding('codingB', 'dog')], 'parameter-required'],
    [
      'a code that is given twice',
      [
        { name: 'codeA', valueCode: 'cat' },
        { name: 'codeA', valueCode: 'dog' },
      ],
      'parameter-invalid',
    ],
    ['codes that are named like members of objects', [coding('codingA', 'constructor'), coding('codingB', '__proto__')], 'not-found'],
  ])('%s is refused', async (_, parameters, code) => {
    await expect(call(subsumesOperation, ctx, parameters)).rejects.toMatchObject({ code })
  })

  it('names the codes that are missing', async () => {
    const asked = async (...parameters: JsonObject[]): Promise<unknown> => call(subsumesOperation, ctx, parameters)
    await expect(asked(coding('codingB', 'dog'))).rejects.toMatchObject({ expression: ['codeA'] })
    await expect(asked()).rejects.toMatchObject({ expression: ['codeA', 'codeB', 'system'] })
  })

  it.each([
    ['a code and a coding', [{ name: 'codeA', valueCode: 'animal' }, coding('codingB', 'cat')], 'subsumes'],
    [
      'a coding that leaves its system to the other',
      [coding('codingA', 'animal', { system: undefined }), coding('codingB', 'cat')],
      'subsumes',
    ],
    [
      'a version that all agree on',
      [{ name: 'version', valueString: '1.0.0' }, coding('codingA', 'cat', { version: '1.0.0' }), coding('codingB', 'animal')],
      'subsumed-by',
    ],
  ])('%s will do', async (_, parameters, outcome) => {
    expect(await call(subsumesOperation, ctx, parameters)).toMatchObject({ parameter: [{ name: 'outcome', valueCode: outcome }] })
  })

  it('of two codings is that of their codes', async () => {
    const [codingA, codingB] = [
      { system: cs('living'), code: 'animal', display: 'Animal' },
      { system: cs('living'), code: 'cat' },
    ]
    expect(await subsumes(ctx, { codingA, codingB })).toEqual({ outcome: 'subsumes' })
    await expect(subsumes(ctx, { codingA, codingB: { ...codingB, system: cs('many') } })).rejects.toMatchObject({
      code: 'parameter-invalid',
      expression: ['system'],
    })
  })

  it('in a code system that is not known says that the codes cannot be compared', async () => {
    await expect(subsumes(ctx, { system: cs('gone'), codeA: 'a', codeB: 'b' })).rejects.toThrow(
      `A definition for CodeSystem '${cs('gone')}' could not be found, so the codes cannot be compared`,
    )
  })

  it('of an instance is asked in that code system alone', async () => {
    const own = createContext({
      storage: memoryStorage([
        { ...LIVING, id: 'own' },
        { ...LIVING, id: 'next', version: '2', concept: [{ code: 'cat' }, { code: 'animal' }] },
      ]),
    })
    const ask = (query: string, id: string): Promise<object> => callByGet(subsumesOperation, own, query, { id })
    expect(await ask('codeA=animal&codeB=cat', 'own')).toMatchObject({ parameter: [{ valueCode: 'subsumes' }] })
    expect(await ask('codeA=animal&codeB=cat', 'next')).toMatchObject({ parameter: [{ valueCode: 'not-subsumed' }] })
    expect(await ask(`codeA=animal&codeB=cat&system=${cs('living')}`, 'own')).toMatchObject({ parameter: [{ valueCode: 'subsumes' }] })
    await expect(ask(`codeA=a&codeB=b&system=${cs('many')}`, 'own')).rejects.toMatchObject({ code: 'parameter-invalid' })
    await expect(ask('codeA=animal&codeB=cat&version=2', 'own')).rejects.toMatchObject({ code: 'parameter-invalid' })
    await expect(ask('codeA=animal&codeB=cat', 'never')).rejects.toMatchObject({ code: 'not-found' })
  })

  it('takes the CodeSystem itself, in its own version', async () => {
    const codeSystem = { ...LIVING, version: '0.1', concept: [{ code: 'cat', concept: [{ code: 'animal' }] }] }
    const parameters = [
      { name: 'codeSystem', resource: codeSystem },
      { name: 'codeA', valueCode: 'animal' },
      { name: 'codeB', valueCode: 'cat' },
    ]
    expect(await call(subsumesOperation, ctx, parameters)).toMatchObject({ parameter: [{ valueCode: 'subsumed-by' }] })
    const codes = { system: cs('living'), codeA: 'animal', codeB: 'cat' }
    expect(await subsumes(ctx, { ...codes, codeSystem })).toEqual({ outcome: 'subsumed-by' })
    await expect(subsumes(ctx, { ...codes, version: '1.0.0', codeSystem })).rejects.toMatchObject({ code: 'parameter-invalid' })
    const own = createContext({ storage: memoryStorage([{ ...LIVING, id: 'own' }]) })
    await expect(call(subsumesOperation, own, parameters, { id: 'own' })).rejects.toMatchObject({ code: 'parameter-invalid' })
  })

  it('takes a CodeSystem without version before others of its url that have one', async () => {
    const codeSystem = { ...LIVING, version: undefined, concept: [{ code: 'cat', concept: [{ code: 'animal' }] }] }
    const codes = { system: cs('living'), codeA: 'animal', codeB: 'cat' }
    expect(await subsumes(ctx, { ...codes, codeSystem })).toEqual({ outcome: 'subsumed-by' })
  })

  it('takes codings, which must be of one system', async () => {
    const coding = (name: string, system: string, code: string): object => ({ name, valueCoding: { system: cs(system), code } })
    expect(
      await call(subsumesOperation, ctx, [coding('codingA', 'living', 'cat'), coding('codingB', 'living', 'lion')] as never),
    ).toMatchObject({ parameter: [{ name: 'outcome', valueCode: 'subsumes' }] })
    await expect(
      call(subsumesOperation, ctx, [coding('codingA', 'living', 'cat'), coding('codingB', 'many', 'a')] as never),
    ).rejects.toMatchObject({ code: 'parameter-invalid' })
  })
})
