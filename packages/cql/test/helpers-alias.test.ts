import { evaluateMeasure } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { describe, expect, it } from 'vitest'
import { contextOver, languagesOf, putOf, type Json } from './ward.fixture.js'
import { libraryWith } from './library.fixture.js'

const libraryOf = (name: string, lines: readonly string[]): Json =>
  libraryWith(name, [`library ${name} version '1'`, `using FHIR version '4.0.1'`, ...lines].join('\n'))
/** Functions with the names of those of FHIRHelpers that do something else. */
const OTHER = libraryOf('Other', [
  'context Patient',
  `define function ToString(given FHIR.code): if given.value = 'male' then 'female' else 'finished'`,
  'define function ToInterval(period FHIR.Period): Interval[DateTime(2020, 3, 1), DateTime(2020, 3, 2)]',
  'define function ToDate(given FHIR.date): Date(1900)',
])
const PEOPLE: readonly Json[] = ['a', 'b'].flatMap((id) => [
  { resourceType: 'Patient', id, gender: 'male', birthDate: '2019-01-01' },
  {
    resourceType: 'Encounter',
    id: `e-${id}`,
    status: 'planned',
    subject: { reference: `Patient/${id}` },
    period: { start: '2011-01-01', end: '2011-01-02' },
  },
])

async function countOf(criterion: string, include: string, keepBytes: number): Promise<number | undefined> {
  const main = libraryOf('Main', [
    include,
    'parameter "Measurement Period" Interval<DateTime>',
    'context Patient',
    `define Counted: ${criterion}`,
  ])
  const measure: Json = {
    resourceType: 'Measure',
    id: 'm',
    status: 'active',
    library: ['http://x/Library/Main'],
    scoring: { coding: [{ code: 'cohort' }] },
    group: [
      {
        population: [
          { code: { coding: [{ code: 'initial-population' }] }, criteria: { language: 'text/cql-identifier', expression: 'Counted' } },
        ],
      },
    ],
  }
  const ctx = contextOver(memoryStorage())
  await ctx.storage.write([OTHER, main, measure, ...PEOPLE].map(putOf))
  const languages = languagesOf(keepBytes)
  const { groups } = await evaluateMeasure(ctx, { measure: 'm', periodStart: '2020', periodEnd: '2020' }, { languages })
  return groups[0]?.populations[0]?.count
}

describe.each([0, 1_000_000])('with %d bytes to keep', (keepBytes) => {
  it.each([
    `exists ([Encounter] E where FHIRHelpers.ToString(E.status) = 'finished')`,
    'exists ([Encounter] E where FHIRHelpers.ToInterval(E.period) during "Measurement Period")',
    `FHIRHelpers.ToString(Patient.gender) = 'female'`,
    'CalculateAgeInYearsAt(FHIRHelpers.ToDate(Patient.birthDate), start of "Measurement Period") > 100',
  ])('functions of a library that is only called FHIRHelpers are called: %s', async (criterion) => {
    expect(await countOf(criterion, `include Other version '1' called FHIRHelpers`, keepBytes)).toBe(2)
  })

  it.each([
    `exists ([Encounter] E where FH.ToString(E.status) = 'finished')`,
    'exists ([Encounter] E where FH.ToInterval(E.period) during "Measurement Period")',
    `FH.ToString(Patient.gender) = 'female'`,
    'CalculateAgeInYearsAt(FH.ToDate(Patient.birthDate), start of "Measurement Period") > 100',
  ])('those of FHIRHelpers are built in whatever it is called: %s', async (criterion) => {
    expect(await countOf(criterion, `include FHIRHelpers version '4.0.1' called FH`, keepBytes)).toBe(0)
  })
})
