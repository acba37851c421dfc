import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'
import { profileOn } from './profile-on.js'

const add = messageTests('a patient with a profile that imposes another', /^(?:too-few|profile-unknown|profile-type)$/)

const IMPOSE = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-imposeProfile'
const NAMED = profileOn('Patient', 'http://a.org/StructureDefinition/named', [{ id: 'Patient.name', path: 'Patient.name', min: 1 }])
const VISIT = profileOn('Encounter', 'http://a.org/StructureDefinition/visit', [{ id: 'Encounter.type', path: 'Encounter.type', min: 1 }])

/** A profile that demands nothing itself. */
function imposing(name: string, canonicals: readonly string[]): JsonObject {
  const profile = profileOn('Patient', `http://a.org/StructureDefinition/${name}`, [{ id: 'Patient', path: 'Patient' }])
  return { ...profile, extension: canonicals.map((valueCanonical) => ({ url: IMPOSE, valueCanonical })) }
}

const ONE = imposing('one', ['http://a.org/StructureDefinition/named'])
const TWO = imposing('two', ['http://a.org/StructureDefinition/one', 'http://a.org/StructureDefinition/two'])
const DERIVED = { ...imposing('derived', []), baseDefinition: 'http://a.org/StructureDefinition/one' }
const UNKNOWN = imposing('unknown', ['http://a.org/StructureDefinition/nowhere'])
const OTHER_TYPE = imposing('other', ['http://a.org/StructureDefinition/visit'])

const patient = (profile: string, members: JsonObject = {}): JsonObject => ({
  resourceType: 'Patient',
  meta: { profile: [`http://a.org/StructureDefinition/${profile}`] },
  active: true,
  ...members,
})
const NAME = { name: [{ text: 'A' }] }
const MISSING = ['error|structure too-few Patient']

add('conforms to both', [], patient('one', NAME), [NAMED, ONE])
add('does not conform to the other', MISSING, patient('one'), [NAMED, ONE])
add('is imposed itself, and imposes itself', MISSING, patient('two'), [NAMED, ONE, TWO])
add('is the base of the one that is claimed', MISSING, patient('derived'), [NAMED, ONE, DERIVED])
add(
  'is not known: VALIDATION_VAL_PROFILE_DEPENDS_NOT_RESOLVED',
  ['warning|business-rule profile-unknown Patient.meta.profile[0]'],
  patient('unknown'),
  [UNKNOWN],
)
add('is for another type', ['error|structure profile-type Patient'], patient('other'), [VISIT, OTHER_TYPE])
