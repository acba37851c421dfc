import { describe, expect, it } from 'vitest'
import { cs } from '../../test/terminology-content.js'
import { inSet } from '../../test/code-validation.js'
import { type JsonObject } from '../json/index.js'

describe('a CodeableConcept', () => {
  const concept = (...codings: readonly JsonObject[]): JsonObject => ({
    name: 'codeableConcept',
    valueCodeableConcept: { coding: codings.map((value) => ({ system: cs('living'), ...value })) },
  })

  it('is good with one good coding, and the first of them is told', async () => {
    const { result, ids, parameter } = await inSet('cats', concept({ code: 'dog' }, { code: 'lion' }, { code: 'cat' }))
    expect([result, parameter('code')]).toEqual([true, 'lion'])
    expect(ids).toEqual([
      'information None_of_the_provided_codes_are_in_the_value_set_one CodeableConcept.coding[0].code',
      'warning INACTIVE_CONCEPT_FOUND CodeableConcept.coding[1]',
    ])
  })

  it('is bad with an unknown code beside a good one', async () => {
    expect((await inSet('cats', concept({ code: 'cat' }, { code: 'cow' }))).result).toBe(false)
  })

  it('is bad with an unknown system beside a good one, which is not why the good one should be doubted', async () => {
    const { result, parameter } = await inSet('cats', concept({ code: 'cat' }, { code: 'x', system: cs('gone') }))
    expect([result, parameter('x-unknown-system'), parameter('x-caused-by-unknown-system')]).toEqual([false, cs('gone'), undefined])
  })

  it('is bad without a good coding, and no code is told', async () => {
    const { result, ids, parameter } = await inSet('cats', concept({ code: 'dog' }))
    expect([result, parameter('code'), parameter('codeableConcept')]).toEqual([
      false,
      undefined,
      { coding: [{ system: cs('living'), code: 'dog' }] },
    ])
    expect(ids).toContain('error TX_GENERAL_CC_ERROR_MESSAGE')
  })

  it('is told to be inactive, too, when that is why it is bad', async () => {
    const { parameter } = await inSet('active', concept({ code: 'plant', system: cs('gone') }, { code: 'lion' }))
    expect(['result', 'code', 'inactive', 'status'].map(parameter)).toEqual([false, undefined, true, 'retired'])
  })
})
