import { expect, test } from 'vitest'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const LIBRARY = 'http://elements.test/library'
const USE = 'http://elements.test/use'
const library = profileOn('Patient', LIBRARY, [
  { id: 'Patient.contact', path: 'Patient.contact', slicing: { discriminator: [{ type: 'value', path: 'gender' }], rules: 'open' } },
  { id: 'Patient.contact:kin', path: 'Patient.contact', sliceName: 'kin' },
  { id: 'Patient.contact:kin.name', path: 'Patient.contact.name', min: 1 },
  { id: 'Patient.contact:kin.gender', path: 'Patient.contact.gender', fixedCode: 'male' },
])
const element = [{ url: 'http://hl7.org/fhir/StructureDefinition/elementdefinition-profile-element', valueString: 'Patient.contact:kin' }]
const use = profileOn('Patient', USE, [
  {
    id: 'Patient.contact',
    path: 'Patient.contact',
    type: [{ code: 'BackboneElement', profile: [LIBRARY], _profile: [{ extension: element }] }],
  },
])

test.each([
  [{ name: { text: 'Ann' } }, []],
  [{ telecom: [{ value: '1' }] }, ['error too-few Patient.contact[0]']],
])('a type may be one element of a profile, whose rules apply: %j', async (contact, said) => {
  const patient = { resourceType: 'Patient', meta: { profile: [USE] }, contact: [contact] }
  expect(await findingsOf(patient, [library, use], /^(too-few|profile)/)).toEqual(said)
})
