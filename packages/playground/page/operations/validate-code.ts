import { isObject, objectAt } from 'fhir-ops/internal/json'
import { element } from '../dom/element.js'
import { explanationIn } from '../fhir/explanation.js'
import { issuesIn } from '../fhir/outcome.js'
import { partAt, textAt } from '../fhir/parameters.js'
import { findingsPicture } from '../pictures/findings.js'
import { similarPicture } from '../pictures/steps.js'
import { facts } from '../pictures/table.js'
import { verdict } from '../pictures/verdict.js'
import visitPriority from '../samples/visit-priority.json?raw'
import type { OperationPage } from './operation-page.js'
import { terminologyProgram } from './program.js'
import { DEFINITIONS, fromFields, terminologyCall } from './terminology-call.js'

const GENDER = { url: 'http://hl7.org/fhir/ValueSet/administrative-gender', system: 'http://hl7.org/fhir/administrative-gender' }

/** `$validate-code`: whether a value set has a code. */
export const validateCodePage: OperationPage = {
  id: 'validate-code',
  title: '$validate-code',
  group: 'Terminology',
  purpose: 'Check that a value set has a code, and that its display is right.',
  fields: [
    { name: 'url', label: 'Value set', wide: true },
    { name: 'system', label: 'Code system', wide: true },
    { name: 'code', label: 'Code' },
    { name: 'display', label: 'Display' },
  ],
  editors: [DEFINITIONS],
  samples: [
    { id: 'typo', title: 'A code with a typing error', fields: { ...GENDER, code: 'femal' }, texts: {} },
    { id: 'display', title: 'A display that is wrong', fields: { ...GENDER, code: 'female', display: 'Male' }, texts: {} },
    { id: 'right', title: 'A code that is right', fields: { ...GENDER, code: 'female', display: 'Female' }, texts: {} },
    {
      id: 'own',
      title: 'A value set of your own with a filter',
      fields: {
        url: 'http://example.org/fhir/ValueSet/unplanned-visits',
        system: 'http://example.org/fhir/CodeSystem/visit-priority',
        code: 'checkup',
      },
      texts: { definitions: visitPriority },
    },
  ],
  call: (input) =>
    terminologyCall('/ValueSet/$validate-code', fromFields(input, { url: 'Uri', system: 'Uri', code: 'Code', display: 'String' }), input),
  code: (input) =>
    terminologyProgram(input, {
      name: 'validateCode',
      entry: 'fhir-ops/validate-code',
      fields: { url: ['url'], system: ['system'], code: ['code'], display: ['display'] },
    }),
  picture: ({ json }, { runWith }) => {
    const parameters = isObject(json) ? json : {}
    const isValid = textAt(parameters, 'result') === 'true'
    const issues = issuesIn(objectAt(partAt(parameters, 'issues'), 'resource')) ?? []
    return element(
      'div',
      {},
      verdict(isValid ? 'good' : 'bad', isValid ? 'The code is valid.' : 'The code is not valid.'),
      facts([
        ['Code', textAt(parameters, 'code')],
        ['Display', textAt(parameters, 'display')],
        ['Code system', textAt(parameters, 'system')],
        ['Version', textAt(parameters, 'version')],
      ]),
      issues.length > 0 && findingsPicture(issues),
      similarPicture(explanationIn(json)?.nearest ?? [], (code) => runWith({ code })),
    )
  },
}
