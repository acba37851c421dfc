import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('a display', /^display-/)

const URL = 'http://a.org/CodeSystem/greek'
const STATUS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status'
const OLD = { value: 'Aleph', extension: [{ url: STATUS, valueCode: 'deprecated' }] }
const concepts = [
  { code: 'a', display: 'Alpha', designation: [{ language: 'de', value: 'Alfa' }, OLD] },
  { code: 'b', display: 'Beta' },
  { code: 'c' },
]
const system = (members: JsonObject): JsonObject => ({
  resourceType: 'CodeSystem',
  url: URL,
  status: 'active',
  content: 'complete',
  concept: concepts,
  ...members,
})
const ENGLISH = system({ language: 'en' })
const ANY = system({})

const observation = (code: string, display: string, language?: string): JsonObject => ({
  resourceType: 'Observation',
  status: 'final',
  ...(language !== undefined && { language }),
  code: { coding: [{ system: URL, code, display }] },
})
const PLACE = 'Observation.code.coding[0].display'
const WRONG = [`error|invalid display-wrong ${PLACE}`]
const DEFAULT = [`information|invalid display-language ${PLACE}`]

add('of the code', [], observation('a', 'alpha'), [ENGLISH])
add('in any language of a resource without language', [], observation('a', 'Alfa'), [ENGLISH])
add('that no one gave the code: Display_Name_for__should_be_one_of__instead_of', WRONG, observation('a', 'Beta'), [ENGLISH])
add('in the language of the resource', [], observation('a', 'Alfa', 'de-AT'), [ENGLISH])
add('in another language, where there is one in that of the resource', WRONG, observation('a', 'Alpha', 'de'), [
  { ...ENGLISH, concept: [{ code: 'a', display: 'Alpha', designation: [{ language: 'de', value: 'Alfa' }] }] },
])
add('of the code system, where there is none: NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_OK', DEFAULT, observation('b', 'Beta', 'fr'), [ENGLISH])
add('of no one, where there is none: NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_ERR', WRONG, observation('b', 'Gamma', 'fr'), [ENGLISH])
add('of a code system that does not state its language', [], observation('b', 'Beta', 'fr'), [ANY])
add('where the language of the resource is none', [], observation('a', 'Alfa', '!'), [ENGLISH])
add('of a code without any: NO_VALID_DISPLAY_FOUND', [`warning|invalid display-wrong ${PLACE}`], observation('c', 'Gamma'), [ENGLISH])
add('that is not used any more: INACTIVE_DISPLAY_FOUND', [`warning|invalid display-outdated ${PLACE}`], observation('a', 'Aleph'), [
  ENGLISH,
])
add(
  'in the language of the Bundle around',
  ['information|invalid display-language Bundle.entry[0].resource.code.coding[0].display'],
  {
    resourceType: 'Bundle',
    type: 'collection',
    language: 'fr',
    entry: [{ fullUrl: 'urn:uuid:5b9a2f3e-8c1d-4e6f-a7b8-9c0d1e2f3a4b', resource: observation('b', 'Beta') }],
  },
  [ENGLISH],
)
