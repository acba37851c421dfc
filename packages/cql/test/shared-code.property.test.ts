import type { OperationContext } from 'fhir-ops/context'
import { evaluateMeasure, type CriteriaLanguage, type EvaluateMeasureResult } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contextOver, languagesOf, numRuns, putOf, SEED, TEXT, translatedLibrary, valueSet, type Json } from './ward.fixture.js'

/** Definitions by all that an evaluation may give: the period, parameters with and without a default, the time, value sets. */
const DEFINITIONS: readonly string[] = [
  '[Encounter] E where E.period during "Measurement Period"',
  '[Encounter] E where start of E.period after start of "Measurement Period" return all start of E.period',
  '[Encounter] E where E.period during Cutoff',
  '[Encounter] E where E.status = State',
  '[Encounter] E where start of E.period >= "Last day" or "Last day" is null',
  '[Encounter] E where start of E.period before Now()',
  '[Encounter: "Kinds"]',
  '[Encounter] E where exists (E.type T where T in "Kinds")',
  '[Encounter] E where Least > 1',
  '[Encounter] E let last: Least + 1, first: start of "Measurement Period" where last > 2 and start of E.period > first',
  `({ 1, 2, 3 }) N where N >= Least`,
  `expand { Interval[1, Least] }`,
  '(ExpandValueSet("Kinds")) C where C.code = (Wanted as String)',
]
const LIBRARY = `${TEXT.replace(
  'context Patient',
  `parameter Cutoff Interval<DateTime> default Interval[@2020-03-01T00:00:00.0, @2020-12-01T00:00:00.0]
parameter "Last day" Date
parameter State String default 'finished'
parameter Least Integer default 2
parameter Wanted Choice<String, Integer>
context Patient`,
)}
${DEFINITIONS.map((list, n) => `define "Count ${n}": Count(${list})`).join('\n')}
`
const criteria = (expression: string): object => ({ criteria: { language: 'text/cql-identifier', expression } })
const measureOf = (id: string, names: readonly string[]): Json => ({
  resourceType: 'Measure',
  id,
  status: 'active',
  library: ['http://x/Library/Ward'],
  scoring: { coding: [{ code: 'cohort' }] },
  group: [
    {
      population: [{ code: { coding: [{ code: 'initial-population' }] }, ...criteria('Everybody') }],
      stratifier: names.map((name) => ({ code: { text: name }, ...criteria(name) })),
    },
  ],
})
const NAMES = DEFINITIONS.map((_, n) => `Count ${n}`)
const RECORDS: readonly Json[] = ['2019-06-01', '2020-02-01', '2020-06-01', '2021-02-01'].flatMap((day, n): Json[] => [
  { resourceType: 'Patient', id: `p${n}`, birthDate: '1980-01-01' },
  ...['finished', 'arrived'].map((status, at) => ({
    resourceType: 'Encounter',
    id: `p${n}-e${at}`,
    status,
    subject: { reference: `Patient/p${n}` },
    period: { start: `${day}T10:00:00Z`, end: `${day}T11:00:00Z` },
    type: [{ coding: [{ system: 'http://x/kind', code: at === 0 ? 'a' : 'b' }] }],
  })),
])

const parameter = fc.oneof(
  fc.constantFrom('2019', '2020', '2021').map((start) => ({ name: 'Cutoff', valuePeriod: { start } })),
  fc.constantFrom('2020-02-01', '2020-06-02').map((valueDate) => ({ name: 'Last day', valueDate })),
  fc.constantFrom('arrived', 'finished').map((valueString) => ({ name: 'State', valueString })),
  fc.constantFrom(1, 2, 3).map((valueInteger) => ({ name: 'Least', valueInteger })),
  fc.constantFrom({ valueString: 'a' }, { valueString: 'b' }, { valueInteger: 1 }).map((value) => ({ name: 'Wanted', ...value })),
)
const asked = fc.record({
  year: fc.constantFrom('2019', '2020', '2021'),
  parameters: fc.uniqueArray(parameter, { selector: ({ name }) => name, maxLength: 5 }),
  now: fc.constantFrom('2019-12-31T00:00:00Z', '2020-05-01T00:00:00Z', '2022-01-01T00:00:00Z'),
  individual: fc.boolean(),
})
interface Asked {
  readonly year: string
  readonly parameters: readonly object[]
  readonly now: string
  readonly individual: boolean
}

function evaluation(
  ctx: OperationContext,
  { year, parameters, now, individual }: Asked,
  languages: readonly CriteriaLanguage[],
): Promise<EvaluateMeasureResult> {
  return evaluateMeasure(
    { ...ctx, now: () => new Date(now) },
    {
      measure: 'Measure/all',
      periodStart: year,
      periodEnd: year,
      parameters: { resourceType: 'Parameters', parameter: parameters },
      ...(individual && { subject: 'Patient/p1' }),
    },
    { languages },
  )
}

/** What was counted, with the value of each definition. */
function countsIn({ groups, failures, evaluatedResources }: EvaluateMeasureResult): unknown {
  return {
    failures,
    evaluatedResources,
    groups: groups.map(({ populations, stratifiers }) => [
      populations.map(({ count }) => count),
      stratifiers.map(({ strata }, n) => [DEFINITIONS[n], strata.map(({ value, populations: own }) => [value?.text, own[0]?.count])]),
    ]),
  }
}

describe('code that several evaluations share', () => {
  it.each([
    ['read for each', 0],
    ['kept', 10_000_000],
  ])('takes nothing from one into another, before, after or meanwhile, over records that are %s', async (_, bytes) => {
    const ctx = contextOver(memoryStorage())
    await ctx.storage.write([await translatedLibrary(LIBRARY), measureOf('all', NAMES), ...RECORDS].map(putOf))
    const rounds = fc.array(fc.record({ asked: fc.array(asked, { minLength: 1, maxLength: 3 }), codes: fc.subarray(['a', 'b']) }), {
      minLength: 2,
      maxLength: 3,
    })
    const agree = async (all: typeof rounds extends fc.Arbitrary<infer T> ? T : never): Promise<void> => {
      const shared = languagesOf(bytes)
      for (const round of all) {
        await ctx.storage.write([putOf(valueSet(round.codes.length > 0 ? round.codes : ['c']))])
        const together = await Promise.all(round.asked.map((one) => evaluation(ctx, one, shared)))
        for (const [at, one] of round.asked.entries()) {
          const alone = countsIn(await evaluation(ctx, one, languagesOf(bytes)))
          expect(together[at] && countsIn(together[at])).toEqual(alone)
          expect(countsIn(await evaluation(ctx, one, shared))).toEqual(alone)
        }
      }
    }
    await fc.assert(fc.asyncProperty(rounds, agree), { numRuns: numRuns(12), ...SEED })
  })

  it('refuses a parameter of another type, and evaluates with a right one afterwards', async () => {
    const ctx = contextOver(memoryStorage())
    await ctx.storage.write([await translatedLibrary(LIBRARY), valueSet(['a']), measureOf('all', NAMES), ...RECORDS].map(putOf))
    const languages = languagesOf()
    const plain: Asked = { year: '2020', parameters: [], now: '2022-01-01T00:00:00Z', individual: false }
    const wrong = { ...plain, parameters: [{ name: 'Least', valueString: 'two' }] }
    const before = countsIn(await evaluation(ctx, plain, languages))
    await expect(evaluation(ctx, wrong, languages)).rejects.toThrow('Least')
    expect(countsIn(await evaluation(ctx, plain, languages))).toEqual(before)
  })

  it('is that of the criteria of one Measure: another one of the same library is not asked for what it does not name', async () => {
    const ctx = contextOver(memoryStorage())
    const missing = LIBRARY.replace(
      'context Patient',
      "valueset Missing: 'http://x/ValueSet/missing'\ncontext Patient\ndefine Lost: exists [Encounter: Missing]",
    )
    await ctx.storage.write(
      [await translatedLibrary(missing), valueSet(['a']), measureOf('lost', ['Lost']), measureOf('all', NAMES), ...RECORDS].map(putOf),
    )
    const languages = languagesOf()
    const input = { measure: 'Measure/lost', periodStart: '2020', periodEnd: '2020' }
    for (const _ of [1, 2]) {
      await expect(evaluateMeasure(ctx, input, { languages })).rejects.toThrow('missing')
      const { groups } = await evaluateMeasure(ctx, { ...input, measure: 'Measure/all' }, { languages })
      expect(groups[0]?.populations[0]?.count).toBe(4)
    }
  })
})
