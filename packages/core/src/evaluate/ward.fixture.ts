import { createContext, type ContextOptions, type OperationContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import { typeModelOf } from '../model/index.js'
import { createIndexer, searchParameters, type SearchParameterRow, type SearchParameters } from '../search/index.js'
import type { Indexer } from '../storage/index.js'
import type { MeasureReport } from 'fhir/r4.js'
import { evaluateMeasure, toMeasureReport, type EvaluateMeasureInput, type EvaluateMeasureOptions } from './index.js'

const row = (type: string, base: string, code: string): SearchParameterRow => ({
  url: `http://example.org/${base}-${code}`,
  code,
  base: [base],
  type,
  expression: `${base}.${code}`,
})

const MODEL = typeModelOf({
  Patient: { kind: 'resource', elements: { id: 'id', gender: 'code', birthDate: 'date', generalPractitioner: 'Reference*' } },
  Practitioner: { kind: 'resource', elements: { id: 'id' } },
  Group: { kind: 'resource', elements: { id: 'id', actual: 'boolean', member: 'Group.member*' } },
  'Group.member': { kind: 'complex-type', elements: { entity: 'Reference', inactive: 'boolean' } },
  Observation: {
    kind: 'resource',
    elements: { id: 'id', code: 'CodeableConcept', subject: 'Reference', 'effective[x]': 'dateTime|Period', 'value[x]': 'Quantity' },
  },
  Organization: { kind: 'resource', elements: { id: 'id', name: 'string', partOf: 'Reference' } },
  CodeableConcept: { kind: 'complex-type', elements: { coding: 'Coding*', text: 'string' } },
  Quantity: { kind: 'complex-type', elements: { value: 'decimal', comparator: 'code', unit: 'string', system: 'uri', code: 'code' } },
  Coding: { kind: 'complex-type', elements: { system: 'uri', code: 'code' } },
  Reference: { kind: 'complex-type', elements: { reference: 'string' } },
  Period: { kind: 'complex-type', elements: { start: 'dateTime', end: 'dateTime' } },
  ...Object.fromEntries(
    ['id', 'boolean', 'code', 'date', 'dateTime', 'decimal', 'string', 'uri'].map((name) => [name, { kind: 'primitive-type' }]),
  ),
})

/** What the ward can be searched by. */
export const PARAMETERS: SearchParameters = searchParameters(
  [
    row('token', 'Patient', 'gender'),
    row('date', 'Patient', 'birthDate'),
    row('token', 'Observation', 'code'),
    { ...row('reference', 'Observation', 'subject'), target: ['Patient', 'Group'] },
    { ...row('date', 'Observation', 'date'), expression: 'Observation.effective' },
    row('token', 'Organization', 'name'),
    { ...row('reference', 'Organization', 'partof'), expression: 'Organization.partOf', target: ['Organization'] },
    { ...row('reference', 'Patient', 'general-practitioner'), expression: 'Patient.generalPractitioner', target: ['Practitioner'] },
    { ...row('reference', 'Group', 'member'), expression: 'Group.member.entity', target: ['Patient', 'Practitioner'] },
  ],
  MODEL,
)

/** What the ward's resources are found by. */
export const INDEXER: Indexer = createIndexer(PARAMETERS)

const patient = (id: string, gender: string, birthDate: string): object => ({ resourceType: 'Patient', id, gender, birthDate })

const observation = (id: string, subject: string, over: object): object => ({
  resourceType: 'Observation',
  id,
  subject: { reference: `Patient/${subject}` },
  ...over,
})

const coded = (code: string): object => ({ code: { coding: [{ system: 'http://example.org/codes', code }] } })

/** Three women, one man; observations of weight and height on three of them, and one of nobody. */
const WARD = [
  patient('ada', 'female', '1950-05-01'),
  patient('bea', 'female', '1960-05-01'),
  patient('cleo', 'female', '1970-05-01'),
  patient('dan', 'male', '1980-05-01'),
  observation('w1', 'ada', { ...coded('weight'), effectiveDateTime: '2020-03-01' }),
  observation('w2', 'ada', { ...coded('weight'), effectiveDateTime: '2021-03-01' }),
  observation('w3', 'bea', { ...coded('weight'), effectiveDateTime: '2021-12-31' }),
  observation('h1', 'bea', { ...coded('height'), effectiveDateTime: '2021-06-01' }),
  observation('h2', 'dan', { ...coded('height'), effectiveDateTime: '2022-06-01' }),
  { resourceType: 'Observation', id: 'h3', ...coded('height') },
]

/** A context over the ward and some Measures, with a clock that stands still. */
export function wardContext(measures: readonly JsonObject[], options: Partial<ContextOptions> = {}): OperationContext {
  return createContext({
    storage: memoryStorage([...WARD, ...measures], { indexer: INDEXER }),
    search: { parameters: PARAMETERS },
    now: () => new Date('2024-05-06T07:08:09.010Z'),
    newId: () => 'report-1',
    ...options,
  })
}

/** A population whose criterion is a query. */
export function population(kind: string, expression: unknown, over: object = {}): JsonObject {
  return { code: { coding: [{ code: kind }] }, criteria: { language: 'application/x-fhir-query', expression }, ...over }
}

/** A Measure with id `m`. */
export function measure(group: unknown, over: object = {}): JsonObject {
  return { resourceType: 'Measure', id: 'm', url: 'http://example.org/Measure/m', status: 'active', group, ...over }
}

/** The extension that says what a measure counts. */
export function basis(valueCode: string): object {
  return { extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode }] }
}

/** `Measure.scoring`. */
export function scoring(code: string): object {
  return { scoring: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-scoring', code }] } }
}

/** A call for the Measure of `measure` and the year 2021. */
export const YEAR_2021: EvaluateMeasureInput = { measure: 'Measure/m', periodStart: '2021', periodEnd: '2021' }

/** The MeasureReport of an evaluation. */
export async function reportOf(
  ctx: OperationContext,
  input: EvaluateMeasureInput = YEAR_2021,
  options?: EvaluateMeasureOptions,
): Promise<MeasureReport> {
  return toMeasureReport(await evaluateMeasure(ctx, input, options))
}

/** The counts of every population of a Measure over the ward, in its order. */
export async function countsOf(resource: JsonObject, over: Partial<EvaluateMeasureInput> = {}): Promise<readonly unknown[]> {
  const { groups } = await evaluateMeasure(wardContext([resource]), { ...YEAR_2021, ...over })
  return groups.flatMap(({ populations }) => populations.map(({ count }) => count))
}
