import { describe, expect, it } from 'vitest'
import { call, codeSystem, contextOf, cs, valueSet, vs } from '../../../test/terminology-content.js'
import { answerOf, NOT_IN } from '../../../test/code-validation.js'
import { closure } from '../../closure/index.js'
import type { JsonObject } from '../../json/index.js'
import { expand } from '../../expand/index.js'
import { lookup } from '../../lookup/index.js'
import { subsumes } from '../../subsumes/index.js'
import { createBindingChecker } from '../binding.js'
import { valueSetValidateCodeOperation } from '../../operations/index.js'

const UNSTATED = { caseSensitive: undefined }
const KIN = [{ code: 'Up', display: 'Upper', concept: [{ code: 'down' }] }]
const system = cs('open')
const valueSets: readonly JsonObject[] = [
  valueSet('whole', { include: [{ system }] }),
  valueSet('listed', { include: [{ system, concept: [{ code: 'UP', display: 'Own' }, { code: 'gone' }] }] }),
  valueSet('filtered', { include: [{ system, filter: [{ property: 'concept', op: 'descendent-of', value: 'uP' }] }] }),
  valueSet('excluding', { include: [{ system }], exclude: [{ system, concept: [{ code: 'DOWN' }] }] }),
  valueSet('paired', { include: [{ system: cs('pairs') }] }),
]
const ctx = contextOf(
  codeSystem('open', KIN, UNSTATED),
  codeSystem('pairs', [{ code: 'mg' }, { code: 'Mg' }, { code: 'kg' }], UNSTATED),
  codeSystem('repeating', [{ code: 'a' }, { code: 'b', concept: [{ code: 'a' }] }], UNSTATED),
  ...valueSets,
)

describe('codes of a system that does not say whether case matters', () => {
  it.each([
    ['whole', 'UP', true, ['information CODE_CASE_DIFFERENCE Coding.code']],
    ['whole', 'Up', true, []],
    ['listed', 'up', true, ['information CODE_CASE_DIFFERENCE Coding.code']],
    ['listed', 'DOWN', false, [NOT_IN, 'information CODE_CASE_DIFFERENCE Coding.code']],
    ['filtered', 'Down', true, ['information CODE_CASE_DIFFERENCE Coding.code']],
    ['excluding', 'down', false, [NOT_IN]],
  ])('are accepted in any case by the value set %s: %s', async (set, code, result, ids) => {
    const asked = [
      { name: 'url', valueUri: vs(set) },
      { name: 'coding', valueCoding: { system, code } },
    ]
    const answer = answerOf(await call(valueSetValidateCodeOperation, ctx, asked))
    expect([answer.result, answer.ids]).toEqual([result, ids])
  })

  it('are given with the case that the system has', async () => {
    const { contains } = await expand(ctx, { url: vs('listed') })
    expect(contains.map(({ code, display }) => [code, display])).toEqual([['Up', 'Own']])
    expect(await lookup(ctx, { system, code: 'UP' })).toMatchObject({ code: 'Up', display: 'Upper' })
  })

  it('are compared, closed over and bound in any case', async () => {
    expect(await subsumes(ctx, { system, codeA: 'UP', codeB: 'DOWN' })).toMatchObject({ outcome: 'subsumes' })
    await closure(ctx, { name: 'case' })
    const { entries } = await closure(ctx, { name: 'case', concepts: ['UP', 'DOWN'].map((code) => ({ system, code })) })
    expect(entries.map(({ code, target }) => [code, target])).toEqual([['down', 'Up']])
    expect(await createBindingChecker(ctx).memberOf(vs('listed'), { system, code: 'uP' })).toBe(true)
  })

  it('are told apart by case where nothing else tells two of them apart', async () => {
    const pairs = cs('pairs')
    expect(await lookup(ctx, { system: pairs, code: 'Mg' })).toMatchObject({ code: 'Mg' })
    await expect(lookup(ctx, { system: pairs, code: 'KG' })).rejects.toMatchObject({ code: 'not-found' })
    expect((await expand(ctx, { url: vs('paired') })).contains.map(({ code }) => code)).toEqual(['mg', 'Mg', 'kg'])
  })

  it('are not told apart where one is listed twice', async () => {
    expect(await lookup(ctx, { system: cs('repeating'), code: 'B' })).toMatchObject({ code: 'b' })
  })
})
