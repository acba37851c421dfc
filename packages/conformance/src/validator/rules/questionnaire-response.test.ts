import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { answered, BASE, form, KINDS, limit, question, response } from './questionnaire-forms.js'

describe('the items of a response', () => {
  const group = { linkId: 'g', type: 'group', item: [question('string', { required: true }), { linkId: 'r', type: 'string' }] }
  test.each<[string, readonly JsonObject[], readonly JsonObject[], readonly string[]]>([
    ['are in the questionnaire', [question('string')], [{ linkId: 'x' }], ['error link-id-unknown QuestionnaireResponse']],
    ['stand where the questionnaire has them', [group], [answered({ valueString: 'a' })], ['error link-id-place QuestionnaireResponse']],
    [
      'stand where the questionnaire has them, also in answers',
      [
        { linkId: 'p', type: 'string' },
        { linkId: 'o', type: 'string', item: [question('string')] },
      ],
      [{ linkId: 'p', answer: [{ valueString: 'a', item: [answered({ valueString: 'b' })] }] }],
      ['error link-id-place QuestionnaireResponse.item[0]'],
    ],
    [
      'stand in order',
      [
        { linkId: 'a', type: 'display' },
        { linkId: 'b', type: 'display' },
      ],
      [{ linkId: 'b' }, { linkId: 'a' }],
      ['error link-id-place QuestionnaireResponse'],
    ],
    ['are there when required', [group], [{ linkId: 'g', item: [] }], ['error answer-missing QuestionnaireResponse.item[0]']],
    [
      'have an answer when required',
      [question('string', { required: true })],
      [{ linkId: 'q' }],
      ['error answer-missing QuestionnaireResponse.item[0]'],
    ],
    ['are not asked for in a group that is absent', [group], [], []],
    [
      'have one answer unless they repeat',
      [question('string')],
      [answered({ valueString: 'a' }, { valueString: 'b' })],
      ['error answer-count QuestionnaireResponse.item[0]'],
    ],
    [
      'have not too many answers',
      [question('string', { repeats: true, ...limit(`${BASE}questionnaire-maxOccurs`, { valueInteger: 1 }) })],
      [answered({ valueString: 'a' }, { valueString: 'b' })],
      ['error answer-count QuestionnaireResponse.item[0]'],
    ],
    [
      'occur once unless they repeat',
      [group],
      [
        { linkId: 'g', item: [answered({ valueString: 'a' })] },
        { linkId: 'g', item: [answered({ valueString: 'a' })] },
      ],
      ['error item-repeated QuestionnaireResponse'],
    ],
    [
      'that are groups have no answers',
      [{ linkId: 'q', type: 'group' }],
      [answered({ valueString: 'a' })],
      ['error item-structure QuestionnaireResponse.item[0]'],
    ],
    [
      'that are displays have no answers',
      [{ linkId: 'q', type: 'display' }],
      [answered({ valueString: 'a' })],
      ['error item-structure QuestionnaireResponse.item[0]'],
    ],
    [
      'that exclude others stand alone',
      [
        question('choice', {
          repeats: true,
          answerOption: [
            { valueString: 'none', ...limit(`${BASE}questionnaire-optionExclusive`, { valueBoolean: true }) },
            { valueString: 'a' },
          ],
        }),
      ],
      [answered({ valueString: 'none' }, { valueString: 'a' })],
      ['error answer-option QuestionnaireResponse.item[0].answer[0]'],
    ],
    [
      'say at each exclusive answer that there are others',
      [
        question('choice', {
          repeats: true,
          answerOption: [
            { valueString: 'none', ...limit(`${BASE}questionnaire-optionExclusive`, { valueBoolean: true }) },
            { valueString: 'nil', ...limit(`${BASE}questionnaire-optionExclusive`, { valueBoolean: true }) },
            { valueString: 'a' },
          ],
        }),
      ],
      [answered({ valueString: 'a' }, { valueString: 'none' }, { valueString: 'nil' })],
      ['error answer-option QuestionnaireResponse.item[0].answer[1]', 'error answer-option QuestionnaireResponse.item[0].answer[2]'],
    ],
    [
      'have at least so many answers',
      [question('string', { repeats: true, ...limit(`${BASE}questionnaire-minOccurs`, { valueInteger: 2 }) })],
      [{ linkId: 'q' }],
      ['error answer-count QuestionnaireResponse.item[0]'],
    ],
    ['have a linkId', [question('string')], [{ text: 'x' }], ['error link-id-unknown QuestionnaireResponse']],
    ['have a type', [{ linkId: 'q' }], [answered({ valueString: 'a' })], ['fatal item-structure QuestionnaireResponse.item[0]']],
    [
      'are not of the abstract type',
      [question('question')],
      [answered({ valueString: 'a' })],
      ['error item-structure QuestionnaireResponse.item[0]'],
    ],
    ['of the abstract type may be empty', [question('question')], [{ linkId: 'q' }], []],
    [
      'within an answer are checked',
      [question('boolean', { item: [{ linkId: 'n', type: 'integer' }] })],
      [answered({ valueBoolean: true, item: [{ linkId: 'n', answer: [{ valueString: 'x' }] }] })],
      ['error answer-type QuestionnaireResponse.item[0].answer[0].item[0].answer[0].value.ofType(string)'],
    ],
    [
      'named as members of objects are just unknown',
      [question('string')],
      [{ linkId: 'constructor' }],
      ['error link-id-unknown QuestionnaireResponse'],
    ],
    ['have the text of the questionnaire', [question('string', { text: 'Name?' })], [{ linkId: 'q', text: 'Name?' }], []],
    [
      'have no other text',
      [question('string', { text: 'Name?' })],
      [{ linkId: 'q', text: 'Age?' }],
      ['error item-text QuestionnaireResponse.item[0]'],
    ],
    [
      'have items when they are a required group',
      [question('group', { required: true, item: [{ linkId: 'r', type: 'string' }] })],
      [{ linkId: 'q' }],
      ['error answer-missing QuestionnaireResponse.item[0]'],
    ],
  ])('%s', async (_, items, given, expected) => {
    expect(await findingsOf(response(given), [form(items)], KINDS)).toEqual(expected)
  })

  test('may be missing while the response is being filled in', async () => {
    const open = response([{ linkId: 'q' }], { status: 'in-progress' })
    expect(await findingsOf(open, [form([question('string', { required: true })])], KINDS)).toEqual([
      'warning answer-missing QuestionnaireResponse.item[0]',
    ])
  })
})

describe('a condition', () => {
  const conditional = (enableWhen: JsonObject): readonly JsonObject[] => [
    { linkId: 'c', type: 'integer' },
    { linkId: 'q', type: 'string', enableWhen: [{ question: 'c', ...enableWhen }] },
  ]
  const given = (...values: readonly number[]): readonly JsonObject[] => [
    { linkId: 'c', answer: values.map((valueInteger) => ({ valueInteger })) },
    answered({ valueString: 'a' }),
  ]
  const disabled = ['error item-disabled QuestionnaireResponse.item[1]']
  test.each<[JsonObject, number, readonly string[]]>([
    [{ operator: '=', answerInteger: 1 }, 1, []],
    [{ operator: '=', answerInteger: 1 }, 2, disabled],
    [{ operator: '!=', answerInteger: 1 }, 2, []],
    [{ operator: '!=', answerInteger: 1 }, 1, disabled],
    [{ operator: '>', answerInteger: 1 }, 2, []],
    [{ operator: '>', answerInteger: 1 }, 1, disabled],
    [{ operator: '>=', answerInteger: 1 }, 1, []],
    [{ operator: '<', answerInteger: 1 }, 0, []],
    [{ operator: '<=', answerInteger: 1 }, 2, disabled],
    [{ operator: 'exists', answerBoolean: true }, 1, []],
    [{ operator: 'exists', answerBoolean: false }, 1, disabled],
  ])('%o on %d', async (condition, value, expected) => {
    expect(await findingsOf(response(given(value)), [form(conditional(condition))], KINDS)).toEqual(expected)
  })

  test.each<[enableBehavior: string | undefined, expected: readonly string[]]>([
    ['all', disabled],
    ['any', []],
    [undefined, []],
  ])('beside another is joined by %s', async (enableBehavior, expected) => {
    const enableWhen = [1, 2].map((answerInteger) => ({ question: 'c', operator: '=', answerInteger }))
    const items = [
      { linkId: 'c', type: 'integer' },
      { linkId: 'q', type: 'string', enableWhen, enableBehavior },
    ]
    expect(await findingsOf(response(given(1)), [form(items)], KINDS)).toEqual(expected)
  })

  test.each<[answerCoding: JsonObject, expected: readonly string[]]>([
    [{ code: 'a' }, []],
    [{ code: 'b' }, disabled],
    [{ system: 'http://a.org/s', code: 'a', display: 'other' }, []],
    [{ system: 'http://a.org/t', code: 'a' }, disabled],
  ])('asks for the members of a coding that it has: %o', async (answerCoding, expected) => {
    const items = [
      { linkId: 'c', type: 'open-choice' },
      { linkId: 'q', type: 'string', enableWhen: [{ question: 'c', operator: '=', answerCoding }] },
    ]
    const chosen = [{ linkId: 'c', answer: [{ valueCoding: { system: 'http://a.org/s', code: 'a' } }] }, answered({ valueString: 'a' })]
    expect(await findingsOf(response(chosen), [form(items)], /^item-disabled/)).toEqual(expected)
  })

  test('looks at the group that it stands in', async () => {
    const items = [{ linkId: 'g', type: 'group', repeats: true, item: conditional({ operator: '=', answerInteger: 1 }) }]
    const groups = [
      { linkId: 'g', item: given(1) },
      { linkId: 'g', item: given(2) },
    ]
    expect(await findingsOf(response(groups), [form(items)], KINDS)).toEqual(['error item-disabled QuestionnaireResponse.item[1].item[1]'])
  })

  test('looks at the answer that it follows on', async () => {
    const within = { linkId: 'i', type: 'string', required: true, enableWhen: [{ question: 'q', operator: '=', answerBoolean: true }] }
    const items = [question('boolean', { item: [within] })]
    expect(await findingsOf(response([answered({ valueBoolean: true })]), [form(items)], KINDS)).toEqual([
      'error answer-missing QuestionnaireResponse.item[0]',
    ])
    expect(await findingsOf(response([answered({ valueBoolean: false })]), [form(items)], KINDS)).toEqual([])
  })

  test.each<[JsonObject, readonly string[]]>([
    [{ operator: '=', answerInteger: 1 }, ['error item-disabled QuestionnaireResponse.item[0]']],
    [{ operator: '!=', answerInteger: 1 }, ['error item-disabled QuestionnaireResponse.item[0]']],
    [{ operator: 'exists', answerBoolean: true }, ['error item-disabled QuestionnaireResponse.item[0]']],
    [{ operator: 'exists', answerBoolean: false }, []],
  ])('about a question that is not there is about one without answers: %o', async (condition, expected) => {
    const [, conditioned] = conditional(condition)
    expect(await findingsOf(response([answered({ valueString: 'a' })]), [form([conditioned ?? {}])], KINDS)).toEqual(expected)
  })

  test('that does not hold asks for nothing', async () => {
    const items = [
      { linkId: 'c', type: 'integer' },
      { linkId: 'q', type: 'string', required: true, enableWhen: [{ question: 'c', operator: '=', answerInteger: 1 }] },
    ]
    expect(await findingsOf(response([{ linkId: 'c', answer: [{ valueInteger: 2 }] }]), [form(items)], KINDS)).toEqual([])
  })
})

describe('the questionnaire of a response', () => {
  test('that is not known leaves the answers unchecked', async () => {
    expect(await findingsOf(response([answered({ valueString: 'a' })]), [], KINDS)).toEqual([
      'information questionnaire-unknown QuestionnaireResponse',
    ])
  })

  test('may be contained, with its value sets', async () => {
    const contained = [
      { ...form([question('choice', { answerValueSet: '#v' })]), id: 'f' },
      {
        resourceType: 'ValueSet',
        id: 'v',
        status: 'active',
        compose: { include: [{ system: 'http://hl7.org/fhir/administrative-gender', concept: [{ code: 'male' }] }] },
      },
    ]
    const female = { valueCoding: { system: 'http://hl7.org/fhir/administrative-gender', code: 'female' } }
    expect(await findingsOf(response([answered(female)], { questionnaire: '#f', contained }), [], KINDS)).toEqual([
      'error answer-code QuestionnaireResponse.item[0].answer[0]',
    ])
  })

  test('is in use for a time', async () => {
    const old = form([question('string')], { effectivePeriod: { start: '2020', end: '2021' } })
    expect(await findingsOf(response([], { authored: '2022-01-01' }), [old], KINDS)).toEqual([
      'warning questionnaire-period QuestionnaireResponse.authored',
    ])
    expect(await findingsOf(response([], { authored: '2021-06-01' }), [old], KINDS)).toEqual([])
  })
})

describe('the items in an answer', () => {
  const inner = (linkId: string, members: JsonObject = {}): JsonObject => ({ linkId, type: 'string', ...members })
  const asked = form([question('string', { item: [inner('a'), inner('b', { required: true })] })])
  const one = (linkId: string): JsonObject => ({ linkId, answer: [{ valueString: 'x' }] })
  test.each<[string, readonly JsonObject[], string]>([
    ['are in the questionnaire', [one('b'), one('x')], 'link-id-unknown'],
    ['have a linkId', [one('b'), { answer: [{ valueString: 'x' }] }], 'link-id-unknown'],
    ['stand in order', [one('b'), one('a')], 'link-id-place'],
    ['occur once', [one('b'), one('b')], 'item-repeated'],
    ['are there when required', [one('a')], 'answer-missing'],
  ])('%s, else it is said of the item that is answered', async (_, item, kind) => {
    expect(await findingsOf(response([answered({ valueString: 'y', item })]), [asked], KINDS)).toEqual([
      `error ${kind} QuestionnaireResponse.item[0]`,
    ])
  })
})
