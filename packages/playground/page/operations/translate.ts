import { isObject, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { element } from '../dom/element.js'
import { partAt, partsAt, textAt, valueOf } from '../fhir/parameters.js'
import { graphPicture, type GraphEdge } from '../pictures/graph.js'
import { verdict } from '../pictures/verdict.js'
import priorityMaps from '../samples/priority-maps.json?raw'
import { fieldOf, type Input, type OperationPage } from './operation-page.js'
import { flag, terminologyProgram } from './program.js'
import { DEFINITIONS, fromFields, terminologyCall } from './terminology-call.js'

const WIRE = { url: 'Uri', source: 'Uri', system: 'Uri', code: 'Code', targetsystem: 'Uri', reverse: 'Boolean' } as const
const PRIORITY = 'http://example.org/fhir/CodeSystem/visit-priority'
const VISITS = 'http://example.org/fhir/ValueSet/visit-priority'

/** `$translate`: a graph from the code over the maps to its translations. */
export const translatePage: OperationPage = {
  id: 'translate',
  title: '$translate',
  group: 'Terminology',
  purpose: 'Translate a code into other code systems.',
  fields: [
    { name: 'url', label: 'Concept map', placeholder: 'or a source value set', wide: true },
    { name: 'source', label: 'Source value set', placeholder: 'every map from it', wide: true },
    { name: 'system', label: 'Code system', wide: true },
    { name: 'code', label: 'Code' },
    { name: 'targetsystem', label: 'Target system' },
    { name: 'reverse', label: 'In reverse', kind: 'check' },
  ],
  editors: [DEFINITIONS],
  samples: [
    {
      id: 'maps',
      title: 'One code by two maps',
      fields: { source: VISITS, system: PRIORITY, code: 'emergency' },
      texts: { definitions: priorityMaps },
    },
    {
      id: 'unmapped',
      title: 'A code without a mapping of its own',
      fields: { url: 'http://example.org/fhir/ConceptMap/visit-priority-to-act-priority', system: PRIORITY, code: 'planned' },
      texts: { definitions: priorityMaps },
    },
    {
      id: 'reverse',
      title: 'Back to where it came from',
      fields: {
        url: 'http://example.org/fhir/ConceptMap/visit-priority-to-act-priority',
        system: 'http://terminology.hl7.org/CodeSystem/v3-ActPriority',
        code: 'EM',
        reverse: 'true',
      },
      texts: { definitions: priorityMaps },
    },
  ],
  call: (input) => terminologyCall('/ConceptMap/$translate', fromFields(input, WIRE), input),
  code: (input) =>
    terminologyProgram(input, {
      name: 'translate',
      entry: 'fhir-ops/translate',
      fields: {
        url: ['url'],
        source: ['source'],
        system: ['system'],
        code: ['code'],
        targetsystem: ['targetSystem'],
        reverse: ['reverse', flag],
      },
    }),
  picture: ({ json }, { input }) => translationPicture(isObject(json) ? json : {}, input),
}

function translationPicture(parameters: JsonObject, input: Input): HTMLElement {
  const matches = partsAt(parameters, 'match')
  const isFound = textAt(parameters, 'result') === 'true'
  const sentence = isFound
    ? `${matches.length} ${matches.length === 1 ? 'translation' : 'translations'}`
    : (textAt(parameters, 'message') ?? 'No translation.')
  const source = { title: fieldOf(input, 'code'), detail: shortSystem(fieldOf(input, 'system')) }
  return element('div', {}, verdict(isFound ? 'good' : 'warn', sentence), matches.length > 0 && graphPicture(source, matches.map(edgeOf)))
}

function edgeOf(match: JsonObject): GraphEdge {
  const concept = valueOf(partAt(match, 'concept'))
  const coding = isObject(concept) ? concept : {}
  const [map = '', version] = (textAt(match, 'source') ?? '').split('|')
  const display = stringAt(coding, 'display')
  return {
    map: { title: shortSystem(map), detail: version === undefined ? 'concept map' : `version ${version}` },
    label: textAt(match, 'equivalence') ?? 'unmapped',
    target: {
      title: [stringAt(coding, 'code'), display].filter((part) => part !== undefined).join(' · ') || 'no target',
      detail: shortSystem(stringAt(coding, 'system') ?? ''),
    },
  }
}

/** The last part of an address, which tells systems and maps apart. */
function shortSystem(url: string): string {
  return url.split('/').at(-1) ?? url
}
