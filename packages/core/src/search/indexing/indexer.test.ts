import { beforeAll, describe, expect, it } from 'vitest'
import { published, publishedSearchParameters, publishedTypes } from '../../../test/r4-definitions.js'
import type { JsonObject } from '../../json/index.js'
import { putResource, type IndexEntry, type Indexer } from '../../storage/index.js'
import { createIndexer, searchParameters } from '../index.js'

let index: Indexer

beforeAll(() => {
  index = createIndexer(searchParameters(publishedSearchParameters(), publishedTypes()), { base: 'http://own.example/fhir' })
})

/** The entries of one parameter, without its code. */
function entries(resource: JsonObject, param: string): readonly Omit<IndexEntry, 'param'>[] {
  return index(resource).flatMap(({ param: code, ...rest }) => (code === param ? [rest] : []))
}

function at(instant: string): number {
  return Date.parse(instant)
}

type Case = readonly [title: string, resource: JsonObject, param: string, expected: readonly Omit<IndexEntry, 'param'>[]]

const CASES: readonly Case[] = [
  ['a code', { resourceType: 'Patient', gender: 'female' }, 'gender', [{ value: 'female' }]],
  ['a boolean', { resourceType: 'Patient', active: false }, 'active', [{ value: 'false' }]],
  ['deceased by boolean', { resourceType: 'Patient', deceasedBoolean: true }, 'deceased', [{ value: 'true' }]],
  ['deceased by date', { resourceType: 'Patient', deceasedDateTime: '2020' }, 'deceased', [{ value: 'true' }]],
  ['not deceased', { resourceType: 'Patient' }, 'deceased', [{ value: 'false' }]],
  [
    'a concept with its codings and text',
    { resourceType: 'Condition', code: { coding: [{ system: 'http://s', code: '1', display: 'Größe' }, { code: '2' }], text: 'Big One' } },
    'code',
    [{ system: 'http://s', value: '1', text: 'grosse' }, { value: '2' }, { text: 'big one' }],
  ],
  [
    'a coding',
    { resourceType: 'Encounter', class: { system: 'http://s', code: 'EMER' } },
    'class',
    [{ system: 'http://s', value: 'EMER' }],
  ],
  [
    'identifiers',
    { resourceType: 'Patient', identifier: [{ system: 'http://s', value: '1', type: { text: 'MRN' } }, { value: '2' }] },
    'identifier',
    [{ system: 'http://s', value: '1', text: 'mrn' }, { value: '2' }],
  ],
  [
    'contact points by use and by system',
    {
      resourceType: 'Patient',
      telecom: [
        { system: 'phone', use: 'home', value: '555' },
        { system: 'email', value: 'a@b' },
      ],
    },
    'telecom',
    [
      { system: 'home', value: '555' },
      { system: 'phone', value: '555' },
      { system: 'email', value: 'a@b' },
    ],
  ],
  [
    'the parts of a name',
    { resourceType: 'Patient', name: [{ family: 'Müller', given: ['Jo  Ann', 'B'] }] },
    'name',
    [
      { value: 'Müller', text: 'muller' },
      { value: 'Jo  Ann', text: 'jo ann' },
      { value: 'B', text: 'b' },
    ],
  ],
  [
    'the parts of an address',
    { resourceType: 'Patient', address: [{ line: ['1 Rue'], city: 'Évry', postalCode: '91', country: 'FR', use: 'home' }] },
    'address',
    [
      { value: '1 Rue', text: '1 rue' },
      { value: 'Évry', text: 'evry' },
      { value: '91', text: '91' },
      { value: 'FR', text: 'fr' },
    ],
  ],
  [
    'a relative reference',
    { resourceType: 'Observation', subject: { reference: 'Patient/1' } },
    'subject',
    [{ system: 'Patient', value: '1' }],
  ],
  [
    'a reference to a version',
    { resourceType: 'Observation', subject: { reference: 'Patient/1/_history/2' } },
    'patient',
    [{ system: 'Patient', value: '1' }],
  ],
  [
    'an absolute reference on this server',
    { resourceType: 'Observation', subject: { reference: 'http://own.example/fhir/Patient/1' } },
    'patient',
    [{ system: 'Patient', value: '1' }],
  ],
  [
    'a reference to another server',
    { resourceType: 'Observation', subject: { reference: 'http://other/Patient/1' } },
    'subject',
    [{ value: 'http://other/Patient/1' }],
  ],
  ['a urn', { resourceType: 'Observation', subject: { reference: 'urn:uuid:1' } }, 'subject', [{ value: 'urn:uuid:1' }]],
  ['a reference to a group is not a patient', { resourceType: 'Observation', subject: { reference: 'Group/1' } }, 'patient', []],
  ['a reference into the resource', { resourceType: 'Observation', subject: { reference: '#p' } }, 'subject', [{}]],
  [
    'an identifier by each code of its type',
    {
      resourceType: 'Patient',
      identifier: [{ value: 'A1', type: { coding: [{ system: 'http://t', code: 'MR' }, { code: 'no-system' }] } }, { value: '2' }],
    },
    'identifier:of-type',
    [{ system: 'http://t', value: 'MR', text: 'A1' }],
  ],
  [
    'a reference by identifier',
    { resourceType: 'Observation', subject: { identifier: { system: 'http://s', value: '1' } } },
    'subject:identifier',
    [{ system: 'http://s', value: '1' }],
  ],
  [
    'a reference by identifier that says its type',
    { resourceType: 'Observation', subject: { type: 'Patient', identifier: { value: '1' } } },
    'patient:identifier',
    [{ value: '1' }],
  ],
  [
    'a reference that says another type',
    { resourceType: 'Observation', subject: { type: 'Group', identifier: { value: '1' } } },
    'patient',
    [],
  ],
  [
    'a reference to a type of another server',
    { resourceType: 'Observation', subject: { reference: 'http://x/Patient/1/_history/2' } },
    'patient',
    [{ value: 'http://x/Patient/1/_history/2' }],
  ],
  ['a reference by identifier is there', { resourceType: 'Observation', subject: { identifier: { value: '1' } } }, 'subject', [{}]],
  [
    'a canonical',
    { resourceType: 'CarePlan', instantiatesCanonical: ['http://x|1'] },
    'instantiates-canonical',
    [{ value: 'http://x|1' }, { value: 'http://x' }],
  ],
  [
    'a resource in the place of a reference',
    { resourceType: 'Bundle', type: 'document', entry: [{ resource: { resourceType: 'Composition', id: 'c' } }] },
    'composition',
    [{ system: 'Composition', value: 'c' }],
  ],
  ['a uri', { resourceType: 'ValueSet', url: 'http://x' }, 'url', [{ value: 'http://x' }]],
  ['a date', { resourceType: 'Patient', birthDate: '1980-02' }, 'birthdate', [{ low: at('1980-02-01'), high: at('1980-03-01') - 1 }]],
  [
    'a time with zone',
    { resourceType: 'Observation', effectiveDateTime: '2020-01-01T10:00:00+02:00' },
    'date',
    [{ low: at('2020-01-01T08:00:00Z'), high: at('2020-01-01T08:00:00.999Z') }],
  ],
  [
    'an instant',
    { resourceType: 'Observation', effectiveInstant: '2020-01-01T10:00:00.5Z' },
    'date',
    [{ low: at('2020-01-01T10:00:00.5Z'), high: at('2020-01-01T10:00:00.599Z') }],
  ],
  [
    'a period',
    { resourceType: 'Encounter', period: { start: '2020', end: '2021-06' } },
    'date',
    [{ low: at('2020-01-01'), high: at('2021-07-01') - 1 }],
  ],
  [
    'an open period',
    { resourceType: 'Encounter', period: { start: '2020' } },
    'date',
    [{ low: at('2020-01-01'), high: 8_640_000_000_000_000 }],
  ],
  [
    'the outer limits of a timing',
    { resourceType: 'Observation', effectiveTiming: { event: ['2021', '2020'], repeat: { boundsPeriod: { start: '2019', end: '2020' } } } },
    'date',
    [{ low: at('2019-01-01'), high: at('2022-01-01') - 1 }],
  ],
  ['a timing without limits', { resourceType: 'Observation', effectiveTiming: { code: { text: 'BID' } } }, 'date', []],
  ['a date that is none', { resourceType: 'Patient', birthDate: '1980-02-30' }, 'birthdate', []],
  ['a number', { resourceType: 'RiskAssessment', prediction: [{ probabilityDecimal: 0.5 }] }, 'probability', [{ low: 0.5, high: 0.5 }]],
  [
    'a quantity by code and by unit',
    { resourceType: 'Observation', valueQuantity: { value: 80, unit: 'kilo', system: 'http://u', code: 'kg' } },
    'value-quantity',
    [
      { system: 'http://u', value: 'kg', low: 80, high: 80 },
      { value: 'kilo', low: 80, high: 80 },
    ],
  ],
  [
    'a quantity below a bound',
    { resourceType: 'Observation', valueQuantity: { value: 5, comparator: '<' } },
    'value-quantity',
    [{ low: -Number.MAX_VALUE, high: 5 }],
  ],
  [
    'money',
    { resourceType: 'Invoice', totalNet: { value: 3, currency: 'EUR' } },
    'totalnet',
    [{ system: 'urn:iso:std:iso:4217', value: 'EUR', low: 3, high: 3 }],
  ],
  [
    'a range',
    { resourceType: 'Condition', onsetRange: { low: { value: 3, unit: 'a' }, high: { value: 5, unit: 'a' } } },
    'onset-age',
    [
      { low: 3, high: 5 },
      { value: 'a', low: 3, high: 5 },
    ],
  ],
  [
    'a tuple of code and quantity',
    {
      resourceType: 'Observation',
      code: { coding: [{ system: 'http://l', code: '1' }] },
      valueQuantity: { value: 80, code: 'kg', system: 'http://u' },
    },
    'code-value-quantity',
    ['kg', 'http://u|kg', 'http://u|'].map((text) => ({ system: 'http://l', value: '1', low: 80, high: 80, text })),
  ],
  [
    'a tuple of code and concept',
    { resourceType: 'Observation', code: { coding: [{ code: '1' }] }, valueCodeableConcept: { coding: [{ code: '2' }] } },
    'code-value-concept',
    [
      { value: '1', text: '2' },
      { value: '1', text: '|2' },
    ],
  ],
  [
    'a tuple of code and date',
    { resourceType: 'Observation', code: { coding: [{ code: '1' }] }, valueDateTime: '2020' },
    'code-value-date',
    [{ value: '1', low: at('2020-01-01'), high: at('2021-01-01') - 1 }],
  ],
  [
    'tuples keep components apart',
    {
      resourceType: 'Observation',
      component: [
        { code: { coding: [{ code: 'a' }] }, valueQuantity: { value: 1 } },
        { code: { coding: [{ code: 'b' }] }, valueQuantity: { value: 2 } },
      ],
    },
    'component-code-value-quantity',
    [
      { value: 'a', low: 1, high: 1 },
      { value: 'b', low: 2, high: 2 },
    ],
  ],
  [
    'coordinates',
    {
      resourceType: 'MolecularSequence',
      referenceSeq: { chromosome: { coding: [{ code: '1' }] }, windowStart: 1, windowEnd: 1 },
      variant: [{ start: 22, end: 23 }],
    },
    'chromosome-variant-coordinate',
    [{ value: '1', low: 22, high: 23 }],
  ],
  ['tags', { resourceType: 'Patient', meta: { tag: [{ system: 'http://t', code: 'x' }] } }, '_tag', [{ system: 'http://t', value: 'x' }]],
  [
    'profiles',
    { resourceType: 'Patient', meta: { profile: ['http://p|1'] } },
    '_profile',
    [{ value: 'http://p|1' }, { value: 'http://p' }],
  ],
  ['the source', { resourceType: 'Patient', meta: { source: 'http://s' } }, '_source', [{ value: 'http://s' }]],
  ['a bot', { resourceType: 'Bot', identifier: [{ system: 'http://s', value: 'b' }] }, 'identifier', [{ system: 'http://s', value: 'b' }]],
  ['the project of a bot', { resourceType: 'Bot', project: 'p' }, 'project', [{ value: 'p' }]],
  ['the url of a definition', { resourceType: 'ValueSet', url: 'http://x' }, 'definition:url', [{ value: 'http://x' }]],
]

describe('createIndexer', () => {
  it.each(CASES)('indexes %s', (_, resource, param, expected) => {
    expect(entries(resource, param)).toEqual(expected)
  })

  it('gives codes the system that the definitions tell, and codings their own', () => {
    const rows = [
      {
        url: 'u',
        code: 'c',
        base: ['Patient', 'Person'],
        type: 'token',
        expression: 'Patient.gender | Person.gender',
        systems: { Patient: 'http://s' },
      },
      { url: 'v', code: 'm', base: ['Patient'], type: 'token', expression: 'Patient.maritalStatus', systems: { Patient: 'http://s' } },
    ]
    const indexed = createIndexer(searchParameters(rows, { type: () => undefined, names: () => [] }))
    expect(indexed({ resourceType: 'Patient', gender: 'male', maritalStatus: { coding: [{ code: 'M' }] } })).toEqual([])
    const typed = createIndexer(searchParameters(rows, publishedTypes()))
    expect(typed({ resourceType: 'Patient', gender: 'male', maritalStatus: { coding: [{ code: 'M' }] } })).toEqual([
      { param: 'c', system: 'http://s', value: 'male' },
      { param: 'm', value: 'M' },
    ])
    expect(typed({ resourceType: 'Person', gender: 'male' })).toEqual([{ param: 'c', value: 'male' }])
  })

  it('gives equal entries once', () => {
    const coding = { system: 'http://s', code: '1' }
    expect(entries({ resourceType: 'Condition', code: { coding: [coding, coding] } }, 'code')).toHaveLength(1)
  })

  it('gives nothing for shapes that the parameter does not expect', () => {
    const resource = {
      resourceType: 'Patient',
      name: 'x',
      birthDate: 7,
      gender: { a: 1 },
      identifier: 'y',
      managingOrganization: [1],
      active: null,
    }
    const found = index(resource).filter(({ param }) => param !== 'deceased')
    expect(found.filter(({ param }) => !['name', 'family', 'gender'].includes(param) && param !== 'identifier')).toEqual([])
  })

  it.each([
    'Patient',
    'Observation',
    'Encounter',
    'MedicationRequest',
    'ValueSet',
    'StructureDefinition',
    'Bundle',
    'Questionnaire',
    'Group',
  ])('reads every published example of %s', (type) => {
    for (const resource of published(type, { most: 40 })) {
      const found = index(resource)
      expect(found.length).toBeGreaterThan(0)
      for (const { low = 0, high = 0 } of found) expect(Number.isFinite(low) && Number.isFinite(high) && low <= high).toBe(true)
    }
  })

  it('evaluates every parameter of every type', () => {
    const types = new Set(publishedSearchParameters().flatMap(({ base }) => base))
    for (const type of types) if (type !== 'Resource' && type !== 'DomainResource') index({ resourceType: type, id: 'x' })
  })
})

describe('a resource with others in it', () => {
  const resource = {
    resourceType: 'Observation',
    id: 'o',
    subject: { reference: '#p' },
    performer: [{ reference: '#nobody' }],
    contained: [
      {
        resourceType: 'Patient',
        id: 'p',
        gender: 'male',
        managingOrganization: { reference: '#' },
        generalPractitioner: [{ reference: '#d' }],
      },
      { resourceType: 'Practitioner', id: 'd', active: true },
      { resourceType: 'Practitioner', id: 'd', active: false },
      { resourceType: 'Practitioner' },
      { resourceType: 'constructor', id: 'c' },
    ],
  }

  it('refers to each of them that has an id', () => {
    const member = { system: '#Patient', value: 'Observation/o#p' }
    expect(entries(resource, '#')).toEqual([member, { system: '#Practitioner', value: 'Observation/o#d' }])
    expect(entries(resource, 'subject')).toEqual([member])
    expect(entries(resource, 'patient')).toEqual([member])
    expect(entries(resource, 'performer')).toEqual([{}])
  })

  it('is stored with what each of them is found by', () => {
    const { contained = [] } = putResource({ type: 'Observation', id: 'o', source: resource }, index)
    expect(contained.map(({ type, id }) => `${type} ${id}`)).toEqual(['#Patient Observation/o#p', '#Practitioner Observation/o#d'])
    const [patient, practitioner] = contained
    expect(patient?.entries).toEqual(
      expect.arrayContaining([
        { param: '_id', value: 'p' },
        { param: 'gender', value: 'male' },
        { param: 'organization', system: 'Observation', value: 'o' },
        { param: 'general-practitioner', system: '#Practitioner', value: 'Observation/o#d' },
      ]),
    )
    expect(practitioner?.entries).toContainEqual({ param: 'active', value: 'true' })
    expect(putResource({ type: 'Patient', id: 'p', source: { resourceType: 'Patient' } }, index)).not.toHaveProperty('contained')
  })
})

describe('a large resource', () => {
  it('is indexed whole, however many codes it has', () => {
    const concept = Array.from({ length: 150_000 }, (_, i) => ({ code: `c${i}`, designation: [{ language: 'de', value: `${i}` }] }))
    expect(entries({ resourceType: 'CodeSystem', concept }, 'code')).toHaveLength(150_000)
  })

  it('is indexed whole where a parameter unites lists', () => {
    const component = Array.from({ length: 15_000 }, (_, i) => ({ code: { coding: [{ code: `c${i}` }] }, valueQuantity: { value: i } }))
    const found = Map.groupBy(index({ resourceType: 'Observation', code: { text: 'all' }, component }), ({ param }) => param)
    expect(found.get('combo-code')).toHaveLength(15_001)
    expect(found.get('combo-value-quantity')).toHaveLength(15_000)
    expect(found.get('component-code-value-quantity')).toHaveLength(15_000)
    expect(found.has('combo-code-value-quantity')).toBe(false)
  })

  it('is indexed while others run in between, with the same entries', () => {
    const name = Array.from({ length: 10_000 }, (_, i) => ({ family: `f${i % 7_000}` }))
    const work = index.work?.({ resourceType: 'Patient', name })
    let pieces = 0
    for (let step = work?.next(); step?.done === false; step = work?.next()) pieces++
    expect(pieces).toBeGreaterThan(100)
    expect(entries({ resourceType: 'Patient', name }, 'family')).toEqual(
      name.slice(0, 7_000).map(({ family }) => ({ value: family, text: family })),
    )
  })
})

describe('what applies to a resource', () => {
  it('is told by its type, also where the definitions have none', () => {
    const [bot, other] = ['Bot', 'Robot'].map((resourceType) => index({ resourceType, name: 'n', project: 'p' }))
    expect(bot?.map(({ param }) => param)).toEqual(['name', 'project'])
    expect(other).toEqual([])
    expect(index({ resourceType: 'Bot', name: 'n', project: 'p' })).toEqual(bot)
  })

  it('is told by its members again after many others', () => {
    const patient = { resourceType: 'Patient', gender: 'female', birthDate: '2020' }
    const before = index(patient)
    for (let n = 0; n < 2_000; n++) index({ resourceType: 'Patient', [`other${n}`]: n })
    expect(index(patient)).toEqual(before)
  })
})

it('lets other work run after each parameter, also where a long list has nothing for it', () => {
  const steps = [...(index.work?.({ resourceType: 'Patient', name: [null, null] }) ?? [])]
  expect(steps.length).toBeGreaterThanOrEqual(['name', 'family', 'given', 'phonetic'].length)
})
