import { describe, expect, it } from 'vitest'
import { callByGet, call, codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../../test/terminology-content.js'
import { isObject, objectAt, objectsAt, type JsonObject } from '../../json/index.js'
import type { OperationContext } from '../../context/index.js'
import { expandOperation, valueSetValidateCodeOperation } from '../../operations/index.js'

function codesIn(answer: JsonObject): readonly unknown[] {
  return objectsAt(objectAt(answer, 'expansion'), 'contains').map(({ code }) => code)
}

async function isValid(ctx: OperationContext, name: string, system: string, code: string): Promise<unknown> {
  const answer = await callByGet(valueSetValidateCodeOperation, ctx, `url=${vs(name)}&system=${system}&code=${code}`)
  const result = objectsAt(answer, 'parameter').find((one) => one['name'] === 'result')
  return isObject(result) && result['valueBoolean']
}

describe('a code system that a value set contains', () => {
  const own = codeSystem('own', [{ code: 'a', display: 'A' }, { code: 'b' }], { id: 'own', version: '1' })
  const compose = { include: [{ system: cs('own') }] }
  const holding = valueSet('holding', compose, { contained: [own] })
  const ctx = contextOf(LIVING, codeSystem('own', [{ code: 'z' }], { version: '9' }), holding)

  it('is the one that its includes name', async () => {
    expect(codesIn(await callByGet(expandOperation, ctx, `url=${vs('holding')}`))).toEqual(['a', 'b'])
    expect(await isValid(ctx, 'holding', cs('own'), 'b')).toBe(true)
    expect(await isValid(ctx, 'holding', cs('own'), 'z')).toBe(false)
  })

  it('is so also where the value set comes with the request', async () => {
    const alone = contextOf(LIVING)
    expect(codesIn(await call(expandOperation, alone, [{ name: 'valueSet', resource: holding }]))).toEqual(['a', 'b'])
  })

  it("is nobody else's", async () => {
    await callByGet(expandOperation, ctx, `url=${vs('holding')}`)
    const whole = valueSet('whole', compose)
    expect(codesIn(await call(expandOperation, ctx, [{ name: 'valueSet', resource: whole }]))).toEqual(['z'])
  })

  it('is refused by the name that is no address', async () => {
    const resource = valueSet('local', { include: [{ system: '#own' }] }, { contained: [own] })
    await expect(call(expandOperation, ctx, [{ name: 'valueSet', resource }])).rejects.toThrow('#own')
  })
})

describe('the expansion that a value set carries', () => {
  const contains = [
    {
      system: cs('gone'),
      version: '3',
      code: 'x',
      display: 'Ex',
      contains: [{ system: cs('gone'), version: '3', code: 'y', inactive: true }],
    },
    { system: cs('living'), code: 'cat' },
  ]
  const { compose: _, ...bare } = valueSet('carried', {})
  const carried = { ...bare, expansion: { contains } }
  const composed = valueSet(
    'composed',
    { include: [{ system: cs('gone'), filter: [{ property: 'p', op: '=', value: 'v' }] }] },
    { expansion: { contains } },
  )
  const imported = valueSet('imported', { include: [{ valueSet: [vs('nowhere')] }] }, { expansion: { contains, total: 3 } })
  const known = valueSet('known', { include: [{ system: cs('living'), concept: [{ code: 'dog' }] }] }, { expansion: { contains } })
  const ctx = contextOf(LIVING, carried, composed, imported, known)

  it.each(['carried', 'composed', 'imported'])('is what %s is, where its code systems or imports are not known', async (name) => {
    const answer = await callByGet(expandOperation, ctx, `url=${vs(name)}&excludeNested=true`)
    expect(codesIn(answer)).toEqual(['x', 'y', 'cat'])
    expect(objectsAt(objectAt(answer, 'expansion'), 'contains')[0]).toMatchObject({ system: cs('gone'), display: 'Ex' })
    expect(await isValid(ctx, name, cs('gone'), 'x')).toBe(true)
    expect(await isValid(ctx, name, cs('gone'), 'z')).toBe(false)
    expect(await isValid(ctx, name, cs('living'), 'cat')).toBe(true)
    expect(codesIn(await callByGet(expandOperation, ctx, `url=${vs(name)}&excludeNested=true&activeOnly=true`))).toEqual(['x', 'cat'])
  })

  it('is not looked at where the definition can be worked out', async () => {
    expect(codesIn(await callByGet(expandOperation, ctx, `url=${vs('known')}`))).toEqual(['dog'])
  })

  it.each([
    { total: 4, contains },
    { offset: 1, contains },
    { total: 'many', contains },
  ])('is refused where it is all that there is, and one page of several: %j', async (expansion) => {
    const resource = { ...bare, expansion }
    await expect(call(expandOperation, ctx, [{ name: 'valueSet', resource }])).rejects.toMatchObject({ code: 'definition-invalid' })
  })

  it.each([
    { total: 4, contains },
    { offset: 1, contains },
    { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/valueset-unclosed', valueBoolean: true }], contains },
  ])('is not taken for the whole where it is a part: %j', async (expansion) => {
    const resource = { ...composed, expansion }
    await expect(call(expandOperation, ctx, [{ name: 'valueSet', resource }])).rejects.toMatchObject({ code: 'content-not-found' })
  })
})
