import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'
import { profileOn } from './profile-on.js'

const add = messageTests('an extension for an element of a profile', /^extension-context$/)

const SD = 'http://hl7.org/fhir/StructureDefinition/'
const NAMED = profileOn('Patient', 'http://a.org/StructureDefinition/named', [
  { id: 'Patient.name', path: 'Patient.name', min: 1 },
  { id: 'Patient.contact', path: 'Patient.contact' },
  { id: 'Patient.contact.name', path: 'Patient.contact.name', min: 1 },
])
const URL = 'http://a.org/StructureDefinition/mark'

const inside = (expression: string): JsonObject => ({
  ...profileOn('Extension', URL, [
    { id: 'Extension.url', path: 'Extension.url', fixedUri: URL },
    { id: 'Extension.value[x]', path: 'Extension.value[x]', type: [{ code: 'string' }] },
  ]),
  kind: 'complex-type',
  context: [{ type: 'element', expression }],
})
const marked = { extension: [{ url: URL, valueString: 'x' }] }
const patient = (members: JsonObject): JsonObject => ({ resourceType: 'Patient', ...members })
const WRONG = (place: string): string => `error|structure extension-context ${place}`

const onPatient = inside('http://a.org/StructureDefinition/named#Patient')
add('that conforms', [], patient({ ...marked, name: [{ text: 'A' }] }), [NAMED, onPatient])
add('that does not conform', [WRONG('Patient')], patient({ ...marked, active: true }), [NAMED, onPatient])
add('and is on another', [WRONG('Patient.contact[0]')], patient({ contact: [{ ...marked, name: { text: 'A' } }] }), [NAMED, onPatient])
const onContact = inside('http://a.org/StructureDefinition/named#Patient.contact')
add('below its root', [], patient({ contact: [{ ...marked, name: { text: 'A' } }] }), [NAMED, onContact])
add('below its root, that does not conform', [WRONG('Patient.contact[0]')], patient({ contact: [{ ...marked, gender: 'male' }] }), [
  NAMED,
  onContact,
])
add('of a type', [], patient(marked), [inside(`${SD}Patient#Patient`)])
add(
  'that is not known: EXTENSION_CONTEXT_UNABLE_TO_FIND_PROFILE',
  ['error|unknown extension-context Patient', WRONG('Patient')],
  patient(marked),
  [inside('http://a.org/StructureDefinition/nowhere#Patient')],
)
