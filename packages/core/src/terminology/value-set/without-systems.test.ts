import { expect, it } from 'vitest'
import { codeSystem, contextOf, cs, valueSet, vs } from '../../../test/terminology-content.js'
import { expand, type ExpandInput } from '../../expand/index.js'

const ctx = contextOf(
  codeSystem('a', [{ code: 'a1' }], { version: '1' }),
  codeSystem('a', [{ code: 'a1' }, { code: 'a2' }], { version: '2' }),
  codeSystem('b', [{ code: 'b1' }, { code: 'b2' }]),
  valueSet('both', { include: [{ system: cs('a') }, { system: cs('b') }], exclude: [{ system: cs('b'), concept: [{ code: 'b2' }] }] }),
  valueSet('nested', { include: [{ valueSet: [vs('both')] }] }),
  valueSet('unknown', { include: [{ system: cs('b') }, { system: cs('none') }] }),
)

async function codesOf(input: ExpandInput): Promise<string> {
  return (await expand(ctx, input)).contains.map(({ code }) => code).join(' ')
}

it.each<[string, ExpandInput, string]>([
  ['nothing', { url: vs('both') }, 'a1 a2 b1'],
  ['a code system', { url: vs('both'), excludeSystems: [cs('a')] }, 'b1'],
  ['what an import has of it', { url: vs('nested'), excludeSystems: [cs('a')] }, 'b1'],
  ['the version that is used', { url: vs('both'), excludeSystems: [`${cs('a')}|2`] }, 'b1'],
  ['not another version', { url: vs('both'), excludeSystems: [`${cs('a')}|1`] }, 'a1 a2 b1'],
  ['all', { url: vs('both'), excludeSystems: [cs('a'), cs('b')] }, ''],
  ['a code system that is not known', { url: vs('unknown'), excludeSystems: [cs('none')] }, 'b1 b2'],
  ['not what is not included', { url: vs('both'), excludeSystems: [cs('none')] }, 'a1 a2 b1'],
])('exclude-system leaves out %s', async (_, input, codes) => {
  expect(await codesOf(input)).toBe(codes)
})

it('exclude-system is told, and what was left out is not said to be used', async () => {
  const { total, parameters } = await expand(ctx, { url: vs('both'), excludeSystems: [cs('a')] })
  expect(total).toBe(1)
  expect(parameters).toContainEqual({ name: 'exclude-system', type: 'Uri', value: cs('a') })
  expect(parameters.filter(({ name }) => name === 'used-codesystem').map(({ value }) => value)).toEqual([cs('b')])
})
