import { describe, expect, it } from 'vitest'
import { call, callByGet, codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import { createContext } from '../context/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import { batchValidateCodeOperation, codeSystemValidateCodeOperation, valueSetValidateCodeOperation } from './index.js'

const ALL = valueSet('all', { include: [{ system: cs('living') }] })
const CATS = valueSet('cats', { include: [{ system: cs('living'), filter: [{ property: 'concept', op: 'is-a', value: 'cat' }] }] })
const ACTIVE = valueSet('active', { inactive: false, include: [{ system: cs('living') }] })
const DEPRECATING = valueSet('deprecating', {
  include: [
    {
      system: cs('living'),
      concept: [{ code: 'dog', extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/valueset-deprecated', valueBoolean: true }] }],
    },
  ],
})
const IMPORTING = valueSet('importing', { include: [{ valueSet: [vs('gone')] }] })
const UNKNOWN = valueSet('unknown', { include: [{ system: cs('gone') }] })
const SUPPLEMENT = { resourceType: 'CodeSystem', url: cs('more'), status: 'active', content: 'supplement', supplements: cs('living') }
const FRAGMENT = codeSystem('fragment', [{ code: 'x' }], { content: 'fragment', version: '1' })
const FOLDED = codeSystem('folded', [{ code: 'Ab', display: 'AB' }], { caseSensitive: false })
const ctx = contextOf(
  LIVING,
  ALL,
  CATS,
  ACTIVE,
  DEPRECATING,
  IMPORTING,
  UNKNOWN,
  SUPPLEMENT,
  FRAGMENT,
  FOLDED,
  valueSet('named', { include: [{ system: cs('living'), concept: [{ code: 'cat', display: 'Puss' }] }] }),
  valueSet('fragment', { include: [{ system: cs('fragment') }] }),
  valueSet('folded', { include: [{ system: cs('folded') }] }),
  codeSystem('twin', [{ code: 'cat' }]),
  valueSet('both', { include: [{ system: cs('living') }, { system: cs('twin') }] }),
)

interface Answer {
  readonly result: unknown
  readonly ids: readonly string[]
  readonly parameter: (name: string) => unknown
}

function placeOf({ expression }: JsonObject): string {
  return Array.isArray(expression) ? expression.join() : ''
}

function answerOf(resource: JsonObject): Answer {
  const parameters = objectsAt(resource, 'parameter')
  const find = (name: string): JsonObject | undefined => parameters.find((one) => one['name'] === name)
  const value = (name: string): unknown => Object.entries(find(name) ?? {}).find(([key]) => key.startsWith('value'))?.[1]
  const issues = objectsAt(objectAt(find('issues'), 'resource'), 'issue')
  const ids = issues.map(
    (issue) => `${stringAt(issue, 'severity')} ${stringAt(objectsAt(issue, 'extension')[0], 'valueString')} ${placeOf(issue)}`,
  )
  return { result: value('result'), ids: ids.map((id) => id.trim()).sort(), parameter: value }
}

const inSet = async (set: string, ...parameter: readonly JsonObject[]): Promise<Answer> =>
  answerOf(await call(valueSetValidateCodeOperation, ctx, [{ name: 'url', valueUri: vs(set) }, ...parameter]))
const coding = (value: JsonObject): JsonObject => ({ name: 'coding', valueCoding: { system: cs('living'), ...value } })
const NOT_IN = 'error None_of_the_provided_codes_are_in_the_value_set_one Coding.code'

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

describe('a code of a system of which a value set takes several versions', () => {
  const version = (number: string, concept: readonly JsonObject[]): JsonObject => ({ ...codeSystem('tool', concept), version: number })
  const include = (number?: string, ...codes: readonly string[]): JsonObject => ({
    system: cs('tool'),
    ...(number !== undefined && { version: number }),
    ...(codes.length > 0 && { concept: codes.map((code) => ({ code })) }),
  })
  const tools = contextOf(
    version('1.0.0', [{ code: 'saw', display: 'Saw' }, { code: 'axe', display: 'Hatchet' }, { code: 'old' }]),
    version('2.0.0', [{ code: 'saw', display: 'Saw' }, { code: 'axe', display: 'Axe' }, { code: 'new' }]),
    valueSet('newest', { include: [include('1.0.0'), include()] }),
    valueSet('lists', { include: [include('1.0.0', 'saw', 'old'), include('2.0.0', 'axe')] }),
    valueSet('less', { include: [include('1.0.0'), include('2.0.0')], exclude: [include('2.0.0', 'axe')] }),
  )

  it.each([
    ['is of the newest version without its own', 'newest', { code: 'axe' }, [true, '2.0.0']],
    ['is of its own version', 'newest', { code: 'axe', version: '1.0.0' }, [true, '1.0.0']],
    ['is of its own version, which an include without version comes to', 'newest', { code: 'axe', version: '2.0.0' }, [true, '2.0.0']],
    ['is of the version with its display', 'newest', { code: 'axe', display: 'Hatchet' }, [true, '1.0.0']],
    ['is of the version that has it', 'newest', { code: 'old' }, [true, '1.0.0']],
    ['is not in a version that has not got it', 'newest', { code: 'new', version: '1.0.0' }, [false, '1.0.0']],
    ['is of the version in which it is listed', 'lists', { code: 'saw' }, [true, '1.0.0']],
    ['has the wrong display for the version in which it is listed', 'lists', { code: 'axe', display: 'Hatchet' }, [false, '2.0.0']],
    ['is of the version in which it is not excluded', 'less', { code: 'axe' }, [true, '1.0.0']],
  ])('%s', async (_, set, value, expected) => {
    const question = [
      { name: 'url', valueUri: vs(set) },
      { name: 'coding', valueCoding: { system: cs('tool'), ...value } },
    ]
    const { parameter } = answerOf(await call(valueSetValidateCodeOperation, tools, question))
    expect(['result', 'version'].map(parameter)).toEqual(expected)
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
    [`url=${vs('all')}&code=cat&system=x&useSupplement=gone`, 'content-not-found'],
  ])('%j are refused with %s', async (query, code) => {
    await expect(callByGet(valueSetValidateCodeOperation, ctx, query)).rejects.toMatchObject({ code })
  })

  it('may hold one code only', async () => {
    const both = [{ name: 'url', valueUri: vs('all') }, { name: 'code', valueCode: 'cat' }, coding({ code: 'cat' })]
    await expect(call(valueSetValidateCodeOperation, ctx, both)).rejects.toMatchObject({ code: 'source-ambiguous' })
  })

  it('EX-06: a diamond of excludes and imports is asked about once', async () => {
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

  it('EX-06: a value set that two includes import at each of 60 levels is asked about once for a code that is outside', async () => {
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

describe('a code of a code system', () => {
  const inSystem = async (query: string): Promise<Answer> => answerOf(await callByGet(codeSystemValidateCodeOperation, ctx, query))

  it.each([
    [`url=${cs('living')}&code=cat`, true, []],
    [`url=${cs('living')}&code=cow`, false, ['error Unknown_Code_in_Version code']],
    [`url=${cs('twin')}&code=cow`, false, ['error Unknown_Code_in code']],
    [`url=${cs('living')}&version=9&code=cat`, false, ['error UNKNOWN_CODESYSTEM_VERSION system']],
    [`url=${cs('gone')}&code=cat`, false, ['error UNKNOWN_CODESYSTEM system']],
    [`url=${cs('gone')}&version=1&code=cat`, false, ['error UNKNOWN_CODESYSTEM_VERSION_NONE system']],
    [`url=${cs('more')}&code=cat`, false, ['error CODESYSTEM_CS_NO_SUPPLEMENT system']],
    [`url=${cs('living')}&code=lion`, true, ['warning INACTIVE_CONCEPT_FOUND code']],
    [`url=${cs('living')}&code=animal&abstract=false`, false, ['error ABSTRACT_CODE_NOT_ALLOWED code']],
  ])('%s is %s', async (query, result, ids) => {
    const answer = await inSystem(query)
    expect([answer.result, answer.ids]).toEqual([result, ids])
  })

  it('of which the coding names none is not valid, as nothing gives the code a meaning', async () => {
    const answer = answerOf(await call(codeSystemValidateCodeOperation, ctx, [{ name: 'coding', valueCoding: { code: 'cat' } }]))
    expect([answer.result, answer.ids]).toEqual([false, ['warning Coding_has_no_system__cannot_validate Coding']])
    await expect(inSystem('code=cat')).rejects.toMatchObject({ code: 'parameter-required' })
  })

  it('that is a draft is told to be one', async () => {
    const draft = { ...codeSystem('draft', [{ code: 'a' }]), status: 'draft' }
    const answer = answerOf(await callByGet(codeSystemValidateCodeOperation, contextOf(draft), `url=${cs('draft')}&code=a`))
    expect([answer.result, answer.ids]).toEqual([true, ['information MSG_DRAFT']])
  })
})

describe('a batch', () => {
  it('answers each validation in its place, also one that cannot be done', async () => {
    const one = (...parameter: readonly JsonObject[]): JsonObject => ({
      name: 'validation',
      resource: { resourceType: 'Parameters', parameter },
    })
    const resource = await call(batchValidateCodeOperation, ctx, [
      { name: 'url', valueUri: vs('cats') },
      one(coding({ code: 'cat' })),
      one(coding({ code: 'dog' })),
      one({ name: 'url', valueUri: vs('gone') }, coding({ code: 'dog' })),
      one(),
    ])
    const answers = objectsAt(resource, 'parameter').map((one) => objectAt(one, 'resource'))
    expect(answers.map((answer) => answer?.['resourceType'])).toEqual(['Parameters', 'Parameters', 'OperationOutcome', 'OperationOutcome'])
    expect(answers.slice(0, 2).map((answer) => answer && answerOf(answer).result)).toEqual([true, false])
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
  })

  it.each<JsonObject>([
    { name: 'url', valueUri: cs('living') },
    { name: 'codeSystem', resource: versioned('2', 'new') },
  ])('goes with no other one: $name', async (other) => {
    await expect(answer('old', [other], 'v1')).rejects.toMatchObject({ code: 'parameter-invalid' })
  })
})
