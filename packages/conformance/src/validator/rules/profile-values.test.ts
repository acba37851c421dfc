import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const PROFILE = 'http://example.org/fhir/StructureDefinition/p'
const BASE = 'http://hl7.org/fhir/StructureDefinition/'
const R5_ELEMENT = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-ElementDefinition.'
const ABSENT = `${BASE}data-absent-reason`

function profile(element: JsonObject): JsonObject {
  return profileOn('Patient', PROFILE, [element])
}

const sections = (...codes: readonly string[]): JsonObject => ({
  path: 'Patient.text',
  extension: codes.map((valueCode) => ({ url: `${BASE}narrative-language-control`, valueCode })),
})
const narrative = (content: string): JsonObject => ({
  language: 'en',
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml" lang="en" xml:lang="en">${content}</div>` },
})
const inGerman = '<div xml:lang="de" lang="de">Hallo</div>'
const inEnglish = '<div lang="en">Hello</div>'
const within = (name: string, years: number): JsonObject => ({
  path: 'Patient.birthDate',
  [name]: { value: years, system: 'http://unitsofmeasure.org', code: 'a' },
})
const multiple = (members: JsonObject): JsonObject => ({ path: 'Patient.multipleBirth[x]', ...members })
const name = (members: JsonObject): JsonObject => ({ path: 'Patient.name.family', ...members })
const deceased = {
  path: 'Patient.deceased[x]',
  minValueDateTime: '2016-12-31T23:59:59Z',
  maxValueDateTime: '2017-01-01T00:00:00Z',
}
const photo = (valueDecimal: number): JsonObject => ({ path: 'Patient.photo', extension: [{ url: `${BASE}maxSize`, valueDecimal }] })
const alternative = { path: 'Patient.active', extension: [{ url: `${R5_ELEMENT}valueAlternatives`, valueCanonical: ABSENT }] }
const needed = { path: 'Patient.active', extension: [{ url: `${R5_ELEMENT}mustHaveValue`, valueBoolean: true }] }
const absent = { _active: { extension: [{ url: ABSENT, valueCode: 'unknown' }] } }
const named = (expression: string): JsonObject => ({
  path: 'Patient',
  constraint: [{ key: 'p-1', severity: 'error', human: 'Named.', expression }],
})
const person = { name: [{ family: 'Doe' }] }

const inChoice = { path: 'Patient.multipleBirthInteger.extension', min: 1 }

/** The clock says 2026-01-01. */
const CASES: readonly (readonly [string, JsonObject, JsonObject, readonly string[]])[] = [
  [
    'a limit of a date that is not a whole number of years',
    { path: 'Patient.birthDate', minValueQuantity: { value: 1.5, system: 'http://unitsofmeasure.org', code: 'a' } },
    { birthDate: '2025-12-31' },
    ['error value-limit Patient.birthDate'],
  ],
  [
    'a limit of a date with a comparator',
    { path: 'Patient.birthDate', minValueQuantity: { value: 1, comparator: '<', system: 'http://unitsofmeasure.org', code: 'a' } },
    { birthDate: '2025-12-31' },
    ['error value-limit Patient.birthDate'],
  ],
  [
    'a limit of a date by what is no time',
    { path: 'Patient.birthDate', maxValueQuantity: { value: 1, system: 'http://unitsofmeasure.org', code: 'kg' } },
    { birthDate: '2025-12-31' },
    ['error value-limit Patient.birthDate'],
  ],
  [
    'a limit of a date by a unit that is not of UCUM',
    { path: 'Patient.birthDate', maxValueQuantity: { value: 1, system: 'http://a.org/units', code: 'a' } },
    { birthDate: '2025-12-31' },
    ['error value-limit Patient.birthDate'],
  ],
  [
    'a date after a limit of days and a part of one',
    { path: 'Patient.birthDate', maxValueQuantity: { value: 1.5, system: 'http://unitsofmeasure.org', code: 'd' } },
    { birthDate: '2026-01-05' },
    ['error value-limit Patient.birthDate'],
  ],
  [
    'a date within a limit of days and a part of one',
    { path: 'Patient.birthDate', maxValueQuantity: { value: 1.5, system: 'http://unitsofmeasure.org', code: 'd' } },
    { birthDate: '2026-01-02' },
    [],
  ],
  [
    'a date within a limit of years',
    { path: 'Patient.birthDate', maxValueQuantity: { value: 1, system: 'http://unitsofmeasure.org', code: 'a' } },
    { birthDate: '2025-12-31' },
    [],
  ],
  [
    'an element within one type of a choice',
    inChoice,
    { multipleBirthInteger: 1 },
    ['error too-few Patient.multipleBirth.ofType(integer)'],
  ],
  [
    'an extension that is needed',
    { path: 'Patient.birthDate.extension', min: 1 },
    { birthDate: '2000' },
    ['error too-few Patient.birthDate'],
  ],
  ['an element within one type of a choice that has another', inChoice, { multipleBirthBoolean: true }, []],
  [
    'a date before the least, counted from now',
    within('minValueDuration', 10),
    { birthDate: '2015-12-31' },
    ['error value-limit Patient.birthDate'],
  ],
  ['a date at the least, counted from now', within('minValueDuration', 10), { birthDate: '2016-01-01' }, []],
  [
    'a date after the most, counted from now',
    within('maxValueQuantity', 10),
    { birthDate: '2037' },
    ['error value-limit Patient.birthDate'],
  ],
  ['a date of the year of the most', within('maxValueQuantity', 10), { birthDate: '2036' }, []],
  [
    'an integer below the least',
    multiple({ minValueInteger: 2 }),
    { multipleBirthInteger: 1 },
    ['error value-limit Patient.multipleBirth.ofType(integer)'],
  ],
  ['an integer at the least', multiple({ minValueInteger: 2 }), { multipleBirthInteger: 2 }, []],
  [
    'a text at the most, of characters that JavaScript counts twice',
    name({ maxLength: 2 }),
    { name: [{ family: '\u{20BB7}\u{1F600}' }] },
    [],
  ],
  [
    'a text of too many such',
    name({ maxLength: 1 }),
    { name: [{ family: '\u{20BB7}\u{1F600}' }] },
    ['error value-limit Patient.name[0].family'],
  ],
  ['a leap second within the limits', deceased, { deceasedDateTime: '2016-12-31T23:59:60Z' }, []],
  [
    'a leap second after the most',
    deceased,
    { deceasedDateTime: '2017-12-31T23:59:60Z' },
    ['error value-limit Patient.deceased.ofType(dateTime)'],
  ],
  ['a text of the form', name({ extension: [{ url: `${BASE}regex`, valueString: '[A-Z]+' }] }), { name: [{ family: 'X' }] }, []],
  [
    'a text of another form',
    name({ extension: [{ url: `${BASE}regex`, valueString: '[A-Z]+' }] }),
    { name: [{ family: 'Xy' }] },
    ['error value-limit Patient.name[0].family'],
  ],
  ['an attachment that is not too large', photo(3), { photo: [{ contentType: 'image/png', data: 'AAAA' }] }, []],
  [
    'an attachment that is too large',
    photo(2),
    { photo: [{ contentType: 'image/png', data: 'AAAA' }] },
    ['error value-limit Patient.photo[0]'],
  ],
  [
    'an attachment that says it is too large',
    photo(2),
    { photo: [{ url: 'http://x.org', size: 3 }] },
    ['error value-limit Patient.photo[0]'],
  ],
  ['a value that must be there', needed, absent, ['error value-missing Patient.active']],
  ['a value that is there', needed, { active: true }, []],
  ['an extension in the place of a value', alternative, absent, []],
  [
    'no such extension',
    alternative,
    { _active: { extension: [{ url: `${BASE}originalText`, valueString: 'x' }] } },
    ['error value-missing Patient.active'],
  ],
  ['sections where none may be', sections('_no'), narrative(inEnglish), ['error narrative-sections Patient.text']],
  ['no sections where none may be', sections('_no'), narrative('Hello'), []],
  ['no sections where one in a language must be', sections('de'), narrative('Hello'), ['warning narrative-sections Patient.text']],
  ['no section in a language', sections('fr'), narrative(inEnglish), ['error narrative-sections Patient.text']],
  ['no sections where some must be', sections('_yes'), narrative('Hello'), ['error narrative-sections Patient.text']],
  ['no section in the language of the resource', sections('_resource'), narrative(inGerman), ['error narrative-sections Patient.text']],
  ['a section in the language of the resource', sections('_resource'), narrative(inGerman + inEnglish), []],
  [
    'a language that is asked for by name',
    sections('fr', 'de'),
    narrative(inGerman + inEnglish),
    ['error narrative-sections Patient.text'],
  ],
  ['a string taken for a System.String', named("(name.first().family as String) = 'Doe'"), person, []],
  ['a boolean taken for a System.String', named("(active as String) = 'true'"), { active: true }, ['error invariant Patient']],
]

describe('what a profile says about values', () => {
  test.each(CASES)('%s', async (_, element, members, expected) => {
    const resource = { resourceType: 'Patient', meta: { profile: [PROFILE] }, ...members }
    const found = await findingsOf(resource, [profile(element)], /^(too-few|value-limit|value-missing|narrative-sections|invariant)/)
    expect(found.toSorted()).toEqual(expected.toSorted())
  })
})

describe('what a profile says about quantities', () => {
  const UCUM = 'http://unitsofmeasure.org'
  const quantity = (value: number, code: string): JsonObject => ({ value, system: UCUM, code })
  const least = { path: 'Observation.value[x]', minValueQuantity: quantity(2, 'g') }
  const units = {
    path: 'Observation.value[x]',
    extension: [{ url: `${BASE}elementdefinition-allowedUnits`, valueCodeableConcept: { coding: [{ system: UCUM, code: 'g' }] } }],
  }
  const places = { path: 'Observation.value[x]', extension: [{ url: `${BASE}maxDecimalPlaces`, valueInteger: 1 }] }
  const PLACE = 'value-limit Observation.value.ofType(Quantity)'

  test.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['enough', least, quantity(2, 'g'), []],
    ['enough in another unit', least, quantity(2000, 'mg'), []],
    ['too little', least, quantity(1, 'g'), [`error ${PLACE}`]],
    ['too little in another unit', least, quantity(1999, 'mg'), [`error ${PLACE}`]],
    ['a unit of another kind', least, quantity(2, 's'), [`error ${PLACE}`]],
    ['no unit', least, { value: 1 }, [`warning ${PLACE}`]],
    ['a unit of another system', least, { value: 1, system: 'http://x.org', code: 'g' }, [`warning ${PLACE}`]],
    ['no value', least, { unit: 'g' }, [`warning ${PLACE}`]],
    ['an allowed unit', units, quantity(1, 'g'), []],
    ['a unit that is not allowed', units, quantity(1, 'kg'), [`error ${PLACE}`]],
    ['few decimal places', places, quantity(1.5, 'g'), []],
    ['too many decimal places', places, quantity(1.55, 'g'), [`error ${PLACE}`]],
  ])('%s', async (_, element, valueQuantity, expected) => {
    const resource = { resourceType: 'Observation', meta: { profile: [PROFILE] }, status: 'final', code: { text: 'x' }, valueQuantity }
    expect(await findingsOf(resource, [profileOn('Observation', PROFILE, [element])], /^value-limit/)).toEqual(expected)
  })
})

test.each<readonly [types: readonly string[], said: readonly string[]]>([
  [['string', 'Quantity'], []],
  [['Quantity'], ['error type-not-allowed Observation.value.ofType(string)']],
  // Validation_VAL_Profile_NoType
  [['Quantity', 'CodeableConcept'], ['error type-not-allowed Observation']],
])('a string where a profile allows %j', async (types, said) => {
  const profile = profileOn('Observation', 'http://a.org/StructureDefinition/typed', [
    { id: 'Observation.value[x]', path: 'Observation.value[x]', type: types.map((code) => ({ code })) },
  ])
  const resource = {
    resourceType: 'Observation',
    meta: { profile: ['http://a.org/StructureDefinition/typed'] },
    status: 'final',
    code: { text: 'x' },
    valueString: 'x',
  }
  expect(await findingsOf(resource, [profile], /^type-not-allowed$/)).toEqual(said)
})

describe('what a pattern or fixed value requires and is not there, or is there beside', () => {
  const identifier = (value: JsonObject): JsonObject => ({ path: 'Patient.identifier', ...value })
  const AT = 'Patient.identifier[0]'

  // Profile_VAL_MissingElement
  test.each<readonly [what: string, element: JsonObject, given: JsonObject, said: readonly string[]]>([
    ['a text', identifier({ patternIdentifier: { system: 'http://a.org' } }), { value: '1' }, [`value-pattern ${AT}.system`]],
    ['an object', identifier({ patternIdentifier: { type: { text: 'x' } } }), { value: '1' }, [`value-pattern ${AT}.type`]],
    [
      'a text in an object',
      identifier({ patternIdentifier: { type: { text: 'x' } } }),
      { type: { coding: [{ system: 'http://a.org', code: 'a' }] } },
      [`value-pattern ${AT}.type.text`],
    ],
    [
      'a list, at its holder',
      identifier({ patternIdentifier: { type: { coding: [{ system: 'http://a.org', code: 'a' }] } } }),
      { type: { text: 'x' } },
      [`value-pattern ${AT}.type`],
    ],
    [
      'of a fixed value',
      identifier({ fixedIdentifier: { system: 'http://a.org', value: '1' } }),
      { value: '1' },
      [`value-fixed ${AT}.system`],
    ],
    ['beside a fixed value', identifier({ fixedIdentifier: { value: '1' } }), { value: '1', use: 'usual' }, [`value-fixed ${AT}.use`]],
    [
      'a list beside a fixed value, at its holder',
      identifier({ fixedIdentifier: { type: { text: 'x' } } }),
      { type: { text: 'x', coding: [{ system: 'http://a.org', code: 'a' }] } },
      [`value-fixed ${AT}.type`],
    ],
  ])('%s', async (_, element, given, said) => {
    const url = 'http://a.org/StructureDefinition/valued'
    const resource = { resourceType: 'Patient', meta: { profile: [url] }, identifier: [given] }
    const found = await findingsOf(resource, [profileOn('Patient', url, [element])], /^value-/)
    expect(found).toEqual(said.map((one) => `error ${one}`))
  })
})

describe('extensions of a primitive that has a fixed value', () => {
  const ABSENT = { extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }] }

  // Extension_EXT_Fixed_Banned: what is missing in the value is missing in the element.
  test.each<readonly [what: string, element: JsonObject, given: JsonObject, said: readonly string[]]>([
    ['are none of it', { path: 'Patient.gender', fixedCode: 'male' }, { gender: 'male', _gender: ABSENT }, ['Patient.gender']],
    [
      'are none of an item either',
      { path: 'Patient.name.given', fixedString: 'A' },
      { name: [{ given: ['A', 'A'], _given: [null, ABSENT] }] },
      ['Patient.name[0].given[1]'],
    ],
    [
      'are none of what is in it, at the primitive',
      { path: 'Patient.name', fixedHumanName: { family: 'A' } },
      { name: [{ family: 'A', _family: ABSENT }] },
      ['Patient.name[0].family'],
    ],
    ['may be there beside a pattern', { path: 'Patient.gender', patternCode: 'male' }, { gender: 'male', _gender: ABSENT }, []],
    ['an id is no extension', { path: 'Patient.gender', fixedCode: 'male' }, { gender: 'male', _gender: { id: 'a' } }, []],
  ])('%s', async (_, element, given, said) => {
    const url = 'http://a.org/StructureDefinition/extended'
    const resource = { resourceType: 'Patient', meta: { profile: [url] }, ...given }
    const found = await findingsOf(resource, [profileOn('Patient', url, [element])], /^value-/)
    expect(found).toEqual(said.map((place) => `error value-fixed ${place}`))
  })
})
