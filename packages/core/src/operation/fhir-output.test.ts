import { describe, expect, it } from 'vitest'
import { CATS } from '../../test/code-validation.js'
import { call, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import type { JsonObject } from '../json/index.js'
import {
  codeSystemValidateCodeOperation,
  toParameters as validationToParameters,
  validateCode,
  validateCodeInSystem,
  valueSetValidateCodeOperation,
} from '../validate-code/index.js'

const system = cs('living')
const ctx = contextOf(LIVING, CATS, valueSet('all', { include: [{ system }] }))
const text = (resource: object): string => JSON.stringify(resource)
const uri = (name: string, valueUri: string): JsonObject => ({ name, valueUri })
const explained = { name: '_explain', valueBoolean: true }

describe('the FHIR form of a result is what the operation answers', () => {
  it.each([
    [{ code: 'cat', display: 'Cat' }],
    [{ code: 'dog', display: 'Doggy' }],
    [{ code: 'lion', version: '9' }],
    [{ code: 'no', system: 'urn:unknown' }],
  ])('validate-code: %j', async (more) => {
    const coding = { system, ...more }
    const parameters = [uri('url', vs('cats')), { name: 'coding', valueCoding: coding }, explained]
    const result = await validateCode(ctx, { url: vs('cats'), coding, explain: true })
    expect(text(validationToParameters(result))).toBe(text(await call(valueSetValidateCodeOperation, ctx, parameters)))
  })

  it('validate-code of a concept and of a code', async () => {
    const codeableConcept = { coding: [{ system, code: 'dog' }, { code: 'cat' }], text: 'pet' }
    const concept = [uri('url', vs('cats')), { name: 'codeableConcept', valueCodeableConcept: codeableConcept }]
    const ofConcept = await validateCode(ctx, { url: vs('cats'), codeableConcept })
    expect(text(validationToParameters(ofConcept))).toBe(text(await call(valueSetValidateCodeOperation, ctx, concept)))
    const code = [uri('url', vs('cats')), { name: 'code', valueCode: 'lion' }, { name: 'inferSystem', valueBoolean: true }]
    const ofCode = await validateCode(ctx, { url: vs('cats'), code: 'lion', inferSystem: true })
    expect(text(validationToParameters(ofCode))).toBe(text(await call(valueSetValidateCodeOperation, ctx, code)))
  })

  it('validate-code in a code system', async () => {
    for (const code of ['cat', 'cow']) {
      const result = await validateCodeInSystem(ctx, { system, code, explain: true })
      const answer = await call(codeSystemValidateCodeOperation, ctx, [uri('url', system), { name: 'code', valueCode: code }, explained])
      expect(text(validationToParameters(result))).toBe(text(answer))
    }
  })
})
