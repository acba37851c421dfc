import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/json'
import { findingsOf } from './findings-of.js'

const FORM = 'http://example.org/Questionnaire/form'
const BASE = 'http://hl7.org/fhir/StructureDefinition/'
const SDC = 'http://hl7.org/fhir/uv/sdc/StructureDefinition/'
const KINDS = /^(questionnaire-|link-id-|item-|answer-)/

const form = (items: readonly JsonObject[], members: JsonObject = {}): JsonObject => ({
  resourceType: 'Questionnaire',
  url: FORM,
  status: 'active',
  item: items,
  ...members,
})
const response = (items: readonly JsonObject[], members: JsonObject = {}): JsonObject => ({
  resourceType: 'QuestionnaireResponse',
  questionnaire: FORM,
  status: 'completed',
  item: items,
  ...members,
})
const question = (type: string, members: JsonObject = {}): JsonObject => ({ linkId: 'q', type, ...members })
const answered = (...answers: readonly JsonObject[]): JsonObject => ({ linkId: 'q', answer: answers })
const limit = (url: string, value: JsonObject): JsonObject => ({ extension: [{ url, ...value }] })
const kg = { unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' }
const gram = { unit: 'g', system: 'http://unitsofmeasure.org', code: 'g' }
const metre = { unit: 'm', system: 'http://unitsofmeasure.org', code: 'm' }

describe('the answer to a question', () => {
  const at = 'QuestionnaireResponse.item[0].answer[0]'
  test.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['has its type', question('integer'), { valueInteger: 1 }, []],
    ['has not another type', question('integer'), { valueString: '1' }, [`error answer-type ${at}.value.ofType(string)`]],
    ['to a url is a uri', question('url'), { valueUri: 'http://a.org' }, []],
    [
      'is not below the least value',
      question('integer', limit(`${BASE}minValue`, { valueInteger: 5 })),
      { valueInteger: 4 },
      [`error answer-limit ${at}.value.ofType(integer)`],
    ],
    ['may be the least value', question('integer', limit(`${BASE}minValue`, { valueInteger: 5 })), { valueInteger: 5 }, []],
    [
      'is compared as far as both dates go',
      question('date', limit(`${BASE}maxValue`, { valueDate: '2022-03' })),
      { valueDate: '2022' },
      [],
    ],
    [
      'is not after the greatest date',
      question('date', limit(`${BASE}maxValue`, { valueDate: '2022-03' })),
      { valueDate: '2022-04-01' },
      [`error answer-limit ${at}.value.ofType(date)`],
    ],
    [
      'is not longer than allowed',
      question('string', { maxLength: 2 }),
      { valueString: 'abc' },
      [`error answer-limit ${at}.value.ofType(string)`],
    ],
    [
      'has the form that is asked for',
      question('string', limit(`${BASE}regex`, { valueString: '[a-z]+' })),
      { valueString: 'a1' },
      [`error answer-limit ${at}.value.ofType(string)`],
    ],
    [
      'is not judged by a pattern that cannot be read',
      question('string', limit(`${BASE}regex`, { valueString: '(' })),
      { valueString: 'a' },
      [],
    ],
    [
      'has not too many decimal places',
      question('decimal', limit(`${BASE}maxDecimalPlaces`, { valueInteger: 1 })),
      { valueDecimal: 1.25 },
      [`error answer-limit ${at}.value.ofType(decimal)`],
    ],
    [
      'is compared in another unit',
      question('quantity', limit(`${SDC}sdc-questionnaire-minQuantity`, { valueQuantity: { value: 1, ...kg } })),
      { valueQuantity: { value: 999, ...gram } },
      [`error answer-limit ${at}.value.ofType(Quantity)`],
    ],
    [
      'may be the same in another unit',
      question('quantity', limit(`${SDC}sdc-questionnaire-minQuantity`, { valueQuantity: { value: 1, ...kg } })),
      { valueQuantity: { value: 1000, ...gram } },
      [],
    ],
    [
      'is of the kind that is asked for',
      question('quantity', limit(`${SDC}sdc-questionnaire-maxQuantity`, { valueQuantity: { value: 1, ...kg } })),
      { valueQuantity: { value: 1, ...metre } },
      [`error answer-limit ${at}.value.ofType(Quantity)`],
    ],
    [
      'has one of the units',
      question('quantity', limit(`${BASE}questionnaire-unitOption`, { valueCoding: { system: 'http://unitsofmeasure.org', code: 'kg' } })),
      { valueQuantity: { value: 1, ...gram } },
      [`error answer-unit ${at}.value.ofType(Quantity)`],
    ],
    [
      'has one of the content types',
      question('attachment', limit(`${BASE}mimeType`, { valueCode: 'image/png' })),
      { valueAttachment: { contentType: 'image/gif', url: 'http://a.org/a' } },
      [`error answer-attachment ${at}`],
    ],
    [
      'is not larger than allowed',
      question('attachment', limit(`${BASE}maxSize`, { valueDecimal: 2 })),
      { valueAttachment: { contentType: 'image/png', data: 'AAAA' } },
      [`error answer-attachment ${at}`],
    ],
    [
      'refers to an allowed type',
      question('reference', limit(`${BASE}questionnaire-referenceResource`, { valueCode: 'Patient' })),
      { valueReference: { reference: 'Group/1' } },
      [`error answer-target ${at}.value.ofType(Reference)`],
    ],
    [
      'does not refer to what is not a type of resource',
      question('reference'),
      { valueReference: { reference: 'http://a.org/Chicken/1' } },
      [`error answer-target ${at}.value.ofType(Reference)`],
    ],
    ['is among the options', question('choice', { answerOption: [{ valueInteger: 1 }] }), { valueInteger: 1 }, []],
    [
      'is not outside the options',
      question('choice', { answerOption: [{ valueCoding: { system: 'http://a.org', code: 'a' } }] }),
      { valueCoding: { system: 'http://a.org', code: 'b' } },
      [`error answer-option ${at}`],
    ],
    [
      'may be text where the choice is open',
      question('open-choice', { answerOption: [{ valueCoding: { code: 'a', display: 'A' } }] }),
      { valueString: 'other' },
      [],
    ],
    [
      'is better a code than its label',
      question('open-choice', { answerOption: [{ valueCoding: { code: 'a', display: 'A' } }] }),
      { valueString: 'A' },
      [`warning answer-option ${at}`],
    ],
    [
      'cannot be checked without options',
      question('choice'),
      { valueCoding: { system: 'http://a.org', code: 'b' } },
      [`information answer-options-unknown ${at}`],
    ],
    [
      'is in the value set',
      question('choice', { answerValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }),
      { valueCoding: { system: 'http://hl7.org/fhir/administrative-gender', code: 'male' } },
      [],
    ],
    [
      'is not outside the value set',
      question('choice', { answerValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }),
      { valueCoding: { system: 'http://hl7.org/fhir/item-type', code: 'group' } },
      [`error answer-code ${at}`],
    ],
    [
      'has no other display than in the value set',
      question('choice', { answerValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }),
      { valueCoding: { system: 'http://hl7.org/fhir/administrative-gender', code: 'male', display: 'Horse' } },
      [`error answer-code ${at}`],
    ],
    [
      'needs a system to be looked up',
      question('choice', { answerValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }),
      { valueCoding: { code: 'male' } },
      [`warning answer-code ${at}`],
    ],
  ])('%s', async (_, item, answer, expected) => {
    expect(await findingsOf(response([answered(answer)]), [form([item])], KINDS)).toEqual(expected)
  })
})

describe('the items of a response', () => {
  const group = { linkId: 'g', type: 'group', item: [question('string', { required: true }), { linkId: 'r', type: 'string' }] }
  test.each<[string, readonly JsonObject[], readonly JsonObject[], readonly string[]]>([
    ['are in the questionnaire', [question('string')], [{ linkId: 'x' }], ['error link-id-unknown QuestionnaireResponse']],
    ['stand where the questionnaire has them', [group], [answered({ valueString: 'a' })], ['error link-id-place QuestionnaireResponse']],
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
      ['error answer-option QuestionnaireResponse.item[0]'],
    ],
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
      'error answer-missing QuestionnaireResponse.item[0].answer[0]',
    ])
    expect(await findingsOf(response([answered({ valueBoolean: false })]), [form(items)], KINDS)).toEqual([])
  })

  test('that does not hold asks for nothing', async () => {
    const items = [
      { linkId: 'c', type: 'integer' },
      { linkId: 'q', type: 'string', required: true, enableWhen: [{ question: 'c', operator: '=', answerInteger: 1 }] },
    ]
    expect(await findingsOf(response([{ linkId: 'c', answer: [{ valueInteger: 2 }] }]), [form(items)], KINDS)).toEqual([])
  })
})

describe('a questionnaire', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    [
      'has the question of a condition',
      { linkId: 'a', type: 'string', enableWhen: [{ question: 'x', operator: 'exists', answerBoolean: true }] },
      ['error questionnaire-enable-when Questionnaire.item[0]'],
    ],
    [
      'has no condition on a question within',
      {
        linkId: 'a',
        type: 'group',
        enableWhen: [{ question: 'b', operator: 'exists', answerBoolean: true }],
        item: [{ linkId: 'b', type: 'string' }],
      },
      ['error questionnaire-enable-when Questionnaire.item[0]'],
    ],
    [
      'has no condition on a question that comes later',
      {
        linkId: 'g',
        type: 'group',
        item: [
          { linkId: 'a', type: 'string', enableWhen: [{ question: 'b', operator: 'exists', answerBoolean: true }] },
          { linkId: 'b', type: 'string', enableWhen: [{ question: 'a', operator: 'exists', answerBoolean: true }] },
        ],
      },
      ['warning questionnaire-enable-when Questionnaire.item[0].item[0]'],
    ],
    [
      'has initial values of the type of the item',
      question('integer', { repeats: true, initial: [{ valueInteger: 1 }, { valueString: '1' }] }),
      ['error answer-type Questionnaire.item[0].initial[1].value.ofType(string)'],
    ],
  ])('%s', async (_, item, expected) => {
    expect(await findingsOf(form([item]), [], KINDS)).toEqual(expected)
  })

  test.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['has the text of its item', question('string', { text: 'Name?' }), { linkId: 'q', text: 'Name?' }, []],
    [
      'has no other text',
      question('string', { text: 'Name?' }),
      { linkId: 'q', text: 'Age?' },
      ['error item-text QuestionnaireResponse.item[0]'],
    ],
    [
      'has items when it is a required group',
      question('group', { required: true, item: [{ linkId: 'r', type: 'string' }] }),
      { linkId: 'q' },
      ['error answer-missing QuestionnaireResponse.item[0]'],
    ],
    [
      'should be a single line when it is not a text',
      question('string'),
      answered({ valueString: 'a\nb' }),
      ['warning answer-limit QuestionnaireResponse.item[0].answer[0].value.ofType(string)'],
    ],
    ['may have lines when it is a text', question('text'), answered({ valueString: 'a\nb' }), []],
    [
      'may tell more of a media type that is allowed',
      question('attachment', limit(`${BASE}mimeType`, { valueCode: 'text/plain' })),
      answered({ valueAttachment: { contentType: 'text/plain; charset=utf-8', data: 'AAAA' } }),
      [],
    ],
  ])('an item of a response %s', async (_, item, given, expected) => {
    expect(await findingsOf(response([given]), [form([item])], KINDS)).toEqual(expected)
  })

  test('says in what way it derives from another', async () => {
    const other = 'http://example.org/Questionnaire/other'
    const type = {
      url: `${BASE}questionnaire-derivationType`,
      valueCoding: { system: 'http://hl7.org/fhir/questionnaire-derivationType', code: 'extends' },
    }
    const plain = form([], { derivedFrom: [other] })
    const typed = { ...plain, _derivedFrom: [{ extension: [type] }] }
    const said = ['warning questionnaire-derived-from Questionnaire.derivedFrom[0]']
    expect(await findingsOf(plain, [form([], { url: other })], KINDS)).toEqual(said)
    expect(await findingsOf(typed, [], KINDS)).toEqual(said)
    expect(await findingsOf(typed, [form([], { url: other })], KINDS)).toEqual([])
  })

  const origin = form(
    [
      { linkId: 'a', type: 'string', maxLength: 5, required: true },
      { linkId: 'b', type: 'choice', answerOption: [{ valueString: 'x' }, { valueString: 'y' }] },
    ],
    { url: 'http://example.org/Questionnaire/origin' },
  )
  const derived = (code: string, items: readonly JsonObject[]): JsonObject => {
    const valueCoding = { system: 'http://hl7.org/fhir/questionnaire-derivationType', code }
    const extension = [{ url: `${BASE}questionnaire-derivationType`, valueCoding }]
    return form(items, { derivedFrom: [origin['url']], _derivedFrom: [{ extension }] })
  }
  const own = (members: JsonObject): JsonObject => ({ linkId: 'a', type: 'string', maxLength: 5, ...members })
  const choice = (members: JsonObject): JsonObject => ({ linkId: 'b', type: 'choice', ...members })
  const DERIVED = 'error questionnaire-derived-item Questionnaire.item[0]'
  test.each<[string, JsonObject, readonly string[]]>([
    ['keeps items', derived('compliesWith', [own({}), choice({ answerOption: [{ valueString: 'x' }] })]), []],
    ['may extend another by items', derived('extends', [{ linkId: 'c', type: 'string' }]), []],
    ['has no more items when it complies', derived('compliesWith', [{ linkId: 'c', type: 'string' }]), [DERIVED]],
    ['keeps the type', derived('extends', [own({ type: 'text' })]), [`${DERIVED}.type`]],
    ['keeps single answers', derived('extends', [own({ repeats: true })]), [`${DERIVED}.repeats`]],
    ['keeps what is required', derived('extends', [own({ required: false })]), [`${DERIVED}.required`]],
    ['keeps the length', derived('extends', [own({ maxLength: 6 })]), [`${DERIVED}.maxLength`]],
    ['keeps a length', derived('extends', [own({ maxLength: undefined })]), [DERIVED]],
    ['keeps the options', derived('extends', [choice({ answerOption: [{ valueString: 'z' }] })]), [`${DERIVED}.answerOption[0]`]],
    ['keeps options', derived('extends', [choice({})]), [DERIVED]],
    ['takes no value set for options', derived('extends', [choice({ answerValueSet: 'http://a.org/vs' })]), [DERIVED]],
    [
      'may be inspired',
      derived('inspiredBy', [own({ type: 'text' })]),
      ['information questionnaire-derived-from Questionnaire.derivedFrom[0]'],
    ],
    ['says how it derives', derived('copies', [own({})]), ['warning questionnaire-derived-from Questionnaire.derivedFrom[0]']],
  ])('that derives from another %s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [origin], KINDS)).toEqual(expected)
  })

  test.each<[readonly string[], readonly string[]]>([
    [['p-a'], []],
    [['p-a', 'displayLanguage'], []],
    [[], ['error questionnaire-parameter Questionnaire.item[0]']],
    [['p-a', 'language'], ['warning questionnaire-parameter Questionnaire.item[0]']],
  ])('gives its value set the parameters that this has: %j', async (names, expected) => {
    const tools = 'http://hl7.org/fhir/tools/StructureDefinition/'
    const parameter = (kind: string, valueCode: string): JsonObject => ({ url: tools + kind, extension: [{ url: 'name', valueCode }] })
    const valueSet = {
      resourceType: 'ValueSet',
      url: 'http://a.org/vs',
      status: 'active',
      extension: [parameter('valueset-parameter', 'p-a')],
      compose: { include: [{ system: `http://hl7.org/fhir/administrative-gender` }] },
    }
    const extension = names.map((name) => parameter('binding-parameter', name))
    const item = question('choice', { answerValueSet: valueSet.url, ...(names.length > 0 && { _answerValueSet: { extension } }) })
    expect(await findingsOf(form([item]), [valueSet], KINDS)).toEqual(expected)
  })

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
