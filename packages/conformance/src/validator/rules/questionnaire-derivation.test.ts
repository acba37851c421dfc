import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { BASE, form, KINDS } from './questionnaire-forms.js'

describe('a questionnaire that derives from another', () => {
  test('says in what way', async () => {
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
      { linkId: 'd', type: 'string', definition: 'http://a.org/d#x' },
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
  const DERIVED_FROM = 'questionnaire-derived-from Questionnaire.derivedFrom[0]'
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
    ['keeps definitions', derived('extends', [{ linkId: 'd', type: 'string', definition: 'http://a.org/d#x' }]), []],
    [
      'should repeat definitions',
      derived('extends', [{ linkId: 'd', type: 'string' }]),
      ['information questionnaire-derived-item Questionnaire.item[0]'],
    ],
    [
      'should keep definitions',
      derived('extends', [{ linkId: 'd', type: 'string', definition: 'http://a.org/d#y' }]),
      ['information questionnaire-derived-item Questionnaire.item[0].definition'],
    ],
    ['may be inspired', derived('inspiredBy', [own({ type: 'text' })]), [`information ${DERIVED_FROM}.extension[0].value.ofType(Coding)`]],
    ['says it by a known code', derived('copies', [own({})]), [`warning ${DERIVED_FROM}.extension[0].value.ofType(Coding)`]],
    [
      'says it by a value',
      { ...derived('extends', [own({})]), _derivedFrom: [{ extension: [{ url: `${BASE}questionnaire-derivationType` }] }] },
      [`warning ${DERIVED_FROM}.extension[0]`],
    ],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [origin], KINDS)).toEqual(expected)
  })
})
