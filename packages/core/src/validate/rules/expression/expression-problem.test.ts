import { expect, it } from 'vitest'
import { r4Model as model } from '../../../../test/fhirpath/r4.js'
import { callProblem, type TypeDefinition } from '../../../fhirpath/index.js'
import { expressionProblem } from './expression-problem.js'
import { FUNCTION_TYPES } from './function-types.js'

function problemOn(type: string, expression: string): string | undefined {
  const focus: readonly TypeDefinition[] = [model.type(type)].flatMap((one) => one ?? [])
  return expressionProblem(expression, { model, focus })?.text
}

it.each([
  ['status.upper().abs()', 'The function abs() can only be used on integer, decimal or Quantity, but found System.String.'],
  ['code.upper()', 'The function upper() can only be used on string, uri, code, id, but found CodeableConcept.'],
  ["component.all(code.matches('x'))", 'The function matches() can only be used on string, uri, code, id, but found CodeableConcept.'],
  [
    '(status.exists() | value.exists()).abs()',
    'The function abs() can only be used on integer, decimal or Quantity, but found System.Boolean.',
  ],
  ['effective.ofType(Period).toString()', 'The function toString() can only be used on primitives and Quantity, but found Period.'],
  ['(1 + 2.5).upper()', 'The function upper() can only be used on string, uri, code, id, but found System.Decimal.'],
  ["iif(status = 'final', 1, 2).upper()", 'The function upper() can only be used on string, uri, code, id, but found System.Integer.'],
  ['component[0].code.upper()', 'The function upper() can only be used on string, uri, code, id, but found CodeableConcept.'],
  ['subject.resolve().upper()', 'The function upper() can only be used on string, uri, code, id, but found Resource.'],
  [
    'component.code.resolve()',
    'The function resolve() can only be used on string, uri, canonical or Reference, but found CodeableConcept.',
  ],
  [
    "value.ofType(Period).memberOf('http://a.org')",
    'The function memberOf() can only be used on string, code, uri, Coding, CodeableConcept, but found Period.',
  ],
  ['%ucum.abs()', 'The function abs() can only be used on integer, decimal or Quantity, but found System.String.'],
  ['component.select($index.upper())', 'The function upper() can only be used on string, uri, code, id, but found System.Integer.'],
])('a function is called on a value that it is not for: %s', (expression, text) => {
  expect(problemOn('Observation', expression)).toBe(text)
})

it.each([
  ['status.matches(1)', 'The parameter type System.Integer is not legal for matches() parameter 1, which is string, uri, code, id.'],
  ['status.substring(1, status)', 'The parameter type code is not legal for substring() parameter 2, which is Integer.'],
  ['category.where(coding)', 'The parameter type Coding is not legal for where() parameter 1, which is Boolean.'],
  ["iif(status, 'a')", 'The parameter type code is not legal for iif() parameter 1, which is Boolean.'],
  ['category.coding[status]', 'The parameter type code is not legal for item() parameter 1, which is Integer.'],
  ['status.subsetOf(1)', 'The parameter type System.Integer is not legal for subsetOf(), because it is called on code.'],
])('an argument has a type that the function does not take: %s', (expression, text) => {
  expect(problemOn('Observation', expression)).toBe(text)
})

it.each([
  ['issued + 1', 'Error in date arithmetic: System.Integer cannot be added to or subtracted from instant.'],
  ["today() - '1'", 'Error in date arithmetic: System.String cannot be added to or subtracted from System.Date.'],
  ['contained.nope', "There is no element 'nope' in any resource."],
  ['subject.resolve().nope', "There is no element 'nope' in any resource."],
  ["(4 'mg').value", "There is no element 'value' in System.Quantity."],
])('neither a sum nor a step can have a result: %s', (expression, text) => {
  expect(problemOn('Observation', expression)).toBe(text)
})

it.each([
  // Only some types of a choice fit, or the types are not known.
  'value.upper()',
  'component.value.round(1)',
  'children().upper()',
  'value.aggregate($this + $total, 0).upper()',
  'subject.resolve().name.family.upper()',
  'extension.value.abs()',
  "defineVariable('a', status).select(%a.upper())",
  '(status | value).abs()',
  // Elements of FHIR convert to values of FHIRPath.
  "status.subsetOf('final' | 'amended')",
  'note.text.upper()',
  'meta.profile.upper()',
  'value.ofType(Quantity).toInteger()',
  'exists(value.ofType(boolean))',
  "issued + 1 'day'",
  'issued - value.ofType(Quantity)',
  'text.div.exists()',
  'category.coding.skip({})',
  'value.ofType(Range).low.abs()',
])('what may be right is not reported: %s', (expression) => {
  expect(problemOn('Observation', expression)).toBeUndefined()
})

it('repeat() may name elements that only its results have', () => {
  expect(problemOn('QuestionnaireResponse', 'repeat(item | answer).linkId.upper()')).toBeUndefined()
})

it.each(Array.from(FUNCTION_TYPES, ([name, { parameters = [] }]) => [name, parameters.length] as const))(
  'the types of %s are those of a function that takes %i arguments',
  (name, parameters) => {
    const taken = [0, 1, 2].filter((count) => callProblem(name, count) === undefined)
    expect(taken.at(-1)).toBeGreaterThanOrEqual(parameters)
  },
)
