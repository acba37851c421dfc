import { describe, expect, it } from 'vitest'
import { call, callByGet, codeSystem, contextOf, cs, LIVING } from '../../test/terminology-content.js'
import { subsumes, subsumesOperation } from './index.js'

const TWO_PARENTS = codeSystem('many', [
  { code: 'a' },
  { code: 'b' },
  { code: 'c', property: [{ code: 'parent', valueCode: 'a' }, { code: 'parent', valueCode: 'b' }] },
  { code: 'd', property: [{ code: 'parent', valueCode: 'c' }] },
])
const ctx = contextOf(LIVING, TWO_PARENTS)

describe('subsumption', () => {
  it.each([
    ['living', 'cat', 'cat', 'equivalent'],
    ['living', 'animal', 'lion', 'subsumes'],
    ['living', 'lion', 'animal', 'subsumed-by'],
    ['living', 'cat', 'dog', 'not-subsumed'],
    ['many', 'b', 'd', 'subsumes'],
    ['many', 'd', 'a', 'subsumed-by'],
  ])('in %s: %s and %s are %s', async (name, codeA, codeB, outcome) => {
    expect(await subsumes(ctx, { system: cs(name), codeA, codeB })).toBe(outcome)
  })

  it.each([
    [`system=${cs('living')}&codeA=cat&codeB=cow`, 'not-found'],
    [`system=${cs('gone')}&codeA=cat&codeB=dog`, 'not-found'],
    [`system=${cs('living')}&version=9&codeA=cat&codeB=dog`, 'not-found'],
    [`system=${cs('living')}&codeA=cat`, 'parameter-required'],
    ['codeA=cat&codeB=dog', 'parameter-required'],
  ])('%s is refused with %s', async (query, code) => {
    await expect(callByGet(subsumesOperation, ctx, query)).rejects.toMatchObject({ code })
  })

  it('takes codings, which must be of one system', async () => {
    const coding = (name: string, system: string, code: string): object => ({ name, valueCoding: { system: cs(system), code } })
    expect(await call(subsumesOperation, ctx, [coding('codingA', 'living', 'cat'), coding('codingB', 'living', 'lion')] as never)).toMatchObject({ parameter: [{ name: 'outcome', valueCode: 'subsumes' }] })
    await expect(call(subsumesOperation, ctx, [coding('codingA', 'living', 'cat'), coding('codingB', 'many', 'a')] as never)).rejects.toMatchObject({ code: 'parameter-invalid' })
  })
})
