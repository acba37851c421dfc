import { describe, expect, it } from 'vitest'
import { contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import { createBindingChecker } from './binding.js'

const ctx = contextOf(
  LIVING,
  valueSet('cats', { include: [{ system: cs('living'), filter: [{ property: 'concept', op: 'is-a', value: 'cat' }] }] }),
  valueSet('listed', { include: [{ system: cs('elsewhere'), concept: [{ code: 'x' }] }] }),
  valueSet('elsewhere', { include: [{ system: cs('elsewhere') }] }),
  valueSet('importing', { include: [{ system: cs('living'), concept: [{ code: 'dog' }] }, { valueSet: [vs('gone')] }] }),
  valueSet('odd', { include: [{ system: cs('living'), filter: [{ property: 'concept', op: 'near', value: 'cat' }] }] }),
  valueSet('circle', { include: [{ valueSet: [vs('circle')] }] }),
)
const living = (code: string): { system: string; code: string } => ({ system: cs('living'), code })

describe('a binding', () => {
  it.each([
    ['cats', living('lion'), true],
    ['cats', living('dog'), false],
    ['cats', living('constructor'), false],
    ['cats', 'lion', true],
    ['cats', 'dog', false],
    ['cats', { coding: [living('dog'), living('cat')] }, true],
    ['cats', { coding: [living('dog')] }, false],
    ['cats', { coding: [] }, false],
    ['cats', { text: 'a cat' }, false],
    ['listed', { system: cs('elsewhere'), code: 'x' }, true],
    ['listed', { system: cs('elsewhere'), code: 'y' }, false],
    ['listed', 'x', true],
    ['elsewhere', { system: cs('elsewhere'), code: 'x' }, undefined],
    ['elsewhere', living('cat'), false],
    ['importing', living('dog'), true],
    ['importing', living('cat'), undefined],
    ['odd', living('cat'), undefined],
    ['circle', living('cat'), undefined],
    ['gone', living('cat'), undefined],
  ])('to %s of %j is %s', async (set, value, expected) => {
    const checker = createBindingChecker(ctx)
    expect(await checker.memberOf(vs(set), value)).toBe(expected)
    expect((await checker.test(vs(set)))(value)).toBe(expected)
  })
})

it.each([undefined, 5])('the test of %j is refused, which names no value set', async (name) => {
  const checker = createBindingChecker(ctx)
  await expect(Reflect.apply(checker.test, undefined, [name])).rejects.toThrow('valueSet ')
})
