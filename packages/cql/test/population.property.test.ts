import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { collectData, evaluateMeasure } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds, SEED } from '../../../test/effort.js'
import { cqlLanguage } from '../src/index.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()

/** Conditions of a query over encounters E: what a storage may look up before, and what it must leave to the evaluation. */
const CONDITIONS = [
  "E.status = 'finished'",
  "E.status in { 'planned', 'arrived' }",
  "'planned' = E.status",
  'E.period during MP',
  'E.period overlaps MP',
  'MP overlaps E.period',
  'E.period during day of MP',
  'E.period during month of MP',
  'E.period overlaps day of MP',
  'start of E.period during MP',
  'end of E.period during MP',
  'start of E.period >= start of MP',
  'E.period.start >= start of MP',
  'E.period.end < end of MP',
  'start of MP <= start of E.period',
  'end of E.period <= end of MP',
  'end of E.period > end of MP',
  'E.period before MP',
  'E.period after MP',
  'MP after E.period',
  'start of E.period same year or before end of MP',
  'start of E.period same day or after start of MP',
  "not (E.status = 'finished')",
  "E.status = 'finished' or E.period during MP",
  'E.status is null or E.period starts MP',
  'E.period during Interval[@2020-01-01, @2020-06-01]',
  'E.period starts during Interval(start of MP - 1 year, null]',
  'start of E.period same day or after @2019-12-31T20:00:00.0-10:00',
  'E.period during day of Interval[@2019-12-31T00:00:00.0+14:00, @2020-12-31T00:00:00.0+14:00]',
  'E.period during Interval[@0001-01-01, @2020-06-01]',
  'E.period during day of Interval[@2020-01-01, @2020-12-31]',
  'E.period starts before Cut',
  'E.period ends same day or after "Own Cut"',
  'start of E.period > Later(Cut)',
  'E.period overlaps day of Interval[Later(@2020-12-30T20:00:00.0-12:00), null)',
]
const condition = fc
  .array(fc.constantFrom(...CONDITIONS), { minLength: 1, maxLength: 3 })
  .map((all) => all.map((one) => `(${one})`).join(' and '))

const MOMENTS = [
  undefined,
  '2019',
  '2020',
  '2020-12',
  '2019-12-31',
  '2020-01-01',
  '2020-12-31',
  '2019-12-31T23:30:00-12:00',
  '2020-01-01T00:30:00+14:00',
  '2020-06-01T10:00:00Z',
  '2020-12-31T23:59:59.999Z',
  '2021-01-01T00:00:00Z',
  '2020-12-31T20:00:00-10:00',
  '2021-02-01',
]
const encounter = fc.record({
  patient: fc.nat(4),
  status: fc.constantFrom(undefined, 'finished', 'planned', 'arrived', 'cancelled'),
  start: fc.constantFrom(...MOMENTS),
  end: fc.constantFrom(...MOMENTS),
})
type Encounter = typeof encounter extends fc.Arbitrary<infer T> ? T : never

function resourceOf({ patient, status, start, end }: Encounter, n: number): { readonly resourceType: string; readonly id: string } {
  const resource = {
    resourceType: 'Encounter',
    id: `e${n}`,
    ...(status !== undefined && { status }),
    class: { code: 'AMB' },
    subject: { reference: `Patient/p${patient}` },
    ...((start !== undefined || end !== undefined) && {
      period: { ...(start !== undefined && { start }), ...(end !== undefined && { end }) },
    }),
  }
  return resource
}

interface Definition {
  readonly resourceType: string
  readonly id: string
}

/** The Measure of a condition, and its library. */
async function definitionsOf(where: string): Promise<readonly Definition[]> {
  const text = `library Found version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
parameter "Measurement Period" Interval<DateTime>
parameter Cut DateTime default @2020-06-01T10:00:00.0Z
context Patient
define MP: "Measurement Period"
define "Own Cut": start of "Measurement Period" + 2 months
define function Later(moment DateTime): moment + 36 hours
define Found: exists ([Encounter] E where ${where.replaceAll('MP', '"Measurement Period"')})`
  const { elm } = await translator.translate(text)
  const library = {
    resourceType: 'Library',
    id: 'found',
    url: 'http://x/Library/Found',
    name: 'Found',
    version: '1',
    status: 'active',
    type: { text: 'logic' },
    content: [{ contentType: 'application/elm+json', data: btoa(JSON.stringify(elm)) }],
  }
  const measure = {
    resourceType: 'Measure',
    id: 'm',
    status: 'active',
    library: ['http://x/Library/Found'],
    scoring: { coding: [{ code: 'cohort' }] },
    group: [
      {
        population: [
          { code: { coding: [{ code: 'initial-population' }] }, criteria: { language: 'text/cql-identifier', expression: 'Found' } },
        ],
      },
    ],
  }
  return [library, measure]
}

const PATIENTS = Array.from({ length: 5 }, (_, n) => ({ resourceType: 'Patient', id: `p${n}` }))

function contextOf(resources: readonly object[]): OperationContext {
  return createContext({ ...release, types, storage: memoryStorage(resources, { indexer: release.indexer }) })
}

async function contextWith(where: string, encounters: readonly Encounter[]): Promise<OperationContext> {
  return contextOf([...(await definitionsOf(where)), ...PATIENTS, ...encounters.map(resourceOf)])
}

async function countFor(ctx: OperationContext, subject?: string, language = cqlLanguage({ translator })): Promise<number | string> {
  const input = { measure: 'Measure/m', periodStart: '2020', periodEnd: '2020', ...(subject !== undefined && { subject }) }
  const { groups, failures } = await evaluateMeasure(ctx, input, { languages: [language] })
  return failures !== undefined && failures.length > 0 ? 'failed' : (groups[0]?.populations[0]?.count ?? 0)
}

describe('a population', () => {
  it.each([
    ["E.status = 'finished'", 2],
    ['E.period during MP', 3],
    ['E.period after MP', 0],
  ])('is of those with a resource for which %s', async (where, expected) => {
    const visit = { status: 'finished', start: '2020-06-01T10:00:00Z', end: '2020-06-01T10:00:00Z' } as const
    const encounters: readonly Encounter[] = [
      { patient: 0, ...visit },
      { patient: 3, ...visit },
      { patient: 3, ...visit },
      { patient: 1, ...visit, status: 'planned' },
    ]
    expect(await countFor(await contextWith(where, encounters))).toBe(expected)
  })

  it.each([
    ['start of E.period same day or after @2020-03-01T20:00:00.0-10:00', '2020-03-01T00:00:00+14:00'],
    ['start of E.period same day or before @2020-03-01T00:00:00.0+14:00', '2020-03-01T23:00:00-12:00'],
    ['E.period during day of Interval[@2020-03-01T23:00:00.0-12:00, @2020-03-01T23:00:00.0-12:00]', '2020-03-01T05:00:00+14:00'],
    ['E.period during Interval[@0001-01-01, @2020-01-01]', '0001-01-01'],
    ['start of E.period after @1500-01-01', '1550-01-01'],
    ['E.period during Interval[@2020-01-01, @9999-12-31]', '9999-12-30'],
  ])('has those whose dates are far from what a condition states, in other offsets or years: %s', async (where, moment) => {
    const encounters: readonly Encounter[] = [{ patient: 0, status: 'finished', start: moment, end: moment }]
    expect(await countFor(await contextWith(where, encounters))).toBe(1)
  })

  it('is that of its subjects, of whom all resources are read', async () => {
    await fc.assert(
      fc.asyncProperty(condition, fc.array(encounter, { minLength: 4, maxLength: 25 }), async (where, encounters) => {
        const ctx = await contextWith(where, encounters)
        const single = await Promise.all([0, 1, 2, 3, 4].map((n) => countFor(ctx, `Patient/p${n}`)))
        fc.pre(single.every((count) => typeof count === 'number'))
        const expected = single.reduce<number>((sum, count) => sum + Number(count), 0)
        expect(await countFor(ctx)).toBe(expected)
        const keeping = cqlLanguage({ translator, keepBytes: 1_000_000 })
        expect([await countFor(ctx, undefined, keeping), await countFor(ctx, undefined, keeping)]).toEqual([expected, expected])
      }),
      { numRuns: rounds({ quick: 15, all: 40 }), seed: SEED },
    )
  })
  it.each([0, 840, -720])(
    'is the same over the data that is collected for it, with %d minutes for dates without offset',
    async (offset) => {
      const language = cqlLanguage({ translator, offset })
      await fc.assert(
        fc.asyncProperty(condition, fc.array(encounter, { minLength: 4, maxLength: 25 }), async (where, encounters) => {
          const ctx = await contextWith(where, encounters)
          const period = { measure: 'Measure/m', periodStart: '2020', periodEnd: '2020' }
          const { resources } = await collectData(ctx, period, { languages: [language] })
          const collected = contextOf([...(await definitionsOf(where)), ...resources.map(({ resource }) => resource)])
          expect(await countFor(collected, undefined, language)).toBe(await countFor(ctx, undefined, language))
        }),
        { numRuns: rounds({ quick: 15, all: 40 }), seed: SEED },
      )
    },
  )
})
