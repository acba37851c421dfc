import { describe, expect, it } from 'vitest'
import { callByGet, codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import { answerOf, inSet, type Answer } from '../../test/code-validation.js'
import { valueSetValidateCodeOperation } from '../operations/index.js'

const bound = (id: string, valueSet: string): object => ({ id, path: id, binding: { strength: 'required', valueSet } })
const elements = contextOf(
  LIVING,
  codeSystem('twin', [{ code: 'cat' }]),
  valueSet('pets', { include: [{ system: cs('living'), concept: [{ code: 'cat' }, { code: 'dog' }] }] }),
  valueSet('both', { include: [{ system: cs('living') }, { system: cs('twin') }] }),
  {
    resourceType: 'StructureDefinition',
    url: 'urn:pet',
    status: 'active',
    snapshot: { element: [bound('Pet.kind', vs('pets')), bound('Pet.any', vs('both'))] },
  },
)

describe('a code without system, beside the context that it was given in', () => {
  it.each([
    ['context=urn:pet%23Pet.kind&code=dog', true, ''],
    ['context=urn:pet%23Pet.kind&code=duck', false, 'UNABLE_TO_INFER_CODESYSTEM'],
    ['context=urn:pet%23Pet.any&code=cat', false, 'Unable_to_resolve_system__value_set_has_multiple_matches'],
    ['context=urn:pet%23Pet.any&code=dog', true, ''],
    [`context=urn:pet%23Pet.any&code=cat&system=${cs('twin')}`, true, ''],
  ])('%s is %s', async (query, result, message) => {
    const answer = answerOf(await callByGet(valueSetValidateCodeOperation, elements, query))
    expect(answer.result).toBe(result)
    expect(answer.ids.join()).toContain(message)
  })

  it('is refused where the request wants nothing inferred', async () => {
    const query = 'context=urn:pet%23Pet.kind&code=dog&inferSystem=false'
    await expect(callByGet(valueSetValidateCodeOperation, elements, query)).rejects.toMatchObject({ code: 'parameter-required' })
  })
})

describe('a code without system', () => {
  const inferred = (set: string, code: string): Promise<Answer> =>
    inSet(set, { name: 'code', valueCode: code }, { name: 'inferSystem', valueBoolean: true })

  it('gets the one that the value set has it from', async () => {
    const { result, parameter } = await inferred('both', 'dog')
    expect([result, parameter('system')]).toEqual([true, cs('living')])
  })

  it('is bad when there is none, or more than one', async () => {
    expect((await inferred('both', 'cow')).ids).toContain('error UNABLE_TO_INFER_CODESYSTEM code')
    expect((await inferred('both', 'cat')).ids).toContain('error Unable_to_resolve_system__value_set_has_multiple_matches code')
  })
})
