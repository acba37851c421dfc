import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { answered, BASE, form, KINDS, limit, question, response } from './questionnaire-forms.js'

const SDC = 'http://hl7.org/fhir/uv/sdc/StructureDefinition/'
const kg = { unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' }
const gram = { unit: 'g', system: 'http://unitsofmeasure.org', code: 'g' }
const metre = { unit: 'm', system: 'http://unitsofmeasure.org', code: 'm' }

describe('the answer to a question', () => {
  const at = 'QuestionnaireResponse.item[0].answer[0]'
  test.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['has its type', question('integer'), { valueInteger: 1 }, []],
    ['has not another type', question('integer'), { valueString: '1' }, [`error answer-type ${at}.value.ofType(string)`]],
    [
      'has not another type, even if its value is absent',
      question('date'),
      { _valueString: { extension: [{ url: `${BASE}data-absent-reason`, valueCode: 'unknown' }] } },
      [`error answer-type ${at}.value.ofType(string)`],
    ],
    [
      'is an option that is a text, as options are no decimals',
      question('decimal', { answerOption: [{ valueString: '1.5' }] }),
      { valueDecimal: 1.5 },
      [],
    ],
    [
      'is no other number than the options',
      question('decimal', { answerOption: [{ valueString: '1.5' }] }),
      { valueDecimal: 2.5 },
      [`error answer-option ${at}.value.ofType(decimal)`],
    ],
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
      'is in units that are converted',
      question('quantity', limit(`${SDC}sdc-questionnaire-maxQuantity`, { valueQuantity: { value: 1, ...kg } })),
      { valueQuantity: { value: 1, system: 'http://a.org/units', code: 'x' } },
      [`error answer-limit ${at}.value.ofType(Quantity)`],
    ],
    [
      'may be in a unit that is not understood',
      question('quantity', limit(`${SDC}sdc-questionnaire-maxQuantity`, { valueQuantity: { value: 1, ...kg } })),
      { valueQuantity: { value: 2, system: kg.system, code: '(kg)' } },
      [],
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
      'refers to any type, if all are allowed',
      question('reference', limit(`${BASE}questionnaire-referenceResource`, { valueCode: 'Resource' })),
      { valueReference: { reference: 'Group/1' } },
      [],
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
      'to another question than a choice is not outside the options',
      question('integer', { answerOption: [{ valueInteger: 1 }] }),
      { valueInteger: 3 },
      [`error answer-option ${at}.value.ofType(integer)`],
    ],
    [
      'to a question for a string is not outside the options',
      question('string', { answerOption: [{ valueString: 'a' }] }),
      { valueString: 'A' },
      [`error answer-option ${at}.value.ofType(string)`],
    ],
    ['is among whole numbers', question('decimal', { answerOption: [{ valueInteger: 3 }] }), { valueDecimal: 3 }, []],
    ['is among dates', question('dateTime', { answerOption: [{ valueDate: '2020-01-01' }] }), { valueDateTime: '2020-01-01' }, []],
    [
      'is not another date',
      question('dateTime', { answerOption: [{ valueDate: '2020-01-01' }] }),
      { valueDateTime: '2020-01-02' },
      [`error answer-option ${at}.value.ofType(dateTime)`],
    ],
    [
      'cannot be checked where its code system is not known',
      question('choice', { answerValueSet: '#all' }),
      { valueCoding: { system: 'http://a.org/nowhere', code: 'x' } },
      [`warning answer-code ${at}`],
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
      'is a number, which the value set cannot have',
      question('choice', { answerValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }),
      { valueInteger: 1 },
      [`information answer-options-unknown ${at}`],
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
      'is not outside the value set without a system either',
      question('choice', { answerValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }),
      { valueCoding: { code: 'horse' } },
      [`error answer-code ${at}`],
    ],
    [
      'of a type that options cannot have is not compared with them',
      question('boolean', { answerOption: [{ valueString: 'a' }] }),
      { valueBoolean: true },
      [],
    ],
    [
      'that is a file is not compared with options either',
      question('attachment', { answerOption: [{ valueString: 'a' }] }),
      { valueAttachment: { contentType: 'text/plain', data: 'AAAA' } },
      [],
    ],
    [
      'needs a system to be in a value set that takes all codes of one',
      question('choice', { answerValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }),
      { valueCoding: { code: 'male' } },
      [`error answer-code ${at}`],
    ],
    [
      'should be a single line when it is not a text',
      question('string'),
      { valueString: 'a\nb' },
      [`warning answer-limit ${at}.value.ofType(string)`],
    ],
    ['may have lines when it is a text', question('text'), { valueString: 'a\nb' }, []],
    [
      'may tell more of a media type that is allowed',
      question('attachment', limit(`${BASE}mimeType`, { valueCode: 'text/plain' })),
      { valueAttachment: { contentType: 'text/plain; charset=utf-8', data: 'AAAA' } },
      [],
    ],
  ])('%s', async (_, item, answer, expected) => {
    const contained = [
      { resourceType: 'ValueSet', id: 'all', status: 'active', compose: { include: [{ system: 'http://a.org/nowhere' }] } },
    ]
    expect(await findingsOf(response([answered(answer)]), [form([item], { contained })], KINDS)).toEqual(expected)
  })

  test.each<[string, JsonObject, JsonObject, string]>([
    ['of a choice', question('choice', { answerValueSet: 'http://a.org/vs' }), { valueCoding: { system: 'x:y', code: 'z' } }, ''],
    ['of a string', question('string', { answerValueSet: 'http://a.org/vs' }), { valueString: 'x' }, '.value.ofType(string)'],
    [
      'of units',
      question('quantity', limit(`${BASE}questionnaire-unitValueSet`, { valueCanonical: 'http://a.org/vs' })),
      { valueQuantity: { value: 1, ...kg } },
      '.value.ofType(Quantity)',
    ],
  ])('names a value set that is not known: %s', async (_, item, answer, place) => {
    const said = await findingsOf(response([answered(answer)]), [form([item])], /^value-set-unknown/)
    expect(said).toEqual([`warning value-set-unknown ${at}${place}`])
  })

  test('says that a value set cannot be used where it says nothing of the code', async () => {
    const include = [{ system: 'http://hl7.org/fhir/administrative-gender', filter: [{ property: 'none', op: '=', value: 'x' }] }]
    const contained = [{ resourceType: 'ValueSet', id: 'all', status: 'active', compose: { include } }]
    const answer = { valueCoding: { system: 'http://hl7.org/fhir/administrative-gender', code: 'male' } }
    const items = [question('choice', { answerValueSet: '#all' })]
    expect(await findingsOf(response([answered(answer)]), [form(items, { contained })], /^value-set/)).toEqual([
      `warning value-set-unusable ${at}`,
    ])
  })
})

describe('the answer to a choice', () => {
  const gender = 'http://hl7.org/fhir/administrative-gender'
  const bound = { answerValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }
  const to = (reference: string): JsonObject => ({ valueReference: { reference } })
  const WRONG_TYPE = ['error answer-type QuestionnaireResponse.item[0].answer[0].value.ofType(Reference)']
  test.each<readonly [JsonObject, JsonObject, readonly string[]]>([
    [question('choice'), to('Patient/a'), WRONG_TYPE],
    [question('open-choice', { answerOption: [{ valueString: 'x' }] }), to('Patient/a'), WRONG_TYPE],
    [question('choice', { answerOption: [to('Patient/a')] }), to('Patient/a'), []],
    [
      question('choice', bound),
      { valueCoding: { system: gender, display: 'Male' } },
      ['error answer-code QuestionnaireResponse.item[0].answer[0]'],
    ],
    [question('choice', bound), { valueCoding: { system: gender, code: 'male' } }, []],
  ])('%j: %j', async (item, answer, said) => {
    expect(await findingsOf(response([answered(answer)]), [form([item])], /^answer-/)).toEqual(said)
  })
})
