import fc from 'fast-check'
import type { MeasureReport } from 'fhir/r4.js'
import { describe, expect, test, vi } from 'vitest'
import { OperationError } from '../../../errors/index.js'
import type { JsonObject } from '../../../json/index.js'
import { evaluateMeasure, type EvaluateMeasureInput } from '../../index.js'
import { basis, measure, population, reportOf as evaluated, scoring, wardContext } from '../../ward.fixture.js'

const input: EvaluateMeasureInput = { measure: 'Measure/m', periodStart: '2021', periodEnd: '2021' }
const PATIENTS = ['ada', 'bea', 'cleo', 'dan']

/** Found for their patient: weights of each, and everyone's practitioner. */
const WEIGHTS = 'Observation?subject=Patient/{{%patient.id}}&code=weight'
const DOCTORS = 'Practitioner?_has:Patient:general-practitioner:_id={{%subject.id}}'

const doctor = { resourceType: 'Practitioner', id: 'dr' }
const treated = (id: string): JsonObject => ({ resourceType: 'Patient', id, generalPractitioner: [{ reference: 'Practitioner/dr' }] })

const reportOf = (resources: readonly JsonObject[], over: Partial<EvaluateMeasureInput> = {}): Promise<MeasureReport> =>
  evaluated(wardContext(resources), { ...input, ...over })

const countsIn = ({ group = [] }: MeasureReport): readonly number[] =>
  group
    .flatMap((one) => [one, ...(one.stratifier ?? []).flatMap(({ stratum = [] }) => stratum)])
    .flatMap((one) => (one.population ?? []).map(({ count = 0 }) => count))

const one = (expression: string, over: object = {}): JsonObject => measure([{ population: [population('a', expression)] }], over)

describe('criteria that name the patient, without one', () => {
  test.each<[string, object, number]>([
    [WEIGHTS, {}, 3],
    [WEIGHTS, basis('Observation'), 3],
    [WEIGHTS, basis('boolean'), 2],
    ['Patient?_id={{%patient.id}}&gender=female', basis('boolean'), 3],
    ['Patient?_id:not={{%patient.id}}', basis('boolean'), 0],
    ['Observation?subject=Patient/{{%patient.id}}&date=ge{{%periodStart}}', {}, 4],
    ['Organization?name={{%patient.id}}', {}, 0],
  ])('%s %j are evaluated for each: %i', async (expression, over, expected) => {
    expect(countsIn(await reportOf([one(expression, over)]))).toEqual([expected])
  })

  test('a resource that is found for several patients counts for each of them', async () => {
    expect(countsIn(await reportOf([one(DOCTORS), doctor, treated('eve'), treated('fay')]))).toEqual([2])
  })

  test('other populations without a scoring count all that they find', async () => {
    const resource = measure([{ population: [population('a', 'Observation'), population('b', WEIGHTS)] }])
    expect(countsIn(await reportOf([resource]))).toEqual([6, 3])
  })

  test('lie within the populations of their scoring, and strata within them', async () => {
    const group = {
      population: [
        population('initial-population', 'Patient'),
        population('denominator', 'Patient?gender=female'),
        population('denominator-exclusion', 'Patient?_id={{%patient.id}}&birthDate=ge1970'),
        population('numerator', WEIGHTS),
      ],
      stratifier: [{ criteria: population('', 'Observation?subject=Patient/{{%patient.id}}&code=height')['criteria'] }],
    }
    const report = await reportOf([measure([group], { ...scoring('proportion'), ...basis('boolean') })])
    expect(countsIn(report)).toEqual([4, 3, 1, 2, 2, 1, 0, 1])
    expect(report.group?.[0]?.measureScore).toEqual({ value: 1 })
  })

  test('are evaluated for the patients of a Group or of a practitioner, who may be one', async () => {
    const group = { resourceType: 'Group', id: 'g', actual: true, member: [{ entity: { reference: 'Patient/ada' } }] }
    const seen = { resourceType: 'Observation', id: 'e1', subject: { reference: 'Patient/eve' }, code: { coding: [{ code: 'weight' }] } }
    const resources = [one(WEIGHTS), doctor, treated('eve'), seen, group]
    expect(countsIn(await reportOf(resources))).toEqual([4])
    expect(countsIn(await reportOf(resources, { subject: 'Group/g' }))).toEqual([2])
    expect(countsIn(await reportOf(resources, { practitioner: 'dr' }))).toEqual([1])
    expect(countsIn(await reportOf(resources, { practitioner: 'dr', subject: 'eve' }))).toEqual([1])
    expect(countsIn(await reportOf(resources, { practitioner: 'dr', subject: 'ada' }))).toEqual([0])
    expect(countsIn(await reportOf(resources, { practitioner: 'dr', subject: 'Group/g' }))).toEqual([0])
  })

  test('are listed patient by patient', async () => {
    const members = async (over: object): Promise<unknown> =>
      (await reportOf([one(WEIGHTS, over)], { reportType: 'subject-list' })).contained
    const entries = (...references: readonly string[]): object => [{ entry: references.map((reference) => ({ item: { reference } })) }]
    expect(await members({})).toMatchObject(entries('Observation/w1', 'Observation/w2', 'Observation/w3'))
    expect(await members(basis('boolean'))).toMatchObject(entries('Patient/ada', 'Patient/bea'))
  })
})

test.each<[string, object, number]>([
  [WEIGHTS, basis('boolean'), 1],
  ['Observation?code=weight&subject={{%subject.id}}', basis('boolean'), 1],
  ['Patient?_id={{%patient.id}}', basis('boolean'), 1],
  [WEIGHTS, {}, 4],
  ['Observation?subject:Patient={{%patient.id}}', basis('boolean'), 4],
  ['Observation?subject={{%patient.id}}&code={{%patient.id}}', basis('boolean'), 4],
])('%s %j asks the storage %i times: once where a criterion only says that it is about the patient', async (expression, over, times) => {
  const ctx = wardContext([one(expression, over)])
  const count = vi.spyOn(ctx.storage, 'count')
  await evaluateMeasure(ctx, input)
  expect(count).toHaveBeenCalledTimes(times)
})

describe('criteria that name the patient are refused', () => {
  test.each<[string, object, string, string]>([
    ['Observation?nosuch={{%patient.id}}', {}, 'definition-invalid', 'nosuch'],
    ['Organization?name={{%patient.id}}', basis('boolean'), 'definition-invalid', 'Organization'],
    [WEIGHTS, { subjectCodeableConcept: { coding: [{ code: 'Practitioner' }] } }, 'definition-invalid', '%patient.id'],
  ])('%s %j', async (expression, over, code, part) => {
    const empty = { resourceType: 'Group', id: 'g', actual: true }
    const named = 'subjectCodeableConcept' in over ? {} : { subject: 'Group/g' }
    await expect(reportOf([one(expression, over), empty], named)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(part),
      expression: ['Measure.group[0].population[0].criteria.expression'],
    })
  })

  test('for more patients than an expansion may have codes', async () => {
    const ctx = wardContext([one(WEIGHTS)], { limits: { maxExpansion: 3 } })
    await expect(evaluateMeasure(ctx, input)).rejects.toMatchObject({ code: 'too-costly', message: expect.stringContaining('3 subjects') })
    await expect(evaluateMeasure(ctx, { ...input, subject: 'ada' })).resolves.toMatchObject({ type: 'individual' })
  })

  test('to who may not search patients, before anything is counted', async () => {
    const ctx = wardContext([one(WEIGHTS)])
    const count = vi.spyOn(ctx.storage, 'count')
    const authorize = (interaction: string, type: string): void => {
      if (interaction === 'search' && type === 'Patient') throw new OperationError('forbidden', 'No.')
    }
    await expect(evaluateMeasure({ ...ctx, authorize }, input)).rejects.toMatchObject({ code: 'forbidden' })
    expect(count).not.toHaveBeenCalled()
    await expect(evaluateMeasure({ ...ctx, authorize }, { ...input, subject: 'ada' })).resolves.toMatchObject({ type: 'individual' })
  })

  test('when the caller has gone or time is up while patients are counted', async () => {
    const ctx = wardContext([one(WEIGHTS)])
    const caller = new AbortController()
    const count = vi.spyOn(ctx.storage, 'count').mockImplementation(async () => {
      caller.abort()
      return 0
    })
    await expect(evaluateMeasure({ ...ctx, signal: caller.signal }, input)).rejects.toMatchObject({ code: 'aborted' })
    expect(count).toHaveBeenCalledTimes(1)
  })
})

test('other work runs in between', async () => {
  const ctx = wardContext([one(WEIGHTS)])
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 10))
  let ranMeanwhile = false
  setTimeout(() => (ranMeanwhile = true), 0)
  await evaluateMeasure(ctx, input)
  vi.restoreAllMocks()
  expect(ranMeanwhile).toBe(true)
})

describe('the reports of the patients', () => {
  const observation = fc.record({ patient: fc.constantFrom(...PATIENTS), code: fc.constantFrom('weight', 'height', 'pulse') })
  const criterion = fc.constantFrom(
    WEIGHTS,
    'Observation?subject=Patient/{{%subject.id}}&code=height,pulse',
    'Observation?subject={{%subject.id}}&code:not=pulse',
    'Observation?subject:Patient={{%subject.id}}&code=weight',
    'Observation?code=pulse&subject:missing=false',
    'Observation?subject:missing=false',
  )
  const KINDS = ['initial-population', 'denominator', 'denominator-exclusion', 'numerator', 'denominator-exception']
  const group = fc.record({
    population: fc.tuple(...KINDS.map((kind) => criterion.map((expression) => population(kind, expression)))),
    stratifier: fc.array(
      criterion.map((expression) => ({ criteria: population('', expression)['criteria'] })),
      { maxLength: 1 },
    ),
  })
  const stated = fc.constantFrom({}, basis('boolean'), scoring('proportion'), { ...scoring('proportion'), ...basis('boolean') })

  test('add up to the report of all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(observation, { maxLength: 12 }), group, stated, async (observations, one, over) => {
        const made = observations.map(({ patient, code }, index) => ({
          resourceType: 'Observation',
          id: `o${index}`,
          subject: { reference: `Patient/${patient}` },
          code: { coding: [{ code }] },
        }))
        const resources = [measure([one], over), ...made]
        const each = await Promise.all(PATIENTS.map(async (subject) => countsIn(await reportOf(resources, { subject }))))
        const all = countsIn(await reportOf(resources))
        expect(all.map((_, index) => each.reduce((sum, counts) => sum + (counts[index] ?? 0), 0))).toEqual(all)
      }),
      { numRuns: 25 },
    )
  })
})
