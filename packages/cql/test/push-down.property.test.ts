import { memoryStorage } from 'fhir-ops/memory'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectSameCounts, ward } from './push-down.fixture.js'
import { numRuns, SEED } from './ward.fixture.js'

const people = Array.from({ length: 12 }, () => ({ resourceType: 'Patient', gender: 'female', birthDate: '1980-01-01' }))
const visit = (n: number, status: string): object => ({
  resourceType: 'Encounter',
  status,
  type: [{ coding: [{ system: 'http://x/kind', code: 'a' }] }],
  subject: { reference: `Patient/p${n}` },
  period: { start: '2020-03-01', end: '2020-03-02' },
})

describe('populations that the search for subjects tells', () => {
  it('are those that evaluations give, over memory', async () => {
    await fc.assert(
      fc.asyncProperty(ward, async (one) => void (await expectSameCounts(memoryStorage(), one))),
      { numRuns: numRuns(30), ...SEED },
    )
  })

  it('are counted without reading anybody', async () => {
    const criteria = ['exists [Encounter: "Kinds"]', 'exists "Finished"', 'not exists [Observation: "Weight"] or exists [Observation]']
    const resources = [visit(0, 'finished'), visit(1, 'planned'), visit(2, 'finished')]
    expect(await expectSameCounts(memoryStorage(), { criteria, people, resources })).toEqual({ read: 0, isWhole: true })
  })

  it('are read of those alone for whom they are not told', async () => {
    const criteria = ['exists [Encounter: "Kinds"]', 'true', 'exists "Finished"']
    const during = 'exists ([Encounter: "Kinds"] E where E.status = \'finished\' and E.period during "Measurement Period")'
    const resources = [visit(0, 'finished'), visit(1, 'planned'), visit(2, 'finished')]
    const read = await expectSameCounts(memoryStorage(), { criteria: criteria.with(1, during), people, resources })
    expect(read).toEqual({ read: 2, isWhole: true })
  })

  it.each([
    ['an empty code, which a search takes for any', '[Encounter: "Nothing"]'],
    ['a query that gives something of no rows', '([Observation: "Weight"] O aggregate R starting ({ 1 }): R)'],
  ])('are right where there is %s', async (_, list) => {
    const criteria = [`exists ${list}`, `not exists ${list}`, 'exists [Encounter]']
    await expectSameCounts(memoryStorage(), { criteria, people, resources: [visit(0, 'finished')] })
    await expectSameCounts(memoryStorage(), {
      criteria: [criteria[1] ?? '', ...criteria.slice(1)],
      people,
      resources: [visit(0, 'finished')],
    })
  })

  it('are counted by age and gender, but of whom these are not known well', async () => {
    const criteria = ['AgeInYearsAt(start of "Measurement Period") >= 18', "Patient.gender = 'female'", 'exists "Finished"']
    const [young, unknown] = [{ birthDate: '2010-05-05' }, { birthDate: '2002' }].map((born) => ({ ...people[0], ...born }))
    const all = [...people.slice(2), young, unknown].map((one) => ({ resourceType: 'Patient', ...one }))
    const read = await expectSameCounts(memoryStorage(), { criteria, people: all, resources: [visit(0, 'finished')] })
    expect(read).toEqual({ read: 1, isWhole: true })
  })

  it('are read of everybody where the age is asked for at a date that is known to the year only', async () => {
    const criteria = ['AgeInYearsAt(start of "Since") >= 18', 'not exists [Observation]', 'exists "Finished"']
    const born = ['2001-06-05', '2002-06-05', '2003-06-05'].map((birthDate) => ({ resourceType: 'Patient', birthDate }))
    const read = await expectSameCounts(memoryStorage(), { criteria, people: [...people, ...born], resources: [visit(12, 'finished')] })
    expect(read).toEqual({ read: 15, isWhole: true })
  })

  it('are read of everybody where one of them may fail for anybody', async () => {
    const criteria = [
      'exists [Encounter]',
      'exists [Encounter]',
      '(singleton from ([Encounter: "Kinds"])) is not null and exists "Finished"',
    ]
    const resources = [visit(0, 'planned'), visit(0, 'planned')]
    expect(await expectSameCounts(memoryStorage(), { criteria, people, resources })).toEqual({ read: 12, isWhole: false })
  })
})
