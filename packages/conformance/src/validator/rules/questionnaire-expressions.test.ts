import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { form, KINDS, response } from './questionnaire-forms.js'

const ENABLE = 'http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-enableWhenExpression'

/** A form whose second question is asked by an expression. */
function asked(expression: string, members: JsonObject = {}): JsonObject {
  const valueExpression = { language: 'text/fhirpath', expression, ...members }
  const second = { linkId: '2', type: 'string', required: true, extension: [{ url: ENABLE, valueExpression }] }
  return form([{ linkId: '1', type: 'boolean' }, second])
}

const first = (valueBoolean: boolean): JsonObject => ({ linkId: '1', answer: [{ valueBoolean }] })
const second = { linkId: '2', answer: [{ valueString: 'x' }] }
const IS_TRUE = "%resource.item.where(linkId='1').answer.value = true"
const DISABLED = ['error item-disabled QuestionnaireResponse.item[1]']
const MISSING = ['error answer-missing QuestionnaireResponse']

test.each<[string, JsonObject, readonly JsonObject[], readonly string[]]>([
  ['holds, and there is an answer', asked(IS_TRUE), [first(true), second], []],
  ['holds, and there is none', asked(IS_TRUE), [first(true)], MISSING],
  ['does not hold, and there is an answer', asked(IS_TRUE), [first(false), second], DISABLED],
  ['does not hold, and there is none', asked(IS_TRUE), [first(false)], []],
  ['is empty', asked('{}'), [first(true), second], DISABLED],
  ['starts from the response', asked("item.first().linkId = '1'"), [first(true)], MISSING],
  ['knows the questionnaire and its item', asked("%questionnaire.item.count() = 2 and %qitem.linkId = '2'"), [first(true)], MISSING],
  ['has a variable of the program that fills in the form', asked('%patient.exists()'), [first(true), second], []],
  ['has such a variable, and there is no answer', asked('%patient.exists()'), [first(true)], []],
  ['cannot be read', asked('item.'), [first(true), second], []],
  ['is in another language', asked('x', { language: 'text/cql' }), [first(true), second], []],
])('an item whose condition is an expression that %s', async (_, questionnaire, items, said) => {
  expect(await findingsOf(response(items), [questionnaire], KINDS)).toEqual(said)
})

test('what is inside an item that is not asked for is checked', async () => {
  const valueExpression = { language: 'text/fhirpath', expression: 'false' }
  const inner = { linkId: 'i', type: 'integer', required: true }
  const group = { linkId: 'g', type: 'group', extension: [{ url: ENABLE, valueExpression }], item: [inner] }
  const given = { linkId: 'g', item: [{ linkId: 'i', answer: [{ valueString: 'x' }] }] }
  expect(await findingsOf(response([given]), [form([group])], KINDS)).toEqual([
    'error item-disabled QuestionnaireResponse.item[0]',
    'error answer-type QuestionnaireResponse.item[0].item[0].answer[0].value.ofType(string)',
  ])
})
