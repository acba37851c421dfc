import type {
  CodeableConcept,
  MeasureReport,
  MeasureReportGroup,
  MeasureReportGroupPopulation,
  MeasureReportGroupStratifier,
} from 'fhir/r4.js'
import { formatCanonical } from '../content/index.js'
import type { OperationContext } from '../context/index.js'
import { objectAt, stringAt, type JsonObject } from '../json/index.js'
import { conceptOf } from './concept.js'
import type { GroupCounts, Scope } from './languages/index.js'
import type { GroupPlan, MeasurePlan, Stratifier } from './measure-plan.js'
import { memberLists, type MemberLists } from './member-lists.js'
import { scoreOf } from './score.js'
import { valuesOf } from './stratum-values.js'
import type { Stratum } from './stratum.js'
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

function groupOf(group: GroupPlan, { populations, strata }: GroupCounts, lists: MemberLists): MeasureReportGroup {
  const stratifierOf = (stratifier: Stratifier, all: readonly Stratum[]): MeasureReportGroupStratifier => {
    const { id, code } = headOf(stratifier)
    const stratum = all.map((one) => ({ ...valuesOf(stratifier, one), ...populationsOf(group, one.populations, lists) }))
    return { ...(id !== undefined && { id }), ...(code !== undefined && { code: [code] }), ...(stratum.length > 0 && { stratum }) }
  }
  return {
    ...headOf(group),
    ...populationsOf(group, populations, lists),
    ...(strata.length > 0 && { stratifier: group.stratifiers.map((stratifier, index) => stratifierOf(stratifier, strata[index] ?? [])) }),
  }
}

interface Counted {
  population?: MeasureReportGroupPopulation[]
  measureScore?: { value: number }
}

function populationsOf(group: GroupPlan, tallies: readonly Tally[], lists: MemberLists): Counted {
  const counts = group.populations.map((_, index) => tallies[index]?.count ?? 0)
  const score = scoreOf(group, counts)
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
