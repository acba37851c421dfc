import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { createLiveMeasure, evaluateMeasure, type CriteriaLanguage, type EvaluateMeasureResult } from 'fhir-ops/evaluate'
import { putResource, type ScanQuery, type Storage, type WriteEntry } from 'fhir-ops/storage'
import fc from 'fast-check'
import { expect } from 'vitest'
import { rounds as runs, SEED as RUN_SEED } from '../../../test/effort.js'
import { cqlLanguage } from '../src/index.js'
import { translator } from './translator.fixture.js'

const { types, indexer, ...release } = r4()

/** CQL as criteria; with `keepBytes` it keeps populations. */
export function languagesOf(keepBytes = 0): readonly CriteriaLanguage[] {
  return [cqlLanguage({ translator, keepBytes })]
}

/** A storage that counts the subjects that its scans give. */
export interface Counting {
  readonly storage: Storage
  /** How many since it was asked last. */
  readonly scanned: () => number
}

/** Counts the subjects that scans give. */
export function counting(storage: Storage): Counting {
  let subjects = 0
  const scan = async (query: ScanQuery): ReturnType<NonNullable<Storage['scan']>> => {
    const page = (await storage.scan?.(query)) ?? { items: [] }
    subjects += page.items.length
    return page
  }
  return {
    storage: { ...storage, scan },
    scanned: () => {
      const before = subjects
      subjects = 0
      return before
    },
  }
}

/** The text of the library. */
export const TEXT: string = `library Ward version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1'
valueset "Kinds": 'http://x/ValueSet/kinds'
parameter "Measurement Period" Interval<DateTime>
context Patient
define Everybody: AgeInYearsAt(start of "Measurement Period") >= 18
define Visits: [Encounter: "Kinds"] E where E.status = 'finished' and E.period during "Measurement Period"
define Visited: exists Visits
define Gender: Patient.gender
define function Length(visit FHIR.Encounter): duration in minutes of visit.period
define Fails: singleton from ([Encounter] E where E.status = 'cancelled') is not null
define Begins: [Encounter: "Kinds"] E
  return Tuple { begin: start of E.period, kinds: (E.type T where T.text is null return T.coding.code) }
define Seen: exists (Begins B where B.begin during "Measurement Period" and exists B.kinds)
define Minutes: Sum(([Encounter] E where E.period during "Measurement Period") E return all Length(E))
define Any: ([Encounter] union [Patient]) R
define Ids: (Any R where R.id > 'e2') R return all R.id
define Adult: Patient.birthDate before Date(1990) and exists Ids
define Today: exists ([Encounter] E where E.period starts before Now())
`
/** A resource. */
export type Json = Readonly<Record<string, unknown>> & { readonly resourceType: string; readonly id: string }
/** The library of the Measures. */
export const library = (text: string): Json => ({
  resourceType: 'Library',
  id: 'ward',
  url: 'http://x/Library/Ward',
  name: 'Ward',
  version: '1',
  status: 'active',
  type: { text: 'logic' },
  content: [{ contentType: 'text/cql', data: btoa(text) }],
})
/** The library as ELM, which is not translated for every evaluation. */
export async function translatedLibrary(text: string): Promise<Json> {
  const { elm, problems } = await translator.translate(text)
  expect(problems).toEqual([])
  return { ...library(text), content: [{ contentType: 'application/elm+json', data: btoa(JSON.stringify(elm)) }] }
}
/** The value set of the library, with these codes. */
export const valueSet = (codes: readonly string[]): Json => ({
  resourceType: 'ValueSet',
  id: 'kinds',
  url: 'http://x/ValueSet/kinds',
  status: 'active',
  compose: { include: [{ system: 'http://x/kind', concept: codes.map((code) => ({ code })) }] },
})
const criteria = (expression: string): object => ({ criteria: { language: 'text/cql-identifier', expression } })
const populationOf = (kind: string, expression: string): object => ({ code: { coding: [{ code: kind }] }, ...criteria(expression) })
const basis = (code: string): object => ({
  extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: code }],
})
const measure = (id: string, more: object): Json => ({
  resourceType: 'Measure',
  id,
  status: 'active',
  library: ['http://x/Library/Ward'],
  ...more,
})
const cohort = { scoring: { coding: [{ code: 'cohort' }] } }
/** A Measure for each way in which results are kept. */
export const MEASURES: readonly Json[] = [
  measure('proportion', {
    scoring: { coding: [{ code: 'proportion' }] },
    group: [
      {
        population: [
          populationOf('initial-population', 'Everybody'),
          populationOf('denominator', 'Everybody'),
          populationOf('numerator', 'Visited'),
        ],
        stratifier: [{ code: { text: 'gender' }, ...criteria('Gender') }],
      },
    ],
    supplementalData: [{ code: { text: 'sex' }, ...criteria('Gender') }],
  }),
  measure('visits', { ...cohort, group: [{ ...basis('Encounter'), population: [populationOf('initial-population', 'Visits')] }] }),
  measure('visited', { ...cohort, group: [{ ...basis('boolean'), population: [populationOf('initial-population', 'Visited')] }] }),
  measure('seen', {
    ...cohort,
    group: [
      {
        ...basis('boolean'),
        population: [populationOf('initial-population', 'Seen')],
        stratifier: ['Minutes', 'Ids', 'Adult'].map((name) => ({ code: { text: name }, ...criteria(name) })),
      },
    ],
  }),
  measure('fails', { ...cohort, group: [{ ...basis('boolean'), population: [populationOf('initial-population', 'Fails')] }] }),
  measure('today', { ...cohort, group: [{ ...basis('boolean'), population: [populationOf('initial-population', 'Today')] }] }),
]

const patientId = fc.nat(5).map((n) => `p${n}`)
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('visit' as const),
      id: fc.nat(9).map((n) => `e${n}`),
      patient: patientId,
      status: fc.constantFrom('finished', 'finished', 'cancelled'),
      code: fc.constantFrom('a', 'b', 'c'),
      year: fc.constantFrom('2019', '2020', '2020'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('patient' as const), id: patientId, gender: fc.constantFrom('female', 'male') }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), type: fc.constantFrom('Encounter', 'Patient'), n: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('codes' as const), codes: fc.subarray(['a', 'b', 'c'], { minLength: 1 }) }) },
)
/** A change of a ward. */
export type Change =
  | {
      readonly kind: 'visit'
      readonly id: string
      readonly patient: string
      readonly status: string
      readonly code: string
      readonly year: string
    }
  | { readonly kind: 'patient'; readonly id: string; readonly gender: string }
  | { readonly kind: 'delete'; readonly type: string; readonly n: number }
  | { readonly kind: 'codes'; readonly codes: readonly string[] }

/** The write of a resource. */
export function putOf(source: Json): WriteEntry {
  return putResource({ type: source.resourceType, id: source.id, source }, indexer)
}

/** The write of a change. */
export function entryOf(made: Change): WriteEntry {
  switch (made.kind) {
    case 'visit':
      return putOf({
        resourceType: 'Encounter',
        id: made.id,
        status: made.status,
        class: { code: 'AMB' },
        type: [{ coding: [{ system: 'http://x/kind', code: made.code }] }],
        subject: { reference: `Patient/${made.patient}` },
        period: { start: `${made.year}-02-01T10:00:00Z`, end: `${made.year}-02-01T10:30:00Z` },
      })
    case 'patient':
      return putOf({
        resourceType: 'Patient',
        id: made.id,
        gender: made.gender,
        birthDate: made.gender === 'female' ? '1980' : '2005-06-01',
      })
    case 'delete':
      return { op: 'delete', type: made.type, id: made.type === 'Patient' ? `p${made.n % 6}` : `e${made.n}` }
    case 'codes':
      return putOf(valueSet(made.codes))
  }
}

/** An earlier version of a resource is written again, as far back as its history goes. */
interface Restored {
  readonly kind: 'restore'
  readonly type: string
  readonly n: number
  readonly back: number
}

const restored: fc.Arbitrary<Restored> = fc.record({
  kind: fc.constant('restore' as const),
  type: fc.constantFrom('Encounter', 'Encounter', 'Patient'),
  n: fc.nat(9),
  back: fc.integer({ min: 1, max: 3 }),
})

const writes = fc.array(fc.oneof({ weight: 3, arbitrary: change }, { weight: 1, arbitrary: restored }), { maxLength: 5 })

/** The writes of three writers at once, some times one after the other. */
export const concurrentRounds: fc.Arbitrary<(Change | Restored)[][][]> = fc.array(fc.tuple(writes, writes, writes), {
  minLength: 2,
  maxLength: 4,
})

async function writeOneByOne({ storage }: OperationContext, changes: readonly (Change | Restored)[]): Promise<void> {
  for (const made of changes) {
    const entry = made.kind === 'restore' ? await earlierOf(storage, made) : entryOf(made)
    if (entry !== undefined) await storage.write([entry])
  }
}

async function earlierOf({ history }: Storage, { type, n, back }: Restored): Promise<WriteEntry | undefined> {
  if (history === undefined) throw new Error('The storage keeps no history.')
  const { items } = await history.page({ types: [type], id: type === 'Patient' ? `p${n % 6}` : `e${n}` })
  const versions = items.flatMap(({ stored }) => stored ?? [])
  const earlier = versions[Math.min(back, versions.length - 1)]
  return earlier && putOf(JSON.parse(earlier.text))
}

function counted(result: EvaluateMeasureResult): unknown {
  return JSON.parse(JSON.stringify({ ...result, id: '', date: '' }))
}

/** What is measured. */
export const PERIOD: { readonly periodStart: string; readonly periodEnd: string } = { periodStart: '2020', periodEnd: '2020' }

/** Expects that live measures count what new evaluations do, after each of some writes. */
export async function expectAgreement(ctx: OperationContext, rounds: readonly (readonly Change[])[]): Promise<void> {
  await ctx.storage.write([library(TEXT), valueSet(['a']), ...MEASURES].map(putOf))
  const languages = languagesOf()
  const inputs = MEASURES.flatMap(({ id }) =>
    (['population', 'subject-list'] as const).map((reportType) => ({ measure: `Measure/${id}`, reportType, ...PERIOD })),
  )
  const live = inputs.map((input) => createLiveMeasure(ctx, input, { languages, settlingMs: 50 }))
  for (const changes of rounds) {
    if (changes.length > 0) await ctx.storage.write(changes.map(entryOf))
    for (const [index, input] of inputs.entries())
      expect(counted((await live[index]?.evaluate()) ?? expect.fail())).toEqual(counted(await evaluateMeasure(ctx, input, { languages })))
  }
}

/** Expects that live measures count what new evaluations do, after several writers wrote, deleted and restored while they were evaluated. */
export async function expectAgreementWhileWritten(
  ctx: OperationContext,
  rounds: readonly (readonly (readonly (Change | Restored)[])[])[],
): Promise<void> {
  await ctx.storage.write([library(TEXT), valueSet(['a']), ...MEASURES].map(putOf))
  const languages = languagesOf()
  const inputs = MEASURES.map(({ id }) => ({ measure: `Measure/${id}`, reportType: 'subject-list' as const, ...PERIOD }))
  // On a busy machine a write becomes visible long after its own time.
  const live = inputs.map((input) => createLiveMeasure(ctx, input, { languages }))
  for (const writers of rounds) {
    await Promise.all([...writers.map((changes) => writeOneByOne(ctx, changes)), ...live.map((one) => one.evaluate())])
    for (const [index, input] of inputs.entries())
      expect(counted((await live[index]?.evaluate()) ?? expect.fail())).toEqual(counted(await evaluateMeasure(ctx, input, { languages })))
  }
}

/** Expects that evaluations over a population that is kept count what those over a new one do, in two periods, after each of some writes. */
export async function expectKeptAgreement(
  ctx: OperationContext,
  rounds: readonly (readonly Change[])[],
  meanwhile: (changes: readonly Change[]) => Promise<void> = async () => {},
): Promise<void> {
  await ctx.storage.write([library(TEXT), valueSet(['a']), ...MEASURES].map(putOf))
  const [languages, keeping] = [languagesOf(), languagesOf(1_000_000)]
  for (const [round, changes] of rounds.entries()) {
    if (changes.length > 0) await ctx.storage.write(changes.map(entryOf))
    await meanwhile(changes)
    for (const { id } of MEASURES)
      for (const reportType of ['population', 'subject-list'] as const) {
        const year = round % 2 === 0 ? '2020' : '2019'
        const input = { measure: `Measure/${id}`, reportType, periodStart: year, periodEnd: year }
        const [kept, fresh] = [await evaluateMeasure(ctx, input, { languages: keeping }), await evaluateMeasure(ctx, input, { languages })]
        expect(counted(kept)).toEqual(counted(fresh))
      }
  }
}

/** Writes, one after the other. */
export const rounds: fc.Arbitrary<Change[][]> = fc.array(fc.array(change, { maxLength: 6 }), { minLength: 2, maxLength: 6 })
/** For random changes. */
export const SEED: { readonly seed: number } = { seed: RUN_SEED }
/** How many of them: a quarter in `npm test`. */
export const numRuns = (all: number): number => runs({ quick: Math.ceil(all / 8), all })

/** A context over a storage. */
export function contextOver(storage: Storage): OperationContext {
  return createContext({ ...release, indexer, types, storage })
}
