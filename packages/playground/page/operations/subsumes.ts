import { isObject } from 'fhir-ops/internal/json'
import { element } from '../dom/element.js'
import { explanationIn } from '../fhir/explanation.js'
import { textAt } from '../fhir/parameters.js'
import { verdict } from '../pictures/verdict.js'
import visitPriority from '../samples/visit-priority.json?raw'
import { fieldOf, type OperationPage } from './operation-page.js'
import { terminologyProgram } from './program.js'
import { DEFINITIONS, fromFields, terminologyCall } from './terminology-call.js'

const ROLES = 'http://terminology.hl7.org/CodeSystem/v3-RoleCode'

const SENTENCES: Readonly<Record<string, string>> = {
  equivalent: 'is the same as',
  subsumes: 'is above',
  'subsumed-by': 'is below',
  'not-subsumed': 'is neither above nor below',
}

/** `$subsumes`: how two codes relate, with the path between them. */
export const subsumesPage: OperationPage = {
  id: 'subsumes',
  title: '$subsumes',
  group: 'Terminology',
  purpose: 'Find out whether one code is above another in the hierarchy of its code system.',
  fields: [
    { name: 'system', label: 'Code system', wide: true },
    { name: 'codeA', label: 'Code A' },
    { name: 'codeB', label: 'Code B' },
  ],
  editors: [DEFINITIONS],
  samples: [
    {
      id: 'mother',
      title: 'A family member and a foster mother',
      fields: { system: ROLES, codeA: 'FAMMEMB', codeB: 'MTHFOST' },
      texts: {},
    },
    { id: 'siblings', title: 'Two codes beside each other', fields: { system: ROLES, codeA: 'MTH', codeB: 'FTH' }, texts: {} },
    {
      id: 'own',
      title: 'A code system of your own',
      fields: { system: 'http://example.org/fhir/CodeSystem/visit-priority', codeA: 'emergency', codeB: 'unplanned' },
      texts: { definitions: visitPriority },
    },
  ],
  call: (input) => terminologyCall('/CodeSystem/$subsumes', fromFields(input, { system: 'Uri', codeA: 'Code', codeB: 'Code' }), input),
  code: (input) =>
    terminologyProgram(input, {
      name: 'subsumes',
      entry: 'fhir-ops/subsumes',
      fields: { system: ['system'], codeA: ['codeA'], codeB: ['codeB'] },
    }),
  picture: ({ json }, { input }) => {
    const outcome = (isObject(json) && textAt(json, 'outcome')) || ''
    const path = explanationIn(json)?.steps.find(({ kind, outcome: found }) => kind === 'hierarchy' && found === 'holds')
    // The engine's sentence has the codes from the lowest to the highest.
    const codes = [...(path?.text ?? '').matchAll(/'([^']+)'/g)].map(([, code = '']) => code)
    const sentence = `${fieldOf(input, 'codeA')} ${SENTENCES[outcome] ?? ''} ${fieldOf(input, 'codeB')}`
    return element(
      'div',
      {},
      verdict(outcome === 'not-subsumed' ? 'plain' : 'good', element('strong', {}, outcome), ` · ${sentence}.`),
      codes.length > 1 &&
        element(
          'ol',
          { class: 'ladder', 'aria-label': 'Path, from the top' },
          ...codes.toReversed().map((code) => element('li', {}, element('code', {}, code))),
        ),
    )
  },
}
