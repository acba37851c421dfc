import type { JsonObject } from 'fhir-ops/internal/json'
import { LIBRARY_URL, type Resource } from './ward.js'

/** A Measure and the inputs of its evaluation. */
export interface Probe {
  readonly name: string
  readonly measure: Resource
  readonly call: ProbeCall
}

/** Inputs of `$evaluate-measure`. */
export interface ProbeCall {
  readonly periodStart: string
  readonly periodEnd: string
  readonly reportType?: 'population' | 'subject' | 'subject-list'
  readonly subject?: string
  readonly practitioner?: string
  /** A Parameters resource. */
  readonly parameters?: JsonObject
}

const GUIDE = 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition'
const LANGUAGE = 'text/cql-identifier'

/** Creates functions for random draws, which are the same for the same seed. */
function drawing(seed: number): { readonly below: (limit: number) => number; readonly of: <T>(list: readonly [T, ...T[]]) => T } {
  let state = seed
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  return { below, of: (list) => list[below(list.length)] ?? list[0] }
}

type Draw = ReturnType<typeof drawing>

const TRUTHS = ['Everybody', 'Everybody', 'Nobody', 'Unknown', 'Woman', 'Man', 'Active', 'Deceased', 'Visited', 'Frequent', 'Seen'] as const
const LISTS = [
  'Visits',
  'Visits',
  'Finished',
  'Planned',
  'During',
  'Day During',
  'Starting',
  'NoVisits',
  'UnknownVisits',
  'Visits With Null',
] as const
const VALUES = ['Gender', 'Gender Text', 'Age', 'No Value', 'Marital', 'Birthday', 'Visit Count', 'Maybe Value', 'Woman'] as const
const AGGREGATES = ['count', 'sum', 'avg', 'median', 'min', 'max'] as const
const SCORINGS = ['proportion', 'proportion', 'ratio', 'continuous-variable', 'cohort'] as const
const PERIODS = [
  ['2024-01-01', '2024-12-31'],
  ['2024-01-01', '2024-12-31'],
  ['2024-02-29', '2024-02-29'],
  ['2023-12-31', '2024-01-01'],
  ['2024-01-01T00:00:00Z', '2024-12-31T23:59:59Z'],
  ['2024-01-01T00:00:00-05:00', '2024-12-31T23:59:59-05:00'],
] as const

const PARTS: Readonly<Record<(typeof SCORINGS)[number], readonly (readonly [kind: string, odds: number])[]>> = {
  proportion: [
    ['denominator', 1],
    ['denominator-exclusion', 0.6],
    ['numerator', 1],
    ['numerator-exclusion', 0.4],
    ['denominator-exception', 0.5],
  ],
  ratio: [
    ['denominator', 1],
    ['denominator-exclusion', 0.5],
    ['numerator', 1],
    ['numerator-exclusion', 0.5],
  ],
  'continuous-variable': [
    ['measure-population', 1],
    ['measure-population-exclusion', 0.6],
  ],
  cohort: [],
}

/** Creates the random probe with a number. */
export function randomProbe(number: number): Probe {
  const draw = drawing(number * 7_919 + 11)
  const [periodStart, periodEnd] = draw.of([...PERIODS])
  const groups = draw.below(5) === 0 ? 2 : 1
  const group = Array.from({ length: groups }, (_, at) => randomGroup(draw, `group-${at + 1}`))
  const supplementalData =
    draw.below(4) === 0
      ? [{ id: 'sde', usage: [concept('supplemental-data')], criteria: criteria(draw.of([...VALUES, 'Races', 'Two Values'])) }]
      : undefined
  return {
    name: `random ${number}`,
    measure: measureOf(`random-${number}`, { group, ...(supplementalData !== undefined && { supplementalData }) }),
    call: { periodStart, periodEnd, ...randomCall(draw) },
  }
}

function randomCall(draw: Draw): Omit<ProbeCall, 'periodEnd' | 'periodStart'> {
  const parameter = [{ name: 'Least', valueInteger: 1 + draw.below(3) }]
  const parameters = draw.below(5) === 0 ? { parameters: { resourceType: 'Parameters', parameter } } : {}
  switch (draw.below(8)) {
    case 0:
      return { ...parameters, reportType: 'subject-list' }
    case 1:
    case 2:
      return { ...parameters, reportType: 'subject', subject: `Patient/${draw.of(['a', 'b', 'c', 'd', 'e', 'f'])}` }
    case 3:
      return { ...parameters, reportType: 'population', subject: draw.of(['Group/some', 'Group/empty']) }
    case 4:
      return { ...parameters, reportType: 'population', practitioner: 'Practitioner/house' }
    default:
      return { ...parameters, reportType: 'population' }
  }
}

function randomGroup(draw: Draw, id: string): JsonObject {
  const scoring = draw.of([...SCORINGS])
  const basis = draw.of(['boolean', 'Encounter'])
  const criterion = (): JsonObject => criteria(basis === 'boolean' ? draw.of([...TRUTHS]) : draw.of([...LISTS]))
  const kinds = PARTS[scoring].flatMap(([kind, odds]) => (draw.below(100) < odds * 100 ? [kind] : []))
  const population = ['initial-population', ...kinds].map((kind) => ({ id: kind, code: concept(kind), criteria: criterion() }))
  const observed = observedIn(scoring, draw)
  const functions =
    basis === 'boolean' ? (['Patient Age', 'Patient Visits'] as const) : (['Minutes', 'Maybe Minutes', 'Length', 'One', 'Nothing'] as const)
  const observations = observed.map((kind) => ({
    id: `observation-${kind}`,
    extension: [
      { url: `${GUIDE}/cqfm-aggregateMethod`, valueString: draw.of([...AGGREGATES]) },
      { url: `${GUIDE}/cqfm-criteriaReference`, valueString: kind },
    ],
    code: concept('measure-observation'),
    criteria: criteria(draw.of([...functions])),
  }))
  const stratifier = draw.below(3) === 0 ? [randomStratifier(draw, basis, `${id}-stratifier`)] : undefined
  return {
    id,
    extension: [
      { url: `${GUIDE}/cqfm-scoring`, valueCodeableConcept: concept(scoring) },
      { url: `${GUIDE}/cqfm-populationBasis`, valueCode: basis },
    ],
    population: [...population, ...observations],
    ...(stratifier !== undefined && { stratifier }),
  }
}

function observedIn(scoring: (typeof SCORINGS)[number], draw: Draw): readonly string[] {
  if (scoring === 'continuous-variable') return ['measure-population']
  return scoring === 'ratio' && draw.below(2) === 0 ? ['denominator', 'numerator'] : []
}

function randomStratifier(draw: Draw, basis: string, id: string): JsonObject {
  const value = (): string => (basis === 'Encounter' && draw.below(3) === 0 ? 'Status' : draw.of([...VALUES]))
  const component = (text: string): JsonObject => ({ id: `${id}-${text}`, code: { text }, criteria: criteria(value()) })
  if (draw.below(3) === 0)
    return { id, code: { text: 'by' }, criteria: criteria(basis === 'boolean' ? draw.of([...TRUTHS]) : draw.of([...LISTS])) }
  return { id, code: { text: 'by' }, component: draw.below(2) === 0 ? [component('one')] : [component('one'), component('two')] }
}

function measureOf(id: string, more: JsonObject): Resource {
  const url = `http://example.org/Measure/${id}`
  return { resourceType: 'Measure', id, url, name: id.replaceAll('-', ''), status: 'active', library: [LIBRARY_URL], ...more }
}

function concept(code: string): JsonObject {
  return { coding: [{ code }] }
}

function criteria(expression: string): JsonObject {
  return { language: LANGUAGE, expression }
}
