import { r4 } from '@fhir-ops/r4'
import type { OperationContext } from 'fhir-ops/context'
import { createLiveMeasure, evaluateMeasure, type EvaluateMeasureInput, type EvaluateMeasureResult } from 'fhir-ops/evaluate'
import { putResource } from 'fhir-ops/storage'
import { describe, expect, it } from 'vitest'
import { cqlLanguage, evaluateCql } from '../src/index.js'
import { CASES, countsIn, expectSubjects, head, HOSPITAL, hospitalContext, INPUT, measureOf } from './subjects.fixture.js'
import { translator } from './translator.fixture.js'

const { indexer } = r4()

const evaluated = (ctx: OperationContext, over: Partial<EvaluateMeasureInput> = {}): Promise<EvaluateMeasureResult> =>
  evaluateMeasure(ctx, { ...INPUT, ...over }, { languages: [cqlLanguage({ translator })] })

describe.each(CASES)('a Measure of subjects of type %s', (type, who) => {
  it('counts who has what is retrieved by the compartment, lists them, and evaluates each alone', async () => {
    await expectSubjects(hospitalContext(measureOf(type, Object.keys(who))), { type, who }, [cqlLanguage({ translator })])
  })

  it('has them from what is kept of the population, after changes too', async () => {
    const ctx = hospitalContext(measureOf(type, Object.keys(who)))
    const languages = [cqlLanguage({ translator, keepBytes: 10_000_000 })]
    const kept = async (): Promise<readonly number[]> => countsIn(await evaluateMeasure(ctx, INPUT, { languages }))
    const live = createLiveMeasure(ctx, INPUT, { languages: [cqlLanguage({ translator })] })
    for (const gone of [undefined, 'o1', 'e1'] as const) {
      if (gone !== undefined) await ctx.storage.write([{ op: 'delete', type: gone === 'o1' ? 'Observation' : 'Encounter', id: gone }])
      const now = countsIn(await evaluated(ctx))
      expect(await kept()).toEqual(now)
      expect(countsIn(await live.evaluate())).toEqual(now)
    }
  })
})

describe('practitioners', () => {
  const names = ['Everybody', 'Visited', 'Weighed']

  it('may be a Group of them', async () => {
    const ctx = hospitalContext(measureOf('Practitioner', names))
    expect(countsIn(await evaluated(ctx, { subject: 'Group/doctors' }))).toEqual([2, 1, 2])
    expect(countsIn(await evaluated(ctx, { subject: 'Group/bobs' }))).toEqual([1, 0, 1])
  })

  it('are divided by what they are', async () => {
    const stratifier = [{ criteria: { language: 'text/cql-identifier', expression: 'Gender' } }]
    const { groups } = await evaluated(hospitalContext(measureOf('Practitioner', ['Everybody'], { stratifier })))
    const strata = groups[0]?.stratifiers[0]?.strata.map(({ value, populations }) => [value?.text, populations[0]?.count])
    expect(strata?.toSorted()).toEqual([
      ['female', 2],
      ['male', 1],
    ])
  })

  it('are read again when one of theirs is put', async () => {
    const ctx = hospitalContext(measureOf('Practitioner', names))
    const live = createLiveMeasure(ctx, INPUT, { languages: [cqlLanguage({ translator })] })
    expect(countsIn(await live.evaluate())).toEqual([3, 1, 2])
    const visit = {
      resourceType: 'Encounter',
      id: 'e3',
      status: 'finished',
      class: { code: 'AMB' },
      participant: [{ individual: { reference: 'Practitioner/cleo' } }],
      period: { start: '2026-05-01', end: '2026-05-01' },
    }
    await ctx.storage.write([putResource({ type: 'Encounter', id: 'e3', source: visit }, indexer)])
    expect(countsIn(await live.evaluate())).toEqual([3, 2, 2])
  })

  it('are the context of expressions in criteria', async () => {
    const [library, measure] = measureOf('Practitioner', [])
    const criteria = { language: 'text/cql-expression', expression: "Practitioner.gender = 'male'" }
    const group = [{ population: [{ code: { coding: [{ code: 'initial-population' }] }, criteria }] }]
    const resources = [library, measure === undefined ? undefined : { ...measure, group }].filter((one) => one !== undefined)
    expect(countsIn(await evaluated(hospitalContext(resources)))).toEqual([1])
  })

  it('are not patients: definitions in the context Patient are refused', async () => {
    const [library, measure] = measureOf('Practitioner', ['Everybody'])
    const ofPatients = { ...library, content: [{ contentType: 'text/cql', data: btoa(`${head('Patient')}define Everybody: true`) }] }
    const resources = [{ ...ofPatients, resourceType: 'Library', id: 'work' }, measure].filter((one) => one !== undefined)
    await expect(evaluated(hospitalContext(resources))).rejects.toMatchObject({
      code: 'definition-invalid',
      message: expect.stringMatching(/context Patient.*Practitioner/),
    })
  })
})

describe('an expression for a subject that is not a patient', () => {
  it.each<[string, string, unknown]>([
    ['Practitioner/ada', 'Count([Encounter])', 2],
    ['Practitioner/bob', 'Count([Encounter])', 0],
    ['Practitioner/bob', 'Count([Observation])', 1],
    ['Practitioner/bob', 'Count([Patient])', 1],
    ['Organization/north', 'Count([Encounter])', 2],
    ['Organization/south', 'Count([Location])', 1],
    ['Location/attic', 'Count([Encounter])', 0],
    ['Device/monitor', 'Count([Observation])', 2],
    ['Device/scale', 'Count([Observation])', 0],
    ['Encounter/e1', 'Count([Observation])', 1],
    ['Encounter/e2', 'Count([Observation])', 0],
  ])('%s: %s', async (subject, expression, expected) => {
    const stored = await evaluateCql(hospitalContext([]), { expression, subject }, { translator })
    expect(stored.values.get('return')).toBe(expected)
  })

  it.each<[string, number]>([
    ['Practitioner/ada', 2],
    ['Practitioner/bob', 0],
  ])('%s does not have what came with the call and refers to others only', async (subject, expected) => {
    const { values } = await evaluateCql(hospitalContext([]), { expression: 'Count([Encounter])', subject, data: HOSPITAL }, { translator })
    expect(values.get('return')).toBe(expected)
  })
})
