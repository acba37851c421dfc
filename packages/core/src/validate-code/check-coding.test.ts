import { describe, expect, it } from 'vitest'
import { callByGet, codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import { answerOf, coding, inSet, NOT_IN } from '../../test/code-validation.js'
import { validateCode, validateCodeInSystem } from './index.js'
import { valueSetValidateCodeOperation } from '../operations/index.js'

describe('a coding', () => {
  it.each([
    ['is in the value set', 'all', { code: 'cat' }, true, []],
    ['with its display', 'all', { code: 'cat', display: 'Cat' }, true, []],
    ['with its display in other letters', 'all', { code: 'cat', display: 'CAT' }, true, []],
    ['with a designation as display', 'all', { code: 'cat', display: 'Katze' }, true, []],
    ['with the display of the value set', 'named', { code: 'cat', display: 'Puss' }, true, []],
    ['with the display of the code system where the value set has another', 'named', { code: 'cat', display: 'Cat' }, true, []],
    [
      'with a wrong display',
      'all',
      { code: 'cat', display: 'Dog' },
      false,
      ['error Display_Name_for__should_be_one_of__instead_of Coding.display'],
    ],
    [
      'without the blank in its display',
      'all',
      { code: 'duck', display: 'Duck,wild' },
      false,
      ['error Display_Name_WS_for__should_be_one_of__instead_of Coding.display'],
    ],
    [
      'with other blanks in its display',
      'all',
      { code: 'duck', display: 'Duck,  wild' },
      false,
      ['error Display_Name_WS_for__should_be_one_of__instead_of Coding.display'],
    ],
    ['is outside', 'cats', { code: 'dog' }, false, [NOT_IN]],
    [
      'is outside and has a wrong display',
      'cats',
      { code: 'dog', display: 'Cat' },
      false,
      ['error Display_Name_for__should_be_one_of__instead_of Coding.display', NOT_IN],
    ],
    ['is unknown', 'all', { code: 'cow' }, false, [NOT_IN, 'error Unknown_Code_in_Version Coding.code']],
    ['is named like an object member', 'all', { code: 'constructor' }, false, [NOT_IN, 'error Unknown_Code_in_Version Coding.code']],
    ['is inactive', 'all', { code: 'lion' }, true, ['warning INACTIVE_CONCEPT_FOUND Coding']],
    [
      'is inactive where that is not allowed',
      'active',
      { code: 'lion' },
      false,
      [NOT_IN, 'error STATUS_CODE_WARNING_CODE Coding.code', 'warning INACTIVE_CONCEPT_FOUND Coding'],
    ],
    ['is deprecated in the value set', 'deprecating', { code: 'dog' }, true, ['warning CONCEPT_DEPRECATED_IN_VALUESET Coding.code']],
    [
      'is of an unknown version',
      'all',
      { code: 'cat', version: '9' },
      false,
      ['error UNKNOWN_CODESYSTEM_VERSION Coding.system', 'warning VALUESET_VALUE_MISMATCH_DEFAULT Coding.version'],
    ],
    [
      'is of an unknown system',
      'all',
      { code: 'cat', system: 'http://example.org/else' },
      false,
      [NOT_IN, 'error UNKNOWN_CODESYSTEM Coding.system'],
    ],
    [
      'is of an unknown system that the value set uses',
      'unknown',
      { code: 'cat', system: cs('gone') },
      false,
      ['error UNKNOWN_CODESYSTEM Coding.system'],
    ],
    [
      'is of a relative system',
      'all',
      { code: 'cat', system: 'else' },
      false,
      [NOT_IN, 'error Terminology_TX_System_Relative Coding.system', 'error UNKNOWN_CODESYSTEM Coding.system'],
    ],
    [
      'has a value set as system',
      'all',
      { code: 'cat', system: vs('all') },
      false,
      [NOT_IN, 'error Terminology_TX_System_ValueSet2 Coding.system'],
    ],
    [
      'has a supplement as system',
      'all',
      { code: 'cat', system: cs('more') },
      false,
      ['error CODESYSTEM_CS_NO_SUPPLEMENT Coding.system', NOT_IN],
    ],
    ['is unknown in a fragment', 'fragment', { code: 'y', system: cs('fragment') }, true, ['warning UNKNOWN_CODE_IN_FRAGMENT Coding.code']],
    ['is written otherwise', 'folded', { code: 'aB', system: cs('folded') }, true, ['information CODE_CASE_DIFFERENCE Coding.code']],
    ['is in a value set with an unknown import', 'importing', { code: 'cat' }, false, ['error Unable_to_resolve_value_Set_']],
  ])('that %s', async (_, set, value, result, ids) => {
    const answer = await inSet(set, coding(value))
    expect(answer.ids).toEqual([...ids].sort())
    expect(answer.result).toBe(result)
  })

  it.each([
    ['lists it', { include: [{ system: cs('part'), concept: [{ code: 'x' }, { code: 'y' }] }] }, 'y', true],
    ['lists it in other letters', { include: [{ system: cs('part'), concept: [{ code: 'Y' }] }] }, 'y', true],
    ['lists another', { include: [{ system: cs('part'), concept: [{ code: 'x' }] }] }, 'y', false],
    ['excludes it', { include: [{ system: cs('part') }], exclude: [{ system: cs('part'), concept: [{ code: 'y' }] }] }, 'y', false],
    ['excludes another', { include: [{ system: cs('part') }], exclude: [{ system: cs('part'), concept: [{ code: 'x' }] }] }, 'y', true],
    ['filters', { include: [{ system: cs('part'), filter: [{ property: 'concept', op: 'is-a', value: 'x' }] }] }, 'y', false],
  ])('that a fragment does not have, where a value set %s', async (_, compose, code, expected) => {
    const part = codeSystem('part', [{ code: 'x' }], { content: 'fragment', caseSensitive: false })
    const ctx = contextOf(part, valueSet('of-part', compose))
    const { result, issues } = await validateCode(ctx, { url: vs('of-part'), coding: { system: cs('part'), code } })
    expect(result).toBe(expected)
    expect(issues.map(({ messageId }) => messageId)).toContain('UNKNOWN_CODE_IN_FRAGMENT')
  })

  it.each([
    ['of the value set', 'Pferd', undefined, true],
    ['of the code system, as nobody asked for a language', 'Horse', undefined, true],
    ['of neither', 'Cheval', undefined, false],
    ['of the code system, where German is asked for', 'Horse', 'de', false],
    ['of the value set, where German is asked for', 'Pferd', 'de', true],
  ])('of a German value set of an English code system, with the display %s', async (_, display, displayLanguage, expected) => {
    const designation = [{ language: 'fr', value: 'Cheval' }]
    const english = codeSystem('english', [{ code: 'horse', display: 'Horse', designation }], { language: 'en' })
    const german = valueSet(
      'german',
      { include: [{ system: cs('english'), concept: [{ code: 'horse', display: 'Pferd' }] }] },
      { language: 'de' },
    )
    const coding = { system: cs('english'), code: 'horse', display }
    const answer = await validateCode(contextOf(english, german), { url: vs('german'), coding, displayLanguage, explain: true })
    expect(answer).toMatchObject({ result: expected, display: 'Pferd' })
    const holds = answer.explanation?.steps.some(({ kind, outcome }) => kind === 'text' && outcome === 'holds')
    expect(holds).toBe(expected)
  })

  it.each([
    ['its code system is in it', 'en', 'Mare', true],
    ['nothing is asked for', undefined, 'Mare', true],
    ['its code system is in another language', 'de', 'Mare', false],
    ['its supplement is in it', 'de', 'Stute', true],
    ['its supplement is in another language', 'en', 'Stute', false],
    ['the display of its supplement is in it', 'de', 'Pferd', true],
    ['the display of its supplement is in another language', 'en', 'Pferd', false],
    ['its value set is in it', 'fr', 'Jument', true],
    ['its value set is in another language', 'de', 'Jument', false],
  ])('has a text that states no language, where %s', async (_, displayLanguage, display, expected) => {
    const english = codeSystem('english', [{ code: 'horse', display: 'Horse', designation: [{ value: 'Mare' }] }], { language: 'en' })
    const added = [{ code: 'horse', display: 'Pferd', designation: [{ value: 'Stute' }] }]
    const supplement = codeSystem('german', added, { content: 'supplement', supplements: cs('english'), language: 'de' })
    const listed = [{ code: 'horse', designation: [{ value: 'Jument' }] }]
    const own = valueSet('horses', { include: [{ system: cs('english'), concept: listed }] }, { language: 'fr' })
    const asked = { url: vs('horses'), displayLanguage, useSupplement: [cs('german')] }
    const { result } = await validateCode(contextOf(english, supplement, own), {
      ...asked,
      coding: { system: cs('english'), code: 'horse', display },
    })
    expect(result).toBe(expected)
  })

  it.each([
    ['states none', undefined, ['error CODE_SYSTEM_VERSION_NEEDED Coding.version']],
    ['states it', '1', []],
  ])('of a code system whose versions differ in meaning is right where it states its version: %s', async (_, version, expected) => {
    const ctx = contextOf(
      codeSystem('changing', [{ code: 'x' }], { version: '1', versionNeeded: true }),
      valueSet('changing', { include: [{ system: cs('changing') }] }),
    )
    const coding = { system: cs('changing'), code: 'x', version }
    const answers = [await validateCode(ctx, { url: vs('changing'), coding }), await validateCodeInSystem(ctx, { coding })]
    for (const { result, issues } of answers) {
      expect(result).toBe(expected.length === 0)
      expect(issues.map(({ severity, messageId, expression }) => `${severity} ${messageId} ${expression?.[0]}`)).toEqual(expected)
    }
  })

  it.each([
    ['fr', false],
    ['fr, *', true],
    ['fr, *;q=0.1', true],
    ['de;q=0.1, *;q=0.5', true],
    ['fr, de;q=0, *;q=0.5', false],
    ['fr, *;q=0', false],
    ['de;q=0, *', false],
    ['*', true],
  ])('has a German display, where %s is asked for', async (displayLanguage, expected) => {
    const { result } = await validateCode(contextOf(LIVING, valueSet('every', { include: [{ system: cs('living') }] })), {
      url: vs('every'),
      coding: { system: cs('living'), code: 'cat', display: 'Katze' },
      displayLanguage,
    })
    expect(result).toBe(expected)
  })

  it('is told with system, version, display and what it is normally written as', async () => {
    const { parameter } = await inSet('all', coding({ code: 'lion' }))
    expect(['code', 'system', 'version', 'display', 'inactive', 'status', 'normalized-code'].map(parameter)).toEqual([
      'lion',
      cs('living'),
      '1.0.0',
      'Lion',
      true,
      'retired',
      undefined,
    ])
    expect((await inSet('folded', coding({ code: 'AB', system: cs('folded') }))).parameter('normalized-code')).toBe('Ab')
  })

  it('is deprecated, which is told of the coding, as that a code is inactive', async () => {
    const old = codeSystem('old', [{ code: 'a', property: [{ code: 'status', valueCode: 'deprecated' }] }])
    const ctx = contextOf(old, valueSet('old', { include: [{ system: cs('old') }] }))
    const { issues } = await validateCode(ctx, { url: vs('old'), coding: { system: cs('old'), code: 'a' } })
    expect(issues.map(({ messageId, expression }) => [messageId, expression])).toEqual([['DEPRECATED_CONCEPT_FOUND', ['Coding']]])
  })

  it('is told with version and display where membership alone is asked for', async () => {
    const { parameter } = await inSet(
      'all',
      { name: 'valueset-membership-only', valueBoolean: true },
      coding({ code: 'cat', display: 'Dog' }),
    )
    expect([parameter('result'), parameter('version'), parameter('display'), parameter('message')]).toEqual([
      true,
      '1.0.0',
      'Cat',
      undefined,
    ])
  })

  it('is told in full however long it is, unless it does not exist', async () => {
    const long = 'x'.repeat(150)
    const content = contextOf(
      codeSystem('long', [{ code: long }, { code: 'y' }]),
      valueSet('short', { include: [{ system: cs('long'), concept: [{ code: 'y' }] }] }),
    )
    const told = async (code: string): Promise<unknown> =>
      answerOf(await callByGet(valueSetValidateCodeOperation, content, `url=${vs('short')}&system=${cs('long')}&code=${code}`)).parameter(
        'message',
      )
    expect(await told(long)).toContain(`#${long}'`)
    expect(await told(`${long}z`)).not.toContain(long)
  })

  it('of a version that the value set does not take is not a member', async () => {
    const content = contextOf(
      LIVING,
      { ...LIVING, version: '2.0.0' },
      valueSet('old', { include: [{ system: cs('living'), version: '1.0.0' }] }),
    )
    const isMember = async (version: string): Promise<unknown> => {
      const query = `url=${vs('old')}&system=${cs('living')}&systemVersion=${version}&code=cat&valueset-membership-only=true`
      return answerOf(await callByGet(valueSetValidateCodeOperation, content, query)).result
    }
    expect([await isMember('1.0.0'), await isMember('2.0.0')]).toEqual([true, false])
  })

  it('without system is not in the set', async () => {
    const { ids, parameter } = await inSet('all', { name: 'coding', valueCoding: { code: 'cat' } })
    expect(ids).toEqual([NOT_IN, 'warning Coding_has_no_system__cannot_validate Coding'])
    expect(parameter('message')).toContain('; ')
  })

  it.each([
    [
      { name: 'lenient-display-validation', valueBoolean: true },
      { code: 'cat', display: 'Dog' },
      true,
      ['warning Display_Name_for__should_be_one_of__instead_of Coding.display'],
    ],
    [
      { name: 'mode', valueString: 'lenient-display-validation' },
      { code: 'cat', display: 'Dog' },
      true,
      ['warning Display_Name_for__should_be_one_of__instead_of Coding.display'],
    ],
    [{ name: 'valueset-membership-only', valueBoolean: true }, { code: 'cat', display: 'Dog' }, true, []],
    [{ name: 'abstract', valueBoolean: false }, { code: 'animal' }, false, ['error ABSTRACT_CODE_NOT_ALLOWED Coding.code', NOT_IN]],
    [
      { name: 'activeOnly', valueBoolean: true },
      { code: 'lion' },
      false,
      [NOT_IN, 'error STATUS_CODE_WARNING_CODE Coding.code', 'warning INACTIVE_CONCEPT_FOUND Coding'],
    ],
    [
      { name: 'displayLanguage', valueCode: 'fr' },
      { code: 'cat', display: 'Cat' },
      false,
      ['error Display_Name_for__should_be_one_of__instead_of Coding.display'],
    ],
    [
      { name: 'displayLanguage', valueCode: 'it' },
      { code: 'cat', display: 'Cat' },
      true,
      ['information NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_OK Coding.display'],
    ],
    [
      { name: 'displayLanguage', valueCode: 'it' },
      { code: 'cat', display: 'Dog' },
      false,
      ['error NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_ERR Coding.display'],
    ],
  ])('under %j', async (option, value, result, ids) => {
    const answer = await inSet('all', option, coding(value))
    expect([answer.result, answer.ids]).toEqual([result, [...ids].sort()])
  })
})
