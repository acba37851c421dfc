import { evaluateMeasure, evaluateMeasurePart, mergeMeasureParts, type EvaluateMeasureInput, type MeasurePart } from 'fhir-ops/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import fc from 'fast-check'
import { expect } from 'vitest'
import { entryOf, languagesOf, MEASURES, PERIOD, putOf, TEXT, translatedLibrary, valueSet, type Change, type Json } from './ward.fixture.js'

const identifier = (expression: string): object => ({ criteria: { language: 'text/cql-identifier', expression } })
const search = (expression: string): object => ({ criteria: { language: 'application/x-fhir-query', expression } })
const populationOf = (code: string, criteria: object, more: object = {}): object => ({ code: { coding: [{ code }] }, ...criteria, ...more })
const aggregate = (method: string): object => ({
  url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-aggregateMethod',
  valueString: method,
})
const reference = (id: string): object => ({
  url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-criteriaReference',
  valueString: id,
})
const BASIS = {
  extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: 'Encounter' }],
}
const scoring = (code: string): object => ({ scoring: { coding: [{ code }] } })
const measure = (id: string, more: object): Json => ({
  resourceType: 'Measure',
  id,
  url: `http://x/Measure/${id}`,
  status: 'active',
  library: ['http://x/Library/Ward'],
  ...more,
})
const stratified = {
  stratifier: [
    { code: { text: 'status' }, ...identifier('Status') },
    {
      component: [
        { code: { text: 'gender' }, ...identifier('Gender') },
        { code: { text: 'status' }, ...identifier('Status') },
      ],
    },
  ],
}
const observed = (method: string): Json =>
  measure(`length-${method}`, {
    ...scoring('continuous-variable'),
    group: [
      {
        ...BASIS,
        population: [
          populationOf('initial-population', identifier('Visits')),
          populationOf('measure-population', identifier('Visits'), { id: 'all' }),
          populationOf('measure-observation', identifier('Length'), { extension: [aggregate(method), reference('all')] }),
        ],
        ...stratified,
      },
    ],
  })
const composed = (method: string): Json =>
  measure(`composite-${method}`, {
    ...scoring('composite'),
    compositeScoring: { coding: [{ code: method }] },
    relatedArtifact: ['part-a', 'part-b'].map((id) => ({ type: 'composed-of', resource: `http://x/Measure/${id}` })),
  })
const proportion = (id: string, numerator: string): Json =>
  measure(id, {
    ...scoring('proportion'),
    group: [
      {
        population: [
          populationOf('initial-population', identifier('Everybody')),
          populationOf('denominator', identifier('Everybody')),
          populationOf('numerator', identifier(numerator)),
        ],
      },
    ],
  })

/** Measures of every kind whose parts can be added up. */
export const DIVIDED: readonly Json[] = [
  ...MEASURES,
  ...['median', 'average', 'sum', 'count', 'maximum'].map(observed),
  measure('ratio', {
    ...scoring('ratio'),
    group: [
      {
        ...BASIS,
        population: [
          populationOf('initial-population', identifier('Visits')),
          populationOf('denominator', identifier('Visits'), { id: 'den' }),
          populationOf('numerator', identifier('Long'), { id: 'num' }),
          populationOf('measure-observation', identifier('Length'), { extension: [aggregate('sum'), reference('den')] }),
          populationOf('measure-observation', identifier('Length'), { extension: [aggregate('sum'), reference('num')] }),
        ],
      },
    ],
    supplementalData: [
      { id: 'statuses', code: { text: 'statuses' }, ...identifier('Statuses') },
      { id: 'gender', code: { text: 'gender' }, ...identifier('Gender') },
    ],
  }),
  proportion('part-a', 'Visited'),
  proportion('part-b', 'Female'),
  ...['opportunity', 'all-or-nothing', 'linear', 'weighted'].map(composed),
  measure('searches', {
    group: [
      { ...BASIS, population: [populationOf('initial-population', search('Encounter?status=finished'))] },
      { population: [populationOf('initial-population', identifier('Visited'))] },
    ],
  }),
]

const DEFINITIONS = `${TEXT}
define Statuses: [Encounter] E return E.status.value
define Female: Patient.gender = 'female'
define function Status(visit FHIR.Encounter): visit.status
define Long: Visits V where Length(V) > 60
`

let translated: Promise<Json> | undefined

const visit = fc.record({
  id: fc.nat(30).map((n) => `e${n}`),
  patient: fc.nat(11).map((n) => `p${n}`),
  status: fc.constantFrom('finished', 'finished', 'planned'),
  code: fc.constantFrom('a', 'b'),
  minutes: fc.integer({ min: 1, max: 59 }),
  hours: fc.nat(3),
})
const cancelled = fc.record({ id: fc.nat(6).map((n) => `c${n}`), patient: fc.nat(11).map((n) => `p${n}`) })
const person = fc.record({
  id: fc.nat(11).map((n) => `p${n}`),
  gender: fc.constantFrom('female', 'male', 'other', undefined),
  birthDate: fc.constantFrom('1980', '2002', '2005-06-01', '1999-12-31'),
})

/** Random patients with visits, how many parts they are divided into, and what is asked. */
export const divided: fc.Arbitrary<Divided> = fc.record({
  people: fc.array(person, { maxLength: 14 }),
  visits: fc.array(visit, { maxLength: 40 }),
  cancelled: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(cancelled, { maxLength: 8 }) }),
  of: fc.integer({ min: 1, max: 5 }),
})

/** Who is measured, and in how many parts. */
export interface Divided {
  readonly people: readonly { readonly id: string; readonly gender: string | undefined; readonly birthDate: string }[]
  readonly visits: readonly {
    readonly id: string
    readonly patient: string
    readonly status: string
    readonly code: string
    readonly minutes: number
    readonly hours: number
  }[]
  readonly cancelled: readonly { readonly id: string; readonly patient: string }[]
  readonly of: number
}

/** Writes Measures and patients. */
export async function fillWard({ storage }: OperationContext, { people, visits, cancelled: calledOff }: Divided): Promise<void> {
  const resources = [
    await (translated ??= translatedLibrary(DEFINITIONS)),
    valueSet(['a']),
    ...DIVIDED,
    ...people.map(({ gender, ...one }) => ({ resourceType: 'Patient', ...one, ...(gender !== undefined && { gender }) })),
    ...visits.map(({ id, patient, status, code, minutes, hours }) => ({
      resourceType: 'Encounter',
      id,
      status,
      class: { code: 'AMB' },
      type: [{ coding: [{ system: 'http://x/kind', code }] }],
      subject: { reference: `Patient/${patient}` },
      period: { start: '2020-02-01T10:00:00Z', end: `2020-02-01T1${hours}:${String(minutes).padStart(2, '0')}:00Z` },
    })),
  ]
  const off = calledOff.map((one): Change => ({ kind: 'visit', status: 'cancelled', code: 'a', year: '2020', ...one }))
  await storage.write([...new Map(resources.map((one) => [`${one.resourceType}/${one.id}`, putOf(one)])).values()])
  for (const one of off) await storage.write([entryOf(one)])
}

/** Every question about the Measures that can be divided. */
export const QUESTIONS: readonly EvaluateMeasureInput[] = DIVIDED.flatMap(({ id }) =>
  (['population', 'subject-list'] as const).map((reportType) => ({ measure: `Measure/${id}`, reportType, ...PERIOD })),
)

/** A result, as JSON, without what is new each time. */
export function resultText(result: object): string {
  return JSON.stringify({ ...result, id: '', date: '' })
}

/** Expects that the parts of an evaluation, sent as JSON, come to what the evaluation of all gives. */
export async function expectWhole(ctx: OperationContext, of: number): Promise<void> {
  const languages = languagesOf()
  for (const input of QUESTIONS) {
    const parts: MeasurePart[] = []
    for (let part = of; part >= 1; part--)
      parts.push(JSON.parse(JSON.stringify(await evaluateMeasurePart(ctx, input, { part, of }, { languages }))))
    const merged = await mergeMeasureParts(ctx, input, parts, { languages })
    expect(resultText(merged)).toBe(resultText(await evaluateMeasure(ctx, input, { languages })))
  }
}
