import type {
  CodeableConcept,
  MeasureReport,
  MeasureReportGroup,
  MeasureReportGroupPopulation,
  MeasureReportGroupStratifier,
  MeasureReportGroupStratifierStratum,
  MeasureReportGroupStratifierStratumComponent,
  Quantity,
} from 'fhir/r4.js'
import { formatCanonical } from '../content/index.js'
import type { OperationContext } from '../context/index.js'
import { objectAt, stringAt, type JsonObject, isObject } from '../json/index.js'
import { conceptOf } from './concept.js'
import type { GroupCounts, Scope } from './languages/index.js'
import type { GroupPlan, MeasurePlan, Stratifier, StratifierCriterion } from './measure-plan.js'
import { memberLists, type MemberLists } from './member-lists.js'
import type { Stratum, StratumValue } from './stratum.js'
import type { Tally } from './tally.js'

/** Everything that a report says. */
export interface Evaluation {
  readonly measure: JsonObject
  readonly plan: MeasurePlan
  readonly scope: Scope
  readonly type: MeasureReport['type']
  /** One for each group of the plan. */
  readonly counts: readonly GroupCounts[]
}

/**
 * The MeasureReport of an evaluation, in whatever language its criteria were written.
 *
 * @see https://hl7.org/fhir/R4/measurereport.html
 */
export function reportOf(ctx: OperationContext, { measure, plan, scope, type, counts }: Evaluation): MeasureReport {
  const now = ctx.now().toISOString()
  const { period, subject } = scope
  const improvementNotation = conceptOf(objectAt(measure, 'improvementNotation'))
  const lists = memberLists()
  const group = plan.groups.map((one, index) => groupOf(one, counts[index] ?? { populations: [], strata: [] }, lists))
  return {
    resourceType: 'MeasureReport',
    id: ctx.newId(),
    meta: { versionId: '1', lastUpdated: now },
    ...(lists.contained.length > 0 && { contained: [...lists.contained] }),
    status: 'complete',
    type,
    measure: canonicalOfMeasure(measure),
    ...(subject !== undefined && { subject: { reference: `${subject.type}/${subject.id}` } }),
    date: now,
    period: { start: period.start, end: period.end },
    ...(improvementNotation !== undefined && { improvementNotation }),
    ...(group.length > 0 && { group }),
  }
}

function canonicalOfMeasure(measure: JsonObject): string {
  const url = stringAt(measure, 'url')
  return url === undefined ? `Measure/${stringAt(measure, 'id')}` : formatCanonical(url, stringAt(measure, 'version'))
}

function groupOf(group: GroupPlan, counts: GroupCounts, lists: MemberLists): MeasureReportGroup {
  const { strata } = counts
  const stratifierOf = (stratifier: Stratifier, all: readonly Stratum[]): MeasureReportGroupStratifier => {
    const { id, code } = headOf(stratifier)
    const stratum = all.map((one) => ({ ...valuesOf(stratifier, one), ...populationsOf(group, one, lists) }))
    return { ...(id !== undefined && { id }), ...(code !== undefined && { code: [code] }), ...(stratum.length > 0 && { stratum }) }
  }
  return {
    ...headOf(group),
    ...populationsOf(group, counts, lists),
    ...(strata.length > 0 && { stratifier: group.stratifiers.map((stratifier, index) => stratifierOf(stratifier, strata[index] ?? [])) }),
  }
}

interface Tallied {
  readonly populations: readonly Tally[]
  readonly score?: number | undefined
}

interface Counted {
  population?: MeasureReportGroupPopulation[]
  measureScore?: { value: number }
}

function populationsOf(group: GroupPlan, { populations: tallies, score: given }: Tallied, lists: MemberLists): Counted {
  const counts = group.populations.map((_, index) => tallies[index]?.count ?? 0)
  const score = given ?? scoreOf(group, counts)
  const population = group.populations.map((one, index) => ({
    ...headOf(one),
    count: counts[index] ?? 0,
    ...lists.resultsOf(tallies[index]),
  }))
  return { ...(population.length > 0 && { population }), ...(score !== undefined && { measureScore: { value: score } }) }
}

interface Head {
  readonly id?: string
  readonly code?: JsonObject
}

function headOf(head: Head): { id?: string; code?: CodeableConcept } {
  const code = conceptOf(head.code)
  return { ...(head.id !== undefined && { id: head.id }), ...(code !== undefined && { code }) }
}

/** Numerator over denominator, each without what is excluded from it; `undefined` without such a scoring or with nothing to divide by. */
function scoreOf({ scoring, populations }: GroupPlan, counts: readonly number[]): number | undefined {
  if (scoring !== 'proportion' && scoring !== 'ratio') return undefined
  const count = (kind: string): number => counts[populations.findIndex((population) => population.kinds.includes(kind))] ?? 0
  const above = count('numerator') - count('numerator-exclusion')
  const below = count('denominator') - count('denominator-exclusion') - count('denominator-exception')
  return below > 0 ? above / below : undefined
}

/** Of R5, where the value of a stratum may be an amount. */
const VALUE_EXTENSION = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-MeasureReport.group.stratifier.stratum.value'

/** What a stratum of a report says of its values. */
function valuesOf(
  { criteria, byComponents }: Stratifier,
  { values = [] }: Stratum,
): Pick<MeasureReportGroupStratifierStratum, 'component' | 'extension' | 'value'> {
  if (byComponents) return { component: values.map((value, index) => componentOf(value, criteria[index]?.code)) }
  const [only] = values
  if (only === undefined) return {}
  const value = conceptOf(only.concept)
  return {
    ...(isQuantity(only.quantity) && { extension: [{ url: VALUE_EXTENSION, valueQuantity: only.quantity }] }),
    ...(value !== undefined && { value }),
  }
}

function componentOf({ concept }: StratumValue, code: StratifierCriterion['code']): MeasureReportGroupStratifierStratumComponent {
  return { code: conceptOf(code) ?? {}, value: conceptOf(concept) ?? {} }
}

function isQuantity(value: unknown): value is Quantity {
  return isObject(value)
}
