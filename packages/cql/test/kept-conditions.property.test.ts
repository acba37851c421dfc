import { evaluateMeasure, type EvaluateMeasureResult } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { contextOver, languagesOf, numRuns, putOf, SEED, TEXT, translatedLibrary, valueSet, type Json } from './ward.fixture.js'

/** Conditions on visits, on conditions and on observations: of dates, of codes, of both, and with something else. */
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  '[Encounter] E': [
    'E.period during "Measurement Period"',
    'E.period during day of "Measurement Period"',
    'E.period overlaps "Measurement Period"',
    '"Measurement Period" overlaps E.period',
    'E.period overlaps day of "Measurement Period"',
    'start of E.period >= start of "Measurement Period" and end of E.period <= end of "Measurement Period"',
    'E.period starts during "Measurement Period"',
    'E.period ends on or before day of end of "Measurement Period"',
    'start of "Measurement Period" before E.period',
    'E.period after "Measurement Period"',
    'E.period same month or before end of "Measurement Period"',
    'E.period.start.value during "Measurement Period"',
    'E.period during Cutoff',
    'start of E.period > "Last day"',
    `E.status = 'finished' and E.period during "Measurement Period"`,
    `E.status.value in { 'finished', 'arrived' } and start of E.period after start of "Measurement Period"`,
    `E.status = 'finished'`,
    `E.status ~ 'finished' and E.period during "Measurement Period"`,
    `E.id > 'e1' and E.period during "Measurement Period"`,
    `E.period during "Measurement Period" or E.status = 'finished'`,
    `not (E.period during "Measurement Period")`,
  ],
  '[Encounter: "Kinds"] E': ['E.period during "Measurement Period"'],
  '[Condition] C': [
    '(C.onset as FHIR.dateTime) before end of "Measurement Period"',
    '(C.onset as FHIR.Period) overlaps "Measurement Period"',
    'C.onset as FHIR.dateTime in "Measurement Period" and C.recordedDate.value before end of "Measurement Period"',
    'C.recordedDate before end of "Measurement Period"',
    'C.recordedDate.value >= start of "Measurement Period"',
  ],
}
const DEFINITIONS = Object.entries(CONDITIONS).flatMap(([source, all]) => all.map((condition) => `(${source} where ${condition})`))
const MORE = [
  `([Encounter] E let begin: start of E.period where E.period during "Measurement Period" return begin)`,
  `([Encounter] E with [Condition] C such that C.recordedDate same or after start of E.period where E.period during "Measurement Period")`,
  `([Encounter] E where E.period during "Measurement Period" return E.status.value sort desc)`,
  `([Encounter] E return all Tuple { status: E.status.value, isIn: E.period during "Measurement Period" })`,
  `([Encounter] E where start of E.period < Now() return all start of E.period)`,
  `(from [Encounter] E, [Condition] C return all Tuple { status: E.status.value, alike: E.id.value = C.id.value, on: C.recordedDate.value })`,
]
const LIBRARY = `${TEXT.replace('context Patient', 'parameter "Cutoff" Interval<DateTime>\nparameter "Last day" DateTime\ncontext Patient')}
${[...DEFINITIONS, ...MORE].map((list, n) => `define "Count ${n}": Count(${list})\ndefine "Some ${n}": exists ${list}`).join('\n')}
`
const DEFINED = [...DEFINITIONS, ...MORE].flatMap((list) => [list, list])
const NAMES = [...DEFINITIONS, ...MORE].flatMap((_, n) => [`Count ${n}`, `Some ${n}`])
const MEASURE: Json = {
  resourceType: 'Measure',
  id: 'conditions',
  status: 'active',
  library: ['http://x/Library/Ward'],
  scoring: { coding: [{ code: 'cohort' }] },
  group: [
    {
      population: [
        { code: { coding: [{ code: 'initial-population' }] }, criteria: { language: 'text/cql-identifier', expression: 'Everybody' } },
      ],
      stratifier: NAMES.map((name) => ({ code: { text: name }, criteria: { language: 'text/cql-identifier', expression: name } })),
    },
  ],
}

const DAYS = ['2019-06-01', '2019-12-26', '2019-12-31', '2020-01-01', '2020-01-02', '2020-01-05', '2020-07-01', '2020-12-27']
const LATER = ['2020-12-31', '2021-01-01', '2021-01-06', '2021-08-01']
const moment = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...DAYS, ...LATER), fc.constantFrom('T00:00:00Z', 'T23:59:59.999Z', 'T10:00:00')) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...DAYS, ...LATER), fc.constantFrom('T00:30:00+14:00', 'T23:30:00-12:00', '')) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('2019', '2019-12', '2020', '2020-01', '2020-07', '2021', 'soon'), fc.constant('')) },
)
const text = moment.map(([day, time]) => day + time)
const period = fc.record({ start: text, end: text }, { requiredKeys: [] })
const visit = fc.record({
  status: fc.constantFrom('finished', 'arrived', 'cancelled', ''),
  period: fc.option(period),
  code: fc.constantFrom('a', 'b'),
})
const onset = fc.oneof(
  text.map((onsetDateTime) => ({ onsetDateTime })),
  period.map((onsetPeriod) => ({ onsetPeriod })),
  text.map((onsetString) => ({ onsetString })),
  text.map((onsetDateTime) => ({ onsetDateTime, _onsetDateTime: { extension: [{ url: 'http://x/e', valueString: 'x' }] } })),
  fc.constant({ _onsetDateTime: { extension: [{ url: 'http://x/e', valueString: 'x' }] } }),
  fc.constant({}),
)
const problem = fc.record({ onset, recordedDate: fc.option(text) })
const people = fc.array(fc.record({ visits: fc.array(visit, { maxLength: 6 }), problems: fc.array(problem, { maxLength: 4 }) }), {
  minLength: 1,
  maxLength: 4,
})

function recordsOf(all: typeof people extends fc.Arbitrary<infer T> ? T : never): readonly Json[] {
  return all.flatMap(({ visits, problems }, n) => {
    const subject = { reference: `Patient/p${n}` }
    return [
      { resourceType: 'Patient', id: `p${n}`, birthDate: '1980-01-01' },
      ...visits.map(({ status, period: own, code }, at) => ({
        resourceType: 'Encounter',
        id: `p${n}-e${at}`,
        subject,
        ...(status !== '' && { status }),
        ...(own !== null && { period: own }),
        type: [{ coding: [{ system: 'http://x/kind', code }] }],
      })),
      ...problems.map((one, at) => ({
        resourceType: 'Condition',
        id: `p${n}-c${at}`,
        subject,
        ...one.onset,
        ...(one.recordedDate !== null && { recordedDate: one.recordedDate }),
      })),
    ]
  })
}

/** Values of definitions with the number of those who have them. */
function valuesIn({ groups, failures }: EvaluateMeasureResult): unknown {
  const strata = groups.flatMap(({ stratifiers }) => stratifiers.map(({ strata: all }) => all))
  const values = strata.map((all) => all.map(({ value, populations }) => `${value?.text}: ${populations[0]?.count}`))
  return [failures, ...values.map((all, n) => `${NAMES[n]} ${DEFINED[n]}: ${all.join(', ')}`)]
}

const PARAMETERS = {
  resourceType: 'Parameters',
  parameter: [
    { name: 'Cutoff', valuePeriod: { start: '2020-01-04' } },
    { name: 'Last day', valueDateTime: '2020-12-31' },
  ],
}

it('conditions on what is kept, and on what is read for them, in periods one after the other, find what they find in all that there is', async () => {
  const library = await translatedLibrary(LIBRARY)
  const [languages, keeping] = [languagesOf(), languagesOf(10_000_000)]
  const agree = async (all: Parameters<typeof recordsOf>[0]): Promise<void> => {
    const ctx = contextOver(memoryStorage())
    await ctx.storage.write([library, valueSet(['a']), MEASURE, ...recordsOf(all)].map(putOf))
    for (const [periodStart, periodEnd] of [
      ['2020', '2020'],
      ['2019', '2019'],
      ['2019-12-31T22:00:00-02:00', '2020-06-30'],
    ] as const) {
      const input = { measure: 'Measure/conditions', periodStart, periodEnd, parameters: PARAMETERS }
      const [kept, fresh] = [await evaluateMeasure(ctx, input, { languages: keeping }), await evaluateMeasure(ctx, input, { languages })]
      expect(valuesIn(kept)).toEqual(valuesIn(fresh))
      // Coverage looks at every condition, so nothing is left out when the records are read.
      const whole = await evaluateMeasure(ctx, { ...input, coverage: true }, { languages })
      expect(valuesIn(fresh)).toEqual(valuesIn(whole))
    }
  }
  await fc.assert(fc.asyncProperty(people, agree), { numRuns: numRuns(40), ...SEED })
})
