import type { MeasureReport } from 'fhir/r4.js'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json/index.js'
import { evaluateMeasure, type EvaluateMeasureInput } from './index.js'
import { basis, measure, population, reportOf, wardContext, YEAR_2021 } from './ward.fixture.js'

describe('patients of a Group or a practitioner', () => {
  const member = (id: string, over: object = {}): object => ({ entity: { reference: `Patient/${id}` }, ...over })
  const group = (members: readonly object[], over: object = {}): JsonObject => ({
    resourceType: 'Group',
    id: 'g',
    actual: true,
    member: members,
    ...over,
  })
  const doctor = { resourceType: 'Practitioner', id: 'dr' }
  const eve = { resourceType: 'Patient', id: 'eve', gender: 'female', generalPractitioner: [{ reference: 'Practitioner/dr' }] }
  const seen = { resourceType: 'Observation', id: 'e1', subject: { reference: 'Patient/eve' }, code: { coding: [{ code: 'weight' }] } }
  const resource = measure([
    { population: [population('a', 'Patient'), population('b', 'Observation?code=weight'), population('c', 'Patient?gender=female')] },
  ])
  const report = (others: readonly JsonObject[], over: Partial<EvaluateMeasureInput>): Promise<MeasureReport> =>
    reportOf(wardContext([resource, doctor, eve, seen, ...others]), { ...YEAR_2021, ...over })
  const countsIn = ({ group: [first] = [] }: MeasureReport): unknown => first?.population?.map((one) => one.count)

  test('of a Group: what belongs to its members, in a summary that names it', async () => {
    const found = await report([group([member('ada'), member('dan')])], { subject: 'Group/g' })
    expect(found).toMatchObject({ type: 'summary', subject: { reference: 'Group/g' } })
    expect(countsIn(found)).toEqual([2, 2, 1])
    expect(countsIn(await report([group([])], { subject: 'Group/g' }))).toEqual([0, 0, 0])
  })

  test.each(['Practitioner/dr', 'dr'])('of %s: what belongs to the patients', async (practitioner) => {
    expect(countsIn(await report([], { practitioner }))).toEqual([1, 1, 1])
    expect(countsIn(await report([], { practitioner, subject: 'ada' }))).toEqual([0, 0, 0])
    expect(countsIn(await report([group([member('ada'), member('eve')])], { practitioner, subject: 'Group/g' }))).toEqual([1, 1, 1])
  })

  test.each<[string, JsonObject, string]>([
    ['an inactive member', group([member('ada'), member('dan', { inactive: true })]), 'Group.member[1] is inactive'],
    ['a member for a while', group([member('ada', { period: { end: '2020' } })]), 'Group.member[0] has a period'],
    ['a member that is not a patient', group([{ entity: { reference: 'Device/d' } }]), 'Group.member[0] does not refer'],
    ['members that are described', group([], { actual: false }), 'describes its members'],
  ])('a Group with %s is refused', async (_name, other, part) => {
    await expect(report([other], { subject: 'Group/g' })).rejects.toMatchObject({
      code: 'not-supported',
      message: expect.stringContaining(part),
    })
  })

  test('a report for one subject cannot be of a Group', async () => {
    await expect(report([group([member('ada')])], { subject: 'Group/g', reportType: 'subject' })).rejects.toMatchObject({
      code: 'parameter-invalid',
    })
  })
})

describe('a subject list', () => {
  const resource = measure([
    {
      population: [population('a', 'Observation?code=height'), population('b', 'Observation?code=none')],
      stratifier: [{ criteria: population('x', 'Observation?subject=Patient/bea')['criteria'] }],
    },
  ])

  test('says by contained Lists who was counted, in populations and strata', async () => {
    const report = await reportOf(wardContext([resource]), { ...YEAR_2021, reportType: 'subject-list' })
    const list = (id: string, ...members: readonly string[]): object => ({
      resourceType: 'List',
      id,
      status: 'current',
      mode: 'snapshot',
      ...(members.length > 0 && { entry: members.map((reference) => ({ item: { reference } })) }),
    })
    expect(report.type).toBe('subject-list')
    expect(report.contained).toEqual([
      list('members-1', 'Observation/h1', 'Observation/h2', 'Observation/h3'),
      list('members-2'),
      list('members-3', 'Observation/h1'),
      list('members-4'),
    ])
    expect(report.group?.[0]?.population).toMatchObject([
      { count: 3, subjectResults: { reference: '#members-1' } },
      { count: 0, subjectResults: { reference: '#members-2' } },
    ])
    expect(report.group?.[0]?.stratifier?.[0]?.stratum?.[0]?.population?.[0]).toMatchObject({
      count: 1,
      subjectResults: { reference: '#members-3' },
    })
  })

  test('of subjects lists them, kept to one of them when asked', async () => {
    const bySubject = measure([{ population: [population('a', 'Observation?code=weight')] }], basis('boolean'))
    const membersOf = async (over: Partial<EvaluateMeasureInput>): Promise<unknown> =>
      (await reportOf(wardContext([bySubject]), { ...YEAR_2021, ...over, reportType: 'subject-list' })).contained
    expect(await membersOf({})).toMatchObject([{ entry: [{ item: { reference: 'Patient/ada' } }, { item: { reference: 'Patient/bea' } }] }])
    expect(await membersOf({ subject: 'bea' })).toMatchObject([{ entry: [{ item: { reference: 'Patient/bea' } }] }])
  })

  test('of more members than an expansion may have is too costly', async () => {
    const ctx = wardContext([resource], { limits: { maxExpansion: 3 } })
    await expect(evaluateMeasure(ctx, { ...YEAR_2021, reportType: 'subject-list' })).rejects.toMatchObject({ code: 'too-costly' })
    await expect(evaluateMeasure(ctx, YEAR_2021)).resolves.toMatchObject({ type: 'summary' })
  })
})
