import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { form, KINDS, question } from './questionnaire-forms.js'

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
      'says to which question a condition refers',
      { linkId: 'a', type: 'string', enableWhen: [{ operator: 'exists', answerBoolean: true }] },
      ['error questionnaire-enable-when Questionnaire.item[0]'],
    ],
    ['has no questions of the abstract type', question('question'), ['warning questionnaire-item-type Questionnaire.item[0].type']],
    [
      'has initial values of the type of the item',
      question('integer', { repeats: true, initial: [{ valueInteger: 1 }, { valueString: '1' }] }),
      ['error answer-type Questionnaire.item[0].initial[1].value.ofType(string)'],
    ],
  ])('%s', async (_, item, expected) => {
    expect(await findingsOf(form([item]), [], KINDS)).toEqual(expected)
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
})

describe('a condition on an answer', () => {
  const OPTION = { answerOption: [{ valueCoding: { code: 'a' } }] }
  const AT = 'warning questionnaire-enable-when Questionnaire.item[1].enableWhen[0].answer'

  test.each<readonly [question: JsonObject, operator: string, answer: JsonObject, said: readonly string[]]>([
    [question('boolean'), '=', { answerBoolean: true }, []],
    [question('boolean'), '=', { answerString: 'true' }, [`${AT}.ofType(string)`]],
    [question('integer'), '>', { answerDecimal: 1.5 }, [`${AT}.ofType(decimal)`]],
    [question('url'), '=', { answerString: 'http://a.org' }, []],
    [question('choice', OPTION), '=', { answerCoding: { code: 'a' } }, []],
    [question('choice', OPTION), '=', { answerBoolean: true }, [`${AT}.ofType(boolean)`]],
    [question('integer'), 'exists', { answerBoolean: true }, []],
    [question('group'), '=', { answerString: 'x' }, []],
  ])('of %j by %s %j', async (item, operator, answer, said) => {
    const conditional = { linkId: 'r', type: 'string', enableWhen: [{ question: 'q', operator, ...answer }] }
    expect(await findingsOf(form([item, conditional]), [], /^questionnaire-/)).toEqual(said)
  })
})

describe('a question with a choice', () => {
  const calculated = {
    extension: [
      {
        url: 'http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-answerExpression',
        valueExpression: { language: 'text/fhirpath', expression: 'x' },
      },
    ],
  }

  test.each<readonly [item: JsonObject, form: JsonObject, said: readonly string[]]>([
    [question('choice'), {}, ['warning questionnaire-options Questionnaire.item[0]']],
    [question('open-choice'), {}, ['information questionnaire-options Questionnaire.item[0]']],
    [question('choice', { answerOption: [{ valueCoding: { code: 'a' } }] }), {}, []],
    [question('choice', { answerValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }), {}, []],
    [question('choice', calculated), {}, []],
    [question('choice'), { derivedFrom: ['http://a.org/Questionnaire/general'] }, []],
    [question('string'), {}, []],
  ])('%j has something to choose from as a best practice, %j', async (item, members, said) => {
    expect(await findingsOf(form([item], members), [], /^questionnaire-options/)).toEqual([])
    expect(await findingsOf(form([item], members), [], /^questionnaire-options/, { bestPractice: 'warning' })).toEqual(said)
    expect(await findingsOf(form([item], members), [], /^questionnaire-options/, { bestPractice: 'error' })).toEqual(said)
  })
})
