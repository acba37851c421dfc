import { evaluateMeasure } from 'fhir-ops/evaluate'
import { expect, it } from 'vitest'
import { cqlLanguage } from '../../src/index.js'
import { condition, contextWith, observation, patient, procedure, visit, type Resource } from './measure.fixture.js'
import { translator } from '../translator.fixture.js'

/** Numbers that are the same each time. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const STATUSES = ['final', 'amended', 'preliminary', 'entered-in-error']
const DATES = [
  '2023',
  '2023-12-31',
  '2023-12-31T23:59:00Z',
  '2024-01-01',
  '2024-05',
  '2024-07-01T10:00:00+02:00',
  '2024-12-31',
  '2025-01-01',
  '2024',
]

function someone(id: string, random: (below: number) => number): readonly Resource[] {
  const date = (): string => DATES[random(DATES.length)] ?? '2024'
  const many = (most: number, make: (own: string) => Resource): readonly Resource[] =>
    Array.from({ length: random(most) }, (_, at) => make(`${id}-${at}`))
  const day = (): string => `202${random(4) > 0 ? 4 : 3}-0${1 + random(9)}-1${random(9)}`
  return [
    { ...patient(id), ...(random(8) > 0 ? { birthDate: `${1940 + random(80)}-06-15` } : { birthDate: undefined }) },
    ...many(5, (own) => visit(`v${own}`, id, day(), undefined, random(4) > 0 ? 'finished' : 'planned')),
    ...many(4, (own) => condition(`c${own}`, id, random(3) > 0 ? '44054006' : '73211009')),
    ...many(2, (own) => procedure(`h${own}`, id, random(2) > 0 ? '1' : '385763009')),
    ...many(7, (own) =>
      observation(`o${own}`, id, date(), {
        status: STATUSES[random(STATUSES.length)],
        ...(random(4) > 0
          ? { valueQuantity: { value: 5 + random(60) / 10, code: '%', unit: '%', system: 'http://unitsofmeasure.org' } }
          : { valueQuantity: undefined }),
        ...(random(5) === 0 && { code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] } }),
      }),
    ),
  ]
}

const COUNT = 150

it('an explanation has the result of the evaluation without one, for 150 random subjects and every population', async () => {
  const random = randomOf(7)
  const people = Array.from({ length: COUNT }, (_, at) => someone(`p${at}`, random))
  const ctx = contextWith(...people.flat())
  const options = { languages: [cqlLanguage({ translator })] }
  const period = { measure: 'm', periodStart: '2024-01-01', periodEnd: '2024-12-31' }
  const seen = new Set<string>()
  for (let at = 0; at < COUNT; at++) {
    const input = { ...period, subject: `Patient/p${at}` }
    const plain = await evaluateMeasure(ctx, input, options)
    const { explanation, ...explained } = await evaluateMeasure(ctx, { ...input, explain: true }, options)
    expect({ ...explained, id: '', date: '' }).toEqual({ ...plain, id: '', date: '' })
    const counts = plain.groups[0]?.populations.map(({ count }) => count) ?? []
    expect(explanation?.criteria).toHaveLength(counts.length)
    for (const [index, { result, reason, evaluated }] of (explanation?.criteria ?? []).entries()) {
      expect([result === 'true', `p${at} ${reason}`]).toEqual([counts[index] === 1, `p${at} ${reason}`])
      expect(reason.length).toBeLessThan(1_500)
      expect(plain.evaluatedResources ?? []).toEqual(expect.arrayContaining(evaluated.flatMap(({ resources }) => resources)))
      seen.add(`${index} ${result}`)
    }
  }
  // The random subjects reach every result of every population.
  expect([...seen].toSorted()).toEqual([
    '0 false',
    '0 true',
    '0 unknown',
    '1 false',
    '1 not-applicable',
    '1 true',
    '2 false',
    '2 not-applicable',
    '2 true',
    '3 false',
    '3 not-applicable',
    '3 true',
    '3 unknown',
  ])
})
