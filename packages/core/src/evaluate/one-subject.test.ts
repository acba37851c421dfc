import { describe, expect, test } from 'vitest'
import { evaluateMeasure, type EvaluateMeasureInput } from './index.js'
import { basis, countsOf, measure, population, reportOf, wardContext, YEAR_2021 } from './ward.fixture.js'

describe('the report of one subject', () => {
  const resource = measure([
    { population: [population('a', 'Patient'), population('b', 'Observation'), population('c', 'Observation?code=weight')] },
  ])

  test.each(['Patient/ada', 'ada'])('%s', async (subject) => {
    const report = await reportOf(wardContext([resource]), { ...YEAR_2021, subject })
    expect(report).toMatchObject({ type: 'individual', subject: { reference: 'Patient/ada' } })
    expect(report.group?.[0]?.population?.map((one) => one.count)).toEqual([1, 2, 2])
  })

  test('a summary may be kept to one subject', async () => {
    expect(await evaluateMeasure(wardContext([resource]), { ...YEAR_2021, subject: 'ada', reportType: 'population' })).toMatchObject({
      type: 'summary',
    })
  })

  test('a query that names the patient is not narrowed further', async () => {
    const named = measure([
      {
        population: [
          population('a', 'Observation?subject=Patient/{{%patient.id}}'),
          population('b', 'Patient?_id={{%subject.id}}'),
          population('c', 'Organization?name={{%patient.id}}'),
        ],
      },
    ])
    expect(await countsOf(named, { subject: 'bea' })).toEqual([2, 1, 0])
  })

  test('the individual reports add up to the summary', async () => {
    const sums = [0, 0, 0]
    for (const subject of ['ada', 'bea', 'cleo', 'dan']) {
      for (const [index, one] of (await countsOf(resource, { subject })).entries()) sums[index] = (sums[index] ?? 0) + Number(one)
    }
    const ofSomebody = measure([
      {
        population: [
          population('a', 'Patient'),
          population('b', 'Observation?subject:missing=false'),
          population('c', 'Observation?code=weight'),
        ],
      },
    ])
    expect(sums).toEqual(await countsOf(ofSomebody))
  })

  test.each<[Partial<EvaluateMeasureInput>, string]>([
    [{ reportType: 'subject' }, 'parameter-required'],
    [{ subject: 'Patient/nobody' }, 'content-not-found'],
    [{ subject: '' }, 'parameter-invalid'],
    [{ subject: 'Device/d' }, 'parameter-invalid'],
    [{ subject: 'Practitioner/p' }, 'content-not-found'],
    [{ subject: 'Organization/o' }, 'content-not-found'],
    [{ subject: 'Patient/a b' }, 'parameter-invalid'],
    [{ subject: 'Patient/ada/_history/1' }, 'parameter-invalid'],
    [{ subject: 'undefined/Patient/ada' }, 'parameter-invalid'],
    [{ subject: 'Group/none' }, 'content-not-found'],
    [{ practitioner: 'Practitioner/nobody' }, 'content-not-found'],
    [{ practitioner: 'Organization/o' }, 'parameter-invalid'],
    [{ practitioner: '' }, 'parameter-invalid'],
  ])('%j is refused', async (over, code) => {
    await expect(countsOf(resource, over)).rejects.toMatchObject({ code })
  })

  test('a type that refers to no patient cannot be counted for one', async () => {
    await expect(countsOf(measure([{ population: [population('a', 'Organization')] }]), { subject: 'ada' })).rejects.toMatchObject({
      code: 'definition-invalid',
    })
    await expect(countsOf(measure([{ population: [population('a', 'Organization')] }], basis('boolean')))).rejects.toMatchObject({
      code: 'definition-invalid',
    })
  })

  test('a Measure about others than patients has no patient as subject', async () => {
    const about = measure([], { subjectCodeableConcept: { coding: [{ code: 'Practitioner' }] } })
    await expect(countsOf(about, { subject: 'Patient/ada' })).rejects.toMatchObject({ code: 'parameter-invalid' })
  })
})
