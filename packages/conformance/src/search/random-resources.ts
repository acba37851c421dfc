import fc from 'fast-check'
import type { Resource } from './naive/values.js'

/** Ids of each type; few, so that references often have a target. */
export const IDS: Readonly<Record<string, readonly string[]>> = {
  Organization: ['g1', 'g2', 'g3'],
  Patient: ['p1', 'p2', 'p3', 'p4'],
  Encounter: ['e1', 'e2', 'e3'],
  Observation: ['o1', 'o2', 'o3', 'o4', 'o5'],
  RiskAssessment: ['r1', 'r2', 'r3'],
  ValueSet: ['v1', 'v2', 'v3'],
  List: ['l1', 'l2'],
}

/** Parts of values, in resources and in searches. */
export const NAMES = [
  'Ann',
  'Änne',
  'A\u0308nne',
  'anna',
  'Ben Ann',
  'B',
  '日本',
  '김',
  '100%_',
  'a,b|c$d\\',
  '\u{1F600}',
  '\uFFFC',
] as const
export const SYSTEMS = ['http://a', 'http://b'] as const
export const CODES = ['x', 'y', 'X', 'x|y'] as const
export const DATES = [
  '2020',
  '2020-02',
  '2020-02-29',
  '2021-01-01',
  '2020-02-29T12:30:00Z',
  '2020-02-29T23:30:15-05:00',
  '2020-02-29T12:30:00.250Z',
  '2024-01-01',
] as const
export const DAYS = ['2019-12-31', '2020-02-29', '2021-01-01', '2024-02-02'] as const
export const NUMBERS = [0, 0.5, 1, 1.04, 10, 99.5, 100] as const
export const UNITS = ['kg', 'g'] as const
export const URIS = ['http://v', 'http://v/a', 'http://v/a/b', 'http://v/ab', 'http://v/', 'urn:x'] as const
export const ADDRESS = 'http://elsewhere/Patient/p1'

const one = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const few = <T>(each: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(each, { minLength: 1, maxLength: 2 })
/** An object in which each member is optional. */
const maybe = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> => fc.record(members, { requiredKeys: [] })
const reference = (...types: readonly string[]): fc.Arbitrary<object> =>
  fc.record({ reference: one(types.flatMap((type) => (IDS[type] ?? []).map((id) => `${type}/${id}`))) })

const coding = maybe({ system: one(SYSTEMS), code: one(CODES), display: one(NAMES) })
const concept = fc.oneof(
  fc.record({ coding: few(coding) }),
  fc.record({ coding: few(coding), text: one(NAMES) }),
  fc.record({ text: one(NAMES) }),
)
const identifier = fc.oneof(
  fc.record({ system: one(SYSTEMS), value: one(CODES) }),
  fc.record({ value: one(CODES) }),
  fc.record({ type: concept, value: one(CODES) }),
)
const quantity = fc.oneof(
  fc.record({ value: one(NUMBERS) }),
  fc.record({ value: one(NUMBERS), unit: one(UNITS) }),
  fc.record({ value: one(NUMBERS), system: one(SYSTEMS), code: one(UNITS), unit: one(NAMES) }),
)
const period = fc.oneof(
  fc.record({ start: one(DAYS) }),
  fc.record({ end: one(DAYS) }),
  fc.record({ start: fc.constant('2020-01-01'), end: one(DATES) }),
  fc.record({ start: one(DATES), end: one(DATES) }),
)
const subject = fc.oneof(
  { weight: 6, arbitrary: reference('Patient') },
  { weight: 1, arbitrary: fc.constant({ reference: ADDRESS }) },
  {
    weight: 1,
    arbitrary: fc.record({ identifier, type: one(['Patient', 'Group']) }, { requiredKeys: ['identifier'] }),
  },
)
/** Contained resources that refer to each other. */
const contained = fc.tuple(
  fc.record({ resourceType: fc.constant('Organization'), id: fc.constant('d'), name: one(NAMES) }),
  fc.record(
    {
      resourceType: fc.constant('Patient'),
      id: fc.constant('c'),
      gender: one(['male', 'female']),
      identifier: few(identifier),
      managingOrganization: fc.oneof(reference('Organization'), fc.constant({ reference: '#d' })),
    },
    { requiredKeys: ['resourceType', 'id'] },
  ),
)
const within = fc.oneof(
  contained,
  contained.map((all) => all.slice(1)),
)

const text = fc
  .tuple(one(NAMES), one([...NAMES, 'http']))
  .map(([first, second]) => ({ status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml"><b>${first}</b> of ${second}</div>` }))
const meta = maybe({ tag: few(coding), source: one(URIS) })

const MEMBERS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  Organization: maybe({
    meta,
    text,
    name: one(NAMES),
    alias: few(one(NAMES)),
    active: fc.boolean(),
    partOf: reference('Organization'),
    identifier: few(identifier),
  }),
  Patient: maybe({
    meta,
    text,
    name: few(maybe({ family: one(NAMES), given: few(one(NAMES)), text: one(NAMES) })),
    gender: one(['male', 'female']),
    active: fc.boolean(),
    birthDate: one(['2020', '2020-02', ...DAYS]),
    identifier: few(identifier),
    managingOrganization: reference('Organization'),
    generalPractitioner: few(reference('Organization')),
  }),
  Encounter: maybe({ meta, status: one(['planned', 'finished']), period, subject, partOf: reference('Encounter') }),
  Observation: fc
    .tuple(
      maybe({
        meta,
        text,
        code: concept,
        status: one(['final', 'amended']),
        contained: within,
        subject: fc.oneof(subject, subject, fc.constant({ reference: '#c' })),
        encounter: reference('Encounter'),
        derivedFrom: few(reference('Observation')),
        component: few(maybe({ code: concept, valueQuantity: quantity })),
      }),
      fc.oneof(fc.record({ effectiveDateTime: one(DATES) }), fc.record({ effectivePeriod: period }), fc.constant({})),
      fc.oneof(fc.record({ valueQuantity: quantity }), fc.record({ valueString: one(NAMES) }), fc.constant({})),
    )
    .map((parts) => Object.assign({}, ...parts)),
  RiskAssessment: maybe({ meta, prediction: few(maybe({ probabilityDecimal: one(NUMBERS) })), subject }),
  ValueSet: maybe({ meta, url: one(URIS), date: one(DATES), title: one(NAMES) }),
  List: maybe({ meta, text, title: one(NAMES), entry: few(fc.record({ item: reference('Patient', 'Observation', 'List') })) }),
}

/** A put or the deletion of a resource. */
export interface Change {
  readonly op: 'put' | 'delete'
  readonly resource: Resource
}

/** Changes of random resources. */
export const change: fc.Arbitrary<Change> = fc.oneof(
  ...Object.entries(MEMBERS).map(([resourceType, members]) =>
    fc
      .record({ op: one(['put', 'put', 'put', 'put', 'delete'] as const), id: one(IDS[resourceType] ?? []), members })
      .map(({ op, id, members: rest }): Change => ({ op, resource: { resourceType, id, ...rest } })),
  ),
)
