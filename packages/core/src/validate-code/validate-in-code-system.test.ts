import { describe, expect, it } from 'vitest'
import { call, callByGet, codeSystem, contextOf, cs } from '../../test/terminology-content.js'
import { answerOf, content, type Answer } from '../../test/code-validation.js'
import { createContext } from '../context/index.js'
import { objectsAt, type JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import { codeSystemValidateCodeOperation } from '../operations/index.js'

describe('a code of a code system', () => {
  const inSystem = async (query: string): Promise<Answer> => answerOf(await callByGet(codeSystemValidateCodeOperation, content, query))

  it.each([
    [`url=${cs('living')}&code=cat`, true, []],
    [`url=${cs('living')}&code=cow`, false, ['error Unknown_Code_in_Version code']],
    [`url=${cs('twin')}&code=cow`, false, ['error Unknown_Code_in code']],
    [`url=${cs('living')}&version=9&code=cat`, false, ['error UNKNOWN_CODESYSTEM_VERSION system']],
    [`url=${cs('living')}&code=cat&system-version=${cs('living')}|9`, false, ['error UNKNOWN_CODESYSTEM_VERSION system']],
    [`url=${cs('living')}&code=cat&force-system-version=${cs('living')}|1.x.x`, true, []],
    [`url=${cs('living')}&version=1.0.0&code=cat&check-system-version=${cs('living')}|2`, false, ['error VALUESET_VERSION_CHECK version']],
    [`url=${cs('living')}&version=1.0.0&code=cat&check-system-version=${cs('living')}|1.x.x`, true, []],
    [`url=${cs('gone')}&code=cat`, false, ['error UNKNOWN_CODESYSTEM system']],
    [`url=${cs('gone')}&version=1&code=cat`, false, ['error UNKNOWN_CODESYSTEM_VERSION_NONE system']],
    [`url=${cs('more')}&code=cat`, false, ['error CODESYSTEM_CS_NO_SUPPLEMENT system']],
    [`url=${cs('living')}&code=lion`, true, ['warning INACTIVE_CONCEPT_FOUND code']],
    [`url=${cs('living')}&code=animal&abstract=false`, false, ['error ABSTRACT_CODE_NOT_ALLOWED code']],
    [
      `url=${cs('living')}&code=lion&activeOnly=true`,
      false,
      ['error STATUS_CODE_WARNING_CODE code', 'warning INACTIVE_CONCEPT_FOUND code'],
    ],
    [`url=${cs('living')}&code=cat&activeOnly=true`, true, []],
  ])('%s is %s', async (query, result, ids) => {
    const answer = await inSystem(query)
    expect([answer.result, answer.ids]).toEqual([result, ids])
  })

  it('of a version that the url names must not be asked of another one', async () => {
    await expect(inSystem(`url=${cs('living')}|1.0.0&version=9&code=cat`)).rejects.toMatchObject({
      code: 'parameter-invalid',
      expression: ['version'],
    })
    expect(await inSystem(`url=${cs('living')}|1.0.0&version=1.0.0&code=cat`)).toMatchObject({ result: true })
  })

  it('of which the coding names none is not valid, as nothing gives the code a meaning', async () => {
    const answer = answerOf(await call(codeSystemValidateCodeOperation, content, [{ name: 'coding', valueCoding: { code: 'cat' } }]))
    expect([answer.result, answer.ids]).toEqual([false, ['warning Coding_has_no_system__cannot_validate Coding']])
    await expect(inSystem('code=cat')).rejects.toMatchObject({ code: 'parameter-required' })
  })

  it('that is refused as inactive is said to be inactive, also in a codeableConcept', async () => {
    const lion = { system: cs('living'), code: 'lion' }
    for (const given of [
      { name: 'coding', valueCoding: lion },
      { name: 'codeableConcept', valueCodeableConcept: { coding: [lion] } },
    ]) {
      const parameters = [given, { name: 'activeOnly', valueBoolean: true }]
      const { result, parameter } = answerOf(await call(codeSystemValidateCodeOperation, content, parameters))
      expect([result, parameter('inactive')]).toEqual([false, true])
    }
  })

  it.each([
    ['a', true, ['information MSG_DRAFT']],
    ['b', false, ['error Unknown_Code_in code', 'information MSG_DRAFT']],
  ])('that is a draft is told to be one, whether or not it has the code: %s', async (code, result, ids) => {
    const draft = { ...codeSystem('draft', [{ code: 'a' }]), status: 'draft' }
    const answer = answerOf(await callByGet(codeSystemValidateCodeOperation, contextOf(draft), `url=${cs('draft')}&code=${code}`))
    expect([answer.result, answer.ids]).toEqual([result, ids])
  })
})

describe('a coding beside the code system that is asked', () => {
  const OTHER = 'CODING_OF_OTHER_SYSTEM'
  const living = { system: cs('living'), code: 'cat' }
  const twin = { system: cs('twin'), code: 'cat' }
  const url = { name: 'url', valueUri: cs('living') }
  const v1 = { name: 'version', valueString: '1' }

  it.each<[string, readonly JsonObject[], boolean, readonly string[]]>([
    ['is of that system', [url, { name: 'coding', valueCoding: living }], true, []],
    ['is of another, which has the same code', [url, { name: 'coding', valueCoding: twin }], false, [`error ${OTHER} Coding.system`]],
    ['is of a version of it', [url, { name: 'coding', valueCoding: { ...living, version: '1.0.0' } }], true, []],
    [
      'is of another version',
      [url, v1, { name: 'coding', valueCoding: { ...living, version: '2' } }],
      false,
      [`error ${OTHER} Coding.version`],
    ],
    [
      'is one of several, of which one is of the system',
      [url, { name: 'codeableConcept', valueCodeableConcept: { coding: [twin, living] } }],
      true,
      [`information ${OTHER} CodeableConcept.coding[0].system`],
    ],
    [
      'is one of several, of which none is of the system',
      [url, { name: 'codeableConcept', valueCodeableConcept: { coding: [twin] } }],
      false,
      [`error ${OTHER} CodeableConcept.coding[0].system`],
    ],
  ])('%s', async (_case, parameters, result, ids) => {
    const answer = answerOf(await call(codeSystemValidateCodeOperation, content, parameters))
    expect([answer.result, answer.ids]).toEqual([result, ids])
  })
})

describe('a code system that is given itself', () => {
  const versioned = (version: string, code: string): JsonObject => ({
    ...codeSystem('versioned', [{ code }], { version }),
    id: `v${version}`,
  })
  const stored = createContext({ storage: memoryStorage([versioned('1', 'old'), versioned('2', 'new')]) })
  const answer = async (code: string, more: readonly JsonObject[], id?: string): Promise<unknown> => {
    const { parameter } = await call(codeSystemValidateCodeOperation, stored, [{ name: 'code', valueCode: code }, ...more], { id })
    return objectsAt({ parameter }, 'parameter').find(({ name }) => name === 'result')?.['valueBoolean']
  }

  it('is asked in its own version, whatever newer ones there are', async () => {
    expect([await answer('old', [], 'v1'), await answer('new', [], 'v1')]).toEqual([true, false])
    const inline = [{ name: 'codeSystem', resource: versioned('1', 'old') }]
    expect([await answer('old', inline), await answer('new', inline)]).toEqual([true, false])
    expect(await answer('new', [{ name: 'url', valueUri: cs('versioned') }], 'v2')).toBe(true)
    const { version: _, ...unversioned } = versioned('', 'other')
    const given = [{ name: 'codeSystem', resource: unversioned }]
    expect([await answer('other', given), await answer('new', given)]).toEqual([true, false])
  })

  it.each<JsonObject>([
    { name: 'url', valueUri: cs('living') },
    { name: 'codeSystem', resource: versioned('2', 'new') },
  ])('goes with no other one: $name', async (other) => {
    await expect(answer('old', [other], 'v1')).rejects.toMatchObject({ code: 'parameter-invalid' })
  })
})
