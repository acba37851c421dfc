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

  test('of a practitioner, or of a Group of practitioners, as the subject: what belongs to their patients', async () => {
    const doctors = group([{ entity: { reference: 'Practitioner/dr' } }])
    expect(countsIn(await report([doctors], { subject: 'Practitioner/dr' }))).toEqual([1, 1, 1])
    const found = await report([doctors], { subject: 'Group/g' })
    expect(found).toMatchObject({ type: 'summary', subject: { reference: 'Group/g' } })
    expect(countsIn(found)).toEqual([1, 1, 1])
    expect(countsIn(await report([doctors], { practitioner: 'dr', subject: 'Group/g' }))).toEqual([1, 1, 1])
  })

  describe('that the Measure is about', () => {
    const about = (reference: object): JsonObject => ({ ...resource, subjectReference: reference })
    const counted = (ward: JsonObject, over: Partial<EvaluateMeasureInput> = {}): Promise<MeasureReport> =>
      reportOf(wardContext([ward, doctor, eve, seen, group([member('ada'), member('dan')])]), { ...YEAR_2021, ...over })

    test('is the subject where the request names none', async () => {
      const found = await counted(about({ reference: 'Group/g' }))
      expect(found).toMatchObject({ type: 'summary', subject: { reference: 'Group/g' } })
      expect(countsIn(found)).toEqual([2, 2, 1])
      expect(countsIn(await counted(about({ reference: 'Group/g' }), { subject: 'eve' }))).toEqual([1, 1, 1])
    })

    test.each([{ display: 'the ward' }, { reference: 'Patient/ada' }, { reference: 'http://example.org/Group/g' }])(
      'is refused as %o',
      async (reference) => {
        await expect(counted(about(reference))).rejects.toMatchObject({
          code: 'not-supported',
          expression: ['Measure.subjectReference'],
        })
      },
    )
  })

  test.each<[string, JsonObject, string]>([
    ['an inactive member', group([member('ada'), member('dan', { inactive: true })]), 'Group.member[1] is inactive'],
    ['a member for a while', group([member('ada', { period: { end: '2020' } })]), 'Group.member[0] has a period'],
    ['a member that is not a patient', group([{ entity: { reference: 'Device/d' } }]), 'Group.member[0] does not refer'],
    ['members of several types', group([member('ada'), { entity: { reference: 'Practitioner/dr' } }]), 'Group.member[1] is not a Patient'],
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

describe('subjects that are not patients', () => {
  const doctor = (id: string): JsonObject => ({ resourceType: 'Practitioner', id })
  const treated = (id: string, by: string, gender: string): JsonObject => ({
    resourceType: 'Patient',
    id,
    gender,
    generalPractitioner: [{ reference: `Practitioner/${by}` }],
  })
  const about = { subjectCodeableConcept: { coding: [{ code: 'Practitioner' }] } }
  const resources = [
    doctor('dr'),
    doctor('who'),
    doctor('no'),
    treated('eve', 'dr', 'female'),
    treated('fay', 'dr', 'female'),
    treated('gus', 'who', 'male'),
  ]
  const group = { resourceType: 'Group', id: 'g', actual: true, member: [{ entity: { reference: 'Practitioner/dr' } }] }
  const kinds = [
    population('a', 'Practitioner'),
    population('b', 'Patient?gender=female'),
    population('c', 'Patient?general-practitioner={{%subject.id}}'),
  ]
  const countsIn = ({ group: [first] = [] }: MeasureReport): unknown => first?.population?.map((one) => one.count)
  const counted = async (resource: JsonObject, over: Partial<EvaluateMeasureInput> = {}): Promise<MeasureReport> =>
    await reportOf(wardContext([resource, ...resources, group]), { ...YEAR_2021, ...over })
  const bySubject = measure([{ population: kinds }], { ...about, ...basis('boolean') })

  test.each<[Partial<EvaluateMeasureInput>, readonly number[]]>([
    [{}, [3, 1, 2]],
    [{ subject: 'Practitioner/dr' }, [1, 1, 1]],
    [{ subject: 'who' }, [1, 0, 1]],
    [{ subject: 'no' }, [1, 0, 0]],
    [{ subject: 'Group/g' }, [1, 1, 1]],
  ])('are counted as who the resources are or refer to: %j', async (over, expected) => {
    expect(countsIn(await counted(bySubject, over))).toEqual(expected)
  })

  test('are counted by what belongs to them, without basis', async () => {
    const plain = measure([{ population: kinds }], about)
    expect(countsIn(await counted(plain))).toEqual([3, 5, 3])
    expect(countsIn(await counted(plain, { subject: 'dr' }))).toEqual([1, 2, 2])
    expect(countsIn(await counted(plain, { subject: 'Group/g' }))).toEqual([1, 2, 2])
  })

  test('have an individual report, which names them', async () => {
    expect(await counted(bySubject, { subject: 'dr' })).toMatchObject({ type: 'individual', subject: { reference: 'Practitioner/dr' } })
    expect(await counted(bySubject, { subject: 'Group/g' })).toMatchObject({ type: 'summary', subject: { reference: 'Group/g' } })
  })

  test.each<[Partial<EvaluateMeasureInput>, string]>([
    [{ subject: 'Patient/eve' }, 'parameter-invalid'],
    [{ subject: 'Organization/o' }, 'parameter-invalid'],
    [{ practitioner: 'dr' }, 'parameter-invalid'],
    [{ subject: 'nobody' }, 'content-not-found'],
  ])('%j is refused for a Measure of practitioners', async (over, code) => {
    await expect(counted(bySubject, over)).rejects.toMatchObject({ code })
  })

  test('of a type that a MeasureReport of R4 may not be about are named by the extension for that', async () => {
    const organization = { resourceType: 'Organization', id: 'o', name: 'o' }
    const ofPlaces = measure([{ population: [population('a', 'Organization')] }], {
      subjectCodeableConcept: { coding: [{ code: 'Organization' }] },
    })
    const report = await reportOf(wardContext([ofPlaces, organization]), { ...YEAR_2021, subject: 'o' })
    expect(report.subject).toBeUndefined()
    expect(report.extension).toContainEqual({
      url: 'http://hl7.org/fhir/5.0/StructureDefinition/extension-MeasureReport.subject',
      valueReference: { reference: 'Organization/o' },
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
