import { evaluateMeasure } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { expect, it } from 'vitest'
import { contextOver, languagesOf, library, putOf, valueSet, type Json } from './ward.fixture.js'

const MEASURE: Json = {
  resourceType: 'Measure',
  id: 'm',
  status: 'active',
  library: ['http://x/Library/Ward'],
  scoring: { coding: [{ code: 'cohort' }] },
  group: [
    {
      population: [
        { code: { coding: [{ code: 'initial-population' }] }, criteria: { language: 'text/cql-identifier', expression: 'Visited' } },
      ],
    },
  ],
}

const text = (where: string): string => `library Ward version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
parameter "Measurement Period" Interval<DateTime>
context Patient
define Visited: exists ([Encounter] E where ${where})`

const at = (moment: string): object => ({ start: moment, end: moment })
const OLD = [at('0001-01-01'), at('1550-01-01'), at('1950-01-01'), at('9999-12-31'), { start: '2020' }]
const WIDE = [at('2020-03-01T00:00:00+14:00'), at('2020-03-01T23:00:00-12:00'), at('2020-02-29T23:00:00Z'), at('2020-03-01')]

it.each<readonly [where: string, periods: readonly object[], count: number]>([
  ['E.period starts same day or after @2020-03-01T20:00:00.0-10:00', WIDE, 3],
  ['start of E.period same day or before @2020-03-01T05:00:00.0+14:00', WIDE, 4],
  ['E.period during day of Interval[@2020-03-01T00:00:00.0+14:00, @2020-03-01T00:00:00.0+14:00]', WIDE, 3],
  ['E.period during day of Interval[@2020-03-01T23:00:00.0-12:00, @2020-03-01T23:00:00.0-12:00]', WIDE, 3],
  ['E.period during Interval[@0001-01-01, @2020-01-01]', OLD, 3],
  ['start of E.period before @1500-01-01', OLD, 1],
  ['start of E.period after @1500-01-01', OLD, 4],
  ['end of E.period before @9999-12-31', OLD, 3],
])('visits whose dates the text limits are found: %s', async (where, periods, count) => {
  const storage = memoryStorage()
  const people = periods.map((_, n): Json => ({ resourceType: 'Patient', id: `p${n}` }))
  const visits = periods.map((period, n): Json => ({
    resourceType: 'Encounter',
    id: `e${n}`,
    status: 'finished',
    class: { code: 'AMB' },
    subject: { reference: `Patient/p${n}` },
    period,
  }))
  await storage.write([library(text(where)), valueSet(['a']), MEASURE, ...people, ...visits].map(putOf))
  const ctx = contextOver(storage)
  const counted = async (subject?: string): Promise<number | undefined> => {
    const input = { measure: 'Measure/m', periodStart: '2020', periodEnd: '2020', ...(subject !== undefined && { subject }) }
    const { groups } = await evaluateMeasure(ctx, input, { languages: languagesOf() })
    return groups[0]?.populations[0]?.count
  }
  const each = await Promise.all(people.map(async ({ id }) => counted(`Patient/${String(id)}`)))
  expect([await counted(), each.filter((one) => one === 1).length]).toEqual([count, count])
})
