import { describe, expect, it } from 'vitest'
import { call, callByGet, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import { answerOf, CATS, coding, content } from '../../test/code-validation.js'
import { objectAt, objectsAt, type JsonObject } from '../json/index.js'
import type { OperationResponse } from '../operation/index.js'
import { parametersOf } from '../parameters/index.js'
import {
  codeSystemBatchValidateCodeOperation,
  valueSetBatchValidateCodeOperation,
  valueSetValidateCodeOperation,
} from '../operations/index.js'

describe('inputs', () => {
  it.each([
    ['', 'parameter-required'],
    [`url=${vs('all')}`, 'parameter-required'],
    ['code=cat&system=x', 'parameter-required'],
    [`url=${vs('all')}&code=cat`, 'parameter-required'],
    [`url=${vs('gone')}&code=cat&system=x`, 'not-found'],
    [`url=${vs('all')}&code=cat&code=dog`, 'parameter-invalid'],
    [`url=${vs('all')}&code=cat&system=x&abstract=maybe`, 'parameter-value'],
    [`url=${vs('all')}&code=cat&system=x&date=2020`, 'parameter-unsupported'],
    [`url=${vs('all')}&code=cat&system=x&system-version=${cs('living')}`, 'parameter-value'],
    [`url=${vs('all')}&code=cat&system=x&force-system-version=${cs('living')}|`, 'parameter-value'],
    [`url=${vs('all')}&code=cat&system=x&system-version=${cs('living')}|1&system-version=${cs('living')}|2`, 'parameter-invalid'],
    [`url=${vs('all')}&code=cat&system=x&default-valueset-version=${vs('all')}`, 'parameter-value'],
    [`url=${vs('all')}&code=cat&system=x&useSupplement=gone`, 'content-not-found'],
    [`url=${vs('fragment')}&code=cat&system=x&useSupplement=${cs('more')}`, 'content-not-found'],
  ])('%j are refused with %s', async (query, code) => {
    await expect(callByGet(valueSetValidateCodeOperation, content, query)).rejects.toMatchObject({ code })
  })

  it('may hold one code only', async () => {
    const both = [{ name: 'url', valueUri: vs('all') }, { name: 'code', valueCode: 'cat' }, coding({ code: 'cat' })]
    await expect(call(valueSetValidateCodeOperation, content, both)).rejects.toMatchObject({ code: 'source-ambiguous' })
  })

  it('a diamond of excludes and imports is asked about once', async () => {
    const level = (i: number): JsonObject =>
      valueSet(`l${i}`, {
        include: [{ valueSet: [vs(`l${i + 1}`)] }, { system: cs('living') }],
        exclude: [{ valueSet: [vs(`l${i + 1}`), vs('cats')] }],
      })
    const diamond = contextOf(
      LIVING,
      CATS,
      ...Array.from({ length: 40 }, (_, i) => level(i)),
      valueSet('l40', { include: [{ system: cs('living') }] }),
    )
    const resource = await callByGet(valueSetValidateCodeOperation, diamond, `url=${vs('l0')}&code=dog&system=${cs('living')}`)
    expect(answerOf(resource).result).toBe(true)
  })

  it('a value set that two includes import at each of 60 levels is asked about once for a code that is outside', async () => {
    const twice = (i: number): JsonObject =>
      valueSet(`t${i}`, { include: [{ valueSet: [vs(`t${i + 1}`)] }, { valueSet: [vs(`t${i + 1}`)] }] })
    const doubling = contextOf(
      LIVING,
      CATS,
      ...Array.from({ length: 60 }, (_, i) => twice(i)),
      valueSet('t60', { include: [{ valueSet: [vs('cats')] }] }),
    )
    const resource = await callByGet(valueSetValidateCodeOperation, doubling, `url=${vs('t0')}&code=dog&system=${cs('living')}`)
    expect(answerOf(resource).result).toBe(false)
  })
})

const SHARED_NAMES =
  `url valueSet valueSetVersion context code system systemVersion display coding codeableConcept inferSystem valueset-membership-only
  lenient-display-validation abstract activeOnly useSupplement displayLanguage force-system-version check-system-version
  system-version default-valueset-version force-valueset-version check-valueset-version _explain tx-resource`.split(/\s+/)

describe('a batch', () => {
  it('answers each validation in its place, also one that cannot be done', async () => {
    const one = (...parameter: readonly JsonObject[]): JsonObject => ({
      name: 'validation',
      resource: { resourceType: 'Parameters', parameter },
    })
    const resource = await call(valueSetBatchValidateCodeOperation, content, [
      { name: 'url', valueUri: vs('cats') },
      one(coding({ code: 'cat' })),
      one(coding({ code: 'dog' })),
      one({ name: 'url', valueUri: vs('gone') }, coding({ code: 'dog' })),
      one(),
      { name: 'validation', resource: { resourceType: 'Patient' } },
      { name: 'validation' },
    ])
    const answers = objectsAt(resource, 'parameter').map((one) => objectAt(one, 'resource'))
    const outcome = 'OperationOutcome'
    expect(answers.map((answer) => answer?.['resourceType'])).toEqual(['Parameters', 'Parameters', outcome, outcome, outcome, outcome])
    for (const answer of answers.slice(4))
      expect(answer).toMatchObject({ issue: [{ details: { text: "Parameter 'validation' must be a Parameters resource." } }] })
    expect(answers.slice(0, 2).map((answer) => answer && answerOf(answer).result)).toEqual([true, false])
  })

  it.each([
    ['ValueSet', valueSetBatchValidateCodeOperation],
    ['CodeSystem', codeSystemBatchValidateCodeOperation],
  ])('on %s asks the code system of a code for which no value set is named', async (_, operation) => {
    const [code, system] = [
      { name: 'code', valueCode: 'dog' },
      { name: 'system', valueUri: cs('living') },
    ]
    const validations = [[coding({ code: 'cat' })], [coding({ code: 'gone' })], [code, system], [code]]
    const resource = await call(
      operation,
      content,
      validations.map((parameter) => ({ name: 'validation', resource: { resourceType: 'Parameters', parameter } })),
    )
    const answers = objectsAt(resource, 'parameter').map((one) => objectAt(one, 'resource') ?? {})
    expect(answers.slice(0, 3).map((answer) => answerOf(answer).result)).toEqual([true, false, true])
    expect(answers[3]).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ code: 'required' }] })
  })

  it('on CodeSystem takes a url as that of the code system', async () => {
    const parameter = [
      { name: 'url', valueUri: cs('living') },
      { name: 'code', valueCode: 'dog' },
    ]
    const validation = { name: 'validation', resource: { resourceType: 'Parameters', parameter } }
    const resource = await call(codeSystemBatchValidateCodeOperation, content, [validation])
    const [answer] = objectsAt(resource, 'parameter').map((one) => objectAt(one, 'resource') ?? {})
    expect(answer && answerOf(answer).result).toBe(true)
  })

  const cat = {
    name: 'validation',
    resource: { resourceType: 'Parameters', parameter: [{ name: 'url', valueUri: vs('cats') }, coding({ code: 'cat' })] },
  }
  const ask = (parameter: readonly JsonObject[], strict: boolean): Promise<OperationResponse> => {
    const parameters = parametersOf({ resourceType: 'Parameters', parameter })
    return valueSetBatchValidateCodeOperation.run(content, { type: 'ValueSet', method: 'POST', strict, parameters })
  }

  it('refuses a parameter that nobody knows where the caller asks for that, and only there', async () => {
    const unknown = { name: 'frobnicate', valueString: 'x' }
    const refused = { code: 'parameter-invalid', message: expect.stringContaining("'frobnicate'") }
    await expect(ask([unknown], true)).rejects.toMatchObject(refused)
    await expect(ask([unknown, cat], true)).rejects.toMatchObject(refused)
    expect(await ask([unknown, cat], false)).toMatchObject({ status: 200 })
  })

  it('needs a validation', async () => {
    const missing = { code: 'parameter-required', detail: { expression: ['validation'] } }
    await expect(ask([], false)).rejects.toMatchObject(missing)
    await expect(ask([{ name: 'url', valueUri: vs('cats') }], true)).rejects.toMatchObject(missing)
  })

  it.each(SHARED_NAMES)('takes %s beside the validations, as a single validation does', async (name) => {
    const shared = { name, valueString: 'x' }
    expect(await ask([shared, cat], true)).toMatchObject({ status: 200 })
    const parameters = parametersOf({ resourceType: 'Parameters', parameter: [shared, ...cat.resource.parameter] })
    const single = valueSetValidateCodeOperation.run(content, { type: 'ValueSet', method: 'POST', strict: true, parameters })
    expect(await single.then(String, String)).not.toMatch('not known')
  })
})
