import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { element } from '../dom/element.js'
import { treePicture, type TreeNode } from '../pictures/tree.js'
import { verdict } from '../pictures/verdict.js'
import visitPriority from '../samples/visit-priority.json?raw'
import { fieldOf, type Input, type OperationPage } from './operation-page.js'
import { flag, terminologyProgram } from './program.js'
import { DEFINITIONS, fromFields, terminologyCall } from './terminology-call.js'

const WIRE = {
  url: 'Uri',
  filter: 'String',
  displayLanguage: 'Code',
  count: 'Integer',
  activeOnly: 'Boolean',
  excludeNested: 'Boolean',
} as const

/** `$expand`: the codes of a value set as a tree. */
export const expandPage: OperationPage = {
  id: 'expand',
  title: '$expand',
  group: 'Terminology',
  purpose: 'List the codes of a value set, or search in them.',
  fields: [
    { name: 'url', label: 'Value set', placeholder: 'http://hl7.org/fhir/ValueSet/…', wide: true },
    { name: 'filter', label: 'Search', placeholder: 'beginnings of words', wide: true },
    { name: 'displayLanguage', label: 'Language', placeholder: 'de' },
    { name: 'count', label: 'At most', kind: 'number', placeholder: 'all' },
    { name: 'activeOnly', label: 'Active only', kind: 'check' },
    { name: 'excludeNested', label: 'Flat list', kind: 'check' },
  ],
  editors: [DEFINITIONS],
  samples: [
    {
      id: 'family',
      title: 'Family members, a tree',
      fields: { url: 'http://terminology.hl7.org/ValueSet/v3-FamilyMember' },
      texts: {},
    },
    {
      id: 'search',
      title: 'Search the resource types',
      fields: { url: 'http://hl7.org/fhir/ValueSet/resource-types', filter: 'med' },
      texts: {},
    },
    {
      id: 'own',
      title: 'A value set of your own, in German',
      fields: { url: 'http://example.org/fhir/ValueSet/visit-priority', displayLanguage: 'de' },
      texts: { definitions: visitPriority },
    },
  ],
  call: (input) => terminologyCall('/ValueSet/$expand', fromFields(input, WIRE), input),
  code: (input) =>
    terminologyProgram(input, {
      name: 'expand',
      entry: 'fhir-ops/expand',
      fields: {
        url: ['url'],
        filter: ['filter'],
        displayLanguage: ['displayLanguage'],
        count: ['count', Number],
        activeOnly: ['activeOnly', flag],
        excludeNested: ['excludeNested', flag],
      },
    }),
  picture: ({ json }, { input }) => expansionPicture(json, input),
}

function expansionPicture(valueSet: unknown, input: Input): HTMLElement {
  const expansion = isObject(valueSet) ? objectAt(valueSet, 'expansion') : undefined
  const total = Number(expansion?.['total'] ?? 0)
  const nodes = objectsAt(expansion, 'contains').map(nodeOf)
  const words = fieldOf(input, 'filter').split(/\s+/)
  const title = isObject(valueSet) ? (stringAt(valueSet, 'title') ?? stringAt(valueSet, 'name') ?? 'The value set') : 'The value set'
  const sentence = total === 1 ? '1 code' : `${total} codes`
  return element(
    'div',
    {},
    verdict(total === 0 ? 'warn' : 'plain', element('strong', {}, title), ` · ${sentence}${words[0] === '' ? '' : ' found'}`),
    nodes.length > 0 && treePicture(`Codes of ${title}`, nodes, words),
  )
}

function nodeOf(contains: JsonObject): TreeNode {
  const notes = ['abstract', 'inactive'].filter((name) => contains[name] === true)
  return {
    code: stringAt(contains, 'code') ?? '',
    label: stringAt(contains, 'display'),
    notes,
    about: stringAt(contains, 'system') ?? '',
    children: objectsAt(contains, 'contains').map(nodeOf),
  }
}
