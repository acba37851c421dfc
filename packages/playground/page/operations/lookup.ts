import { isObject, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { button, element, type Child } from '../dom/element.js'
import { partAt, partsAt, textAt, valueOf } from '../fhir/parameters.js'
import { facts, table } from '../pictures/table.js'
import visitPriority from '../samples/visit-priority.json?raw'
import type { OperationPage, PictureHost } from './operation-page.js'
import { terminologyProgram } from './program.js'
import { DEFINITIONS, fromFields, terminologyCall } from './terminology-call.js'

const ROLES = 'http://terminology.hl7.org/CodeSystem/v3-RoleCode'

/** `$lookup`: what a code system says about a code. */
export const lookupPage: OperationPage = {
  id: 'lookup',
  title: '$lookup',
  group: 'Terminology',
  purpose: 'Show what a code system says about a code.',
  fields: [
    { name: 'system', label: 'Code system', wide: true },
    { name: 'code', label: 'Code' },
    { name: 'displayLanguage', label: 'Language', placeholder: 'de' },
  ],
  editors: [DEFINITIONS],
  samples: [
    { id: 'mother', title: 'A code with parents and children', fields: { system: ROLES, code: 'MTH' }, texts: {} },
    { id: 'typo', title: 'A code that does not exist', fields: { system: ROLES, code: 'MHT' }, texts: {} },
    {
      id: 'own',
      title: 'A code system of your own',
      fields: { system: 'http://example.org/fhir/CodeSystem/visit-priority', code: 'unplanned', displayLanguage: 'de' },
      texts: { definitions: visitPriority },
    },
  ],
  call: (input) =>
    terminologyCall(
      '/CodeSystem/$lookup',
      [...fromFields(input, { system: 'Uri', code: 'Code', displayLanguage: 'Code' }), ['property', 'Code', '*']],
      input,
    ),
  code: (input) =>
    terminologyProgram(
      { ...input, fields: { ...input.fields, properties: '*' } },
      {
        name: 'lookup',
        entry: 'fhir-ops/lookup',
        fields: { system: ['system'], code: ['code'], displayLanguage: ['displayLanguage'], properties: ['properties', (text) => [text]] },
      },
    ),
  picture: ({ json }, host) => conceptPicture(isObject(json) ? json : {}, host),
}

function conceptPicture(parameters: JsonObject, host: PictureHost): HTMLElement {
  const code = textAt(parameters, 'code') ?? host.input.fields['code'] ?? ''
  const properties = partsAt(parameters, 'property')
  const related = (name: string): readonly JsonObject[] => properties.filter((property) => textAt(property, 'code') === name)
  const others = properties.filter((property) => !['parent', 'child'].includes(textAt(property, 'code') ?? ''))
  const designations = partsAt(parameters, 'designation')
  return element(
    'article',
    { class: 'concept' },
    relatives('Parents', related('parent'), host),
    element(
      'header',
      { class: 'concept-head' },
      element('h2', {}, textAt(parameters, 'display') ?? code),
      element('code', {}, code),
      element('p', {}, textAt(parameters, 'definition') ?? ''),
    ),
    relatives('Children', related('child'), host),
    facts([
      ['Code system', textAt(parameters, 'name')],
      ['Version', textAt(parameters, 'version')],
      ...others.map((property): readonly [string, Child] => [
        textAt(property, 'code') ?? '',
        valueText(valueOf(partAt(property, 'value'))),
      ]),
    ]),
    designations.length > 0 &&
      table(
        ['Designation', 'Language', 'Use'],
        designations.map((one) => [textAt(one, 'value'), textAt(one, 'language'), valueText(valueOf(partAt(one, 'use')))]),
      ),
  )
}

/** Parents or children, each a way to look it up. */
function relatives(title: string, properties: readonly JsonObject[], { runWith }: PictureHost): HTMLElement | false {
  if (properties.length === 0) return false
  const chips = properties.map((property) => {
    const code = textAt(property, 'value') ?? ''
    const label = textAt(property, 'description') ?? ''
    return element(
      'li',
      {},
      button(label === '' ? code : `${label} (${code})`, () => runWith({ code }), { class: 'chip' }),
    )
  })
  return element(
    'section',
    { class: 'relatives' },
    element('h2', { class: 'small-title' }, title),
    element('ul', { class: 'chips' }, ...chips),
  )
}

function valueText(value: unknown): string {
  if (!isObject(value)) return value === undefined ? '' : JSON.stringify(value).replace(/^"(.*)"$/, '$1')
  return stringAt(value, 'display') ?? stringAt(value, 'code') ?? ''
}
