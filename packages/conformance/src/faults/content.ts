const SYSTEM = 'http://example.org/colours'
const VALUE_SET = 'http://example.org/warm'
const PROFILE = 'http://example.org/named-patient'

/** Small content of every kind that operations read. */
export const CONTENT: readonly { readonly resourceType: string; readonly [name: string]: unknown }[] = [
  { resourceType: 'Patient', id: 'a', gender: 'female', identifier: [{ system: 'http://example.org/mrn', value: '1' }] },
  { resourceType: 'Patient', id: 'b', gender: 'male', meta: { profile: [PROFILE] } },
  { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/a' } },
  {
    resourceType: 'CodeSystem',
    id: 'colours',
    url: SYSTEM,
    status: 'active',
    content: 'complete',
    hierarchyMeaning: 'is-a',
    concept: [
      { code: 'red', display: 'Red', concept: [{ code: 'pink', display: 'Pink' }] },
      { code: 'blue', display: 'Blue' },
    ],
  },
  {
    resourceType: 'ValueSet',
    id: 'warm',
    url: VALUE_SET,
    status: 'active',
    compose: { include: [{ system: SYSTEM, filter: [{ property: 'concept', op: 'is-a', value: 'red' }] }] },
  },
  {
    resourceType: 'ConceptMap',
    id: 'map',
    url: 'http://example.org/map',
    status: 'active',
    group: [
      {
        source: SYSTEM,
        target: 'http://example.org/tones',
        element: [{ code: 'red', target: [{ code: 'r', equivalence: 'equivalent' }] }],
      },
    ],
  },
  {
    resourceType: 'Measure',
    id: 'women',
    status: 'active',
    group: [{ population: [{ criteria: { language: 'application/x-fhir-query', expression: 'Patient?gender=female' } }] }],
  },
  {
    resourceType: 'StructureDefinition',
    id: 'named',
    url: PROFILE,
    name: 'Named',
    status: 'active',
    kind: 'resource',
    abstract: false,
    type: 'Patient',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
    derivation: 'constraint',
    differential: { element: [{ id: 'Patient.name', path: 'Patient.name', min: 1 }] },
  },
  { resourceType: 'Bot', id: 'echo', runtime: 'sandbox', code: 'export const handler = (event) => event.input' },
]
