import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/json'
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
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>` },
})
const inGerman = '<div xml:lang="de" lang="de">Hallo</div>'
const inEnglish = '<div lang="en">Hello</div>'
const within = (name: string, years: number): JsonObject => ({
  path: 'Patient.birthDate',
  [name]: { value: years, system: 'http://unitsofmeasure.org', code: 'a' },
})
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
  ['no sections where some must be', sections('_yes'), narrative('Hello'), ['error narrative-sections Patient.text']],
  [
    'no section in the language of the resource',
    sections('_resource'),
    narrative(inGerman),
    ['warning narrative-language Patient', 'error narrative-sections Patient.text'],
  ],
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
    const found = await findingsOf(resource, [profile(element)], /^(too-few|value-limit|value-missing|narrative-|invariant)/)
    expect(found.toSorted()).toEqual(expected.toSorted())
  })
})
