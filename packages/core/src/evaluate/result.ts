import type { CodeableConcept, Extension, Quantity } from 'fhir/r4.js'
import type { Explained, OperationContext } from '../context/index.js'
import { quoted } from '../errors/index.js'
import type { Coverage } from '../explain/index.js'
import { objectAt, type JsonObject } from '../json/index.js'
import { conceptOf, isQuantity } from './concept.js'
import type { CountedSupplement, Counts } from './counts.js'
import { canonicalOfMeasure } from './find-measure.js'
import { NO_COUNTS, type GroupCounts, type Scope, type SubjectFailure, type SupplementValues } from './languages/index.js'
import type { ComponentName, Criterion, GroupPlan, Population, Stratifier } from './measure-plan.js'
import { membershipsOf } from './membership.js'
import type { Period } from './period.js'
import type { Stratum, Tally } from './totals/sums.js'
import type { Subject } from './subject.js'

/** The counts of an evaluation. `toMeasureReport` converts it to a resource. */
export interface EvaluateMeasureResult extends Explained {
  /** A new id, for the report. */
  readonly id: string
  /** When it was counted, as a FHIR instant. */
  readonly date: string
  /** `individual` for one patient, `summary` for several, `subject-list` with the members of each population. */
  readonly type: 'individual' | 'summary' | 'subject-list'
  /** `url|version` of the Measure, or `Measure/<id>` when it has no url. */
  readonly measure: string
  /** The subject of the report; absent for all. */
  readonly subject?: Subject
  /** As in the input, unchanged. */
  readonly period: Period
  /** The notation of the Measure, if it is a CodeableConcept. */
  readonly improvementNotation?: CodeableConcept
  /** In the order of the Measure; empty when subjects could not be evaluated. */
  readonly groups: readonly EvaluatedGroup[]
  /** Supplemental data and risk adjustment factors of the subjects of the initial populations, in the order of the Measure. */
  readonly supplements?: readonly EvaluatedSupplement[]
  /** References (`Encounter/e1`) to the resources that the evaluation of one subject read, if the language records them. */
  readonly evaluatedResources?: readonly string[]
  /**
   * The first subjects that could not be evaluated, with the reasons. If there are any, nothing was counted, unless the input has `continue`. Absent when
   * there are none.
   */
  readonly failures?: readonly SubjectFailure[]
  /** With the input `continue`: the number of subjects that could not be evaluated, who count nowhere. Absent when there are none. */
  readonly failed?: number
  /** The results of each clause of the Measure's CQL over all subjects, if the input requested it. */
  readonly coverage?: Coverage
}

/** Supplemental data or a risk adjustment factor. */
export interface EvaluatedSupplement extends SupplementValues {
  readonly id?: string
  /** `url|version` of the component that defines it; absent when that is the evaluated Measure. */
  readonly measure?: string
  readonly code?: CodeableConcept
}

/** The evidence that a subject is in a population. */
export interface EvaluatedEvidence {
  readonly name: string
  readonly description?: string
  readonly code?: CodeableConcept
  /** Extensions `value`, one for each item, in the form of `cqf-supportingEvidence`. */
  readonly values: readonly Extension[]
}

/** The populations of a group or stratum. */
export interface EvaluatedPopulations {
  /** In the order of the Measure. */
  readonly populations: readonly EvaluatedPopulation[]
  /** The measure score; absent without a scoring that has one, and when the denominator is 0. */
  readonly score?: number
  /** The UCUM unit of the score, if it is computed from observations with a unit. */
  readonly scoreUnit?: string
}

/** One group of a Measure. */
export interface EvaluatedGroup extends EvaluatedPopulations {
  readonly id?: string
  readonly code?: CodeableConcept
  /** The notation of the group itself, if it is a CodeableConcept. */
  readonly improvementNotation?: CodeableConcept
  /** The Measure and group that are counted here, if this is a component of a composite measure. */
  readonly component?: ComponentName
  /** In the order of the Measure. */
  readonly stratifiers: readonly EvaluatedStratifier[]
}

/** One population and its count. */
export interface EvaluatedPopulation {
  readonly id?: string
  readonly code?: CodeableConcept
  readonly count: number
  /**
   * References (`Patient/p1`) to its members, in a `subject-list`. For a member that is not a resource, the reference of its subject, `#` and its value
   * (`Patient/p1#@2026-03-01`).
   */
  readonly members?: readonly string[]
  /** The supporting evidence that the Measure requests, in a report of one subject. */
  readonly evidence?: readonly EvaluatedEvidence[]
}

/** How the populations of a group were divided. */
export interface EvaluatedStratifier {
  readonly id?: string
  readonly code?: CodeableConcept
  readonly strata: readonly EvaluatedStratum[]
}

/** The members of populations with one value, or one combination of values. */
export interface EvaluatedStratum extends EvaluatedPopulations {
  /** The value; absent when the stratifier has components, and when it is a criterion that the members satisfy. */
  readonly value?: CodeableConcept
  /** The amount that `value` describes. */
  readonly quantity?: Quantity
  /** The values of the components, in the order of these. */
  readonly components?: readonly StratumComponent[]
}

/** The value of one component of a stratifier. */
export interface StratumComponent {
  readonly code: CodeableConcept
  readonly value: CodeableConcept
}

/** An evaluation and its counts. */
export interface Evaluation {
  readonly measure: JsonObject
  /** For a composite measure: the components of its composites, then its other groups. */
  readonly plans: readonly GroupPlan[]
  readonly scope: Pick<Scope, 'period' | 'subject'>
  readonly type: EvaluateMeasureResult['type']
  readonly counts: Counts
  /** The groups that a composite measure computes from its components. */
  readonly composed: readonly ComposedGroup[]
}

/** A group that is computed from components. */
export interface ComposedGroup {
  readonly group: EvaluatedGroup
  /** FHIRPath of the element that states the method. */
  readonly path: string
}

/** The result of an evaluation, whatever the language of its criteria. */
export function resultOf(ctx: OperationContext, { measure, plans, scope, type, counts, composed }: Evaluation): EvaluateMeasureResult {
  const { period, subject } = scope
  const improvementNotation = conceptOf(objectAt(measure, 'improvementNotation'))
  const { failures, failed, evaluatedResources, coverage } = counts
  const isWhole = failures.length === 0 || failed !== undefined
  const listed = type === 'subject-list'
  const groups = isWhole ? plans.map((plan) => groupOf(plan, counts.groups.get(plan) ?? NO_COUNTS, listed)) : []
  const supplements = isWhole ? counts.supplements.map((one) => supplementOf(one, measure)) : []
  if (ctx.explain !== undefined && isWhole) explainGroups(ctx.explain, { plans, groups, measure, composed })
  return {
    id: ctx.newId(),
    date: ctx.now().toISOString(),
    type,
    measure: canonicalOfMeasure(measure),
    ...(subject !== undefined && { subject }),
    period: { start: period.start, end: period.end },
    ...(improvementNotation !== undefined && { improvementNotation }),
    groups: isWhole ? [...composed.map(({ group }) => group), ...groups] : groups,
    ...(supplements.length > 0 && { supplements }),
    ...(evaluatedResources.length > 0 && { evaluatedResources }),
    ...(failures.length > 0 && { failures }),
    ...(failed !== undefined && { failed }),
    ...(coverage !== undefined && { coverage }),
  }
}

function supplementOf({ supplement, measure, values, resources }: CountedSupplement, evaluated: JsonObject): EvaluatedSupplement {
  return { ...headOf(supplement), ...(measure !== evaluated && { measure: canonicalOfMeasure(measure) }), values, resources }
}

function evidenceIn({ evidence = [] }: Population, tally: Tally | undefined): { readonly evidence?: readonly EvaluatedEvidence[] } {
  if (tally?.evidence === undefined) return {}
  return {
    evidence: evidence.map(({ name, description, code }, index) => {
      const concept = conceptOf(code)
      return {
        name,
        ...(description !== undefined && { description }),
        ...(concept !== undefined && { code: concept }),
        values: tally.evidence?.[index] ?? [],
      }
    }),
  }
}

function groupOf(group: GroupPlan, counts: GroupCounts, listed: boolean): EvaluatedGroup {
  const { strata } = counts
  const { component } = group
  const improvementNotation = conceptOf(group.improvementNotation)
  const stratifierOf = (stratifier: Stratifier, index: number): EvaluatedStratifier => ({
    ...headOf(stratifier),
    strata: (strata[index] ?? []).map((stratum) => ({
      ...valuesOf(stratifier, stratum),
      ...stratumPopulationsOf(dividedBy(group, stratifier), stratum, listed),
    })),
  })
  return {
    ...headOf(group),
    ...(improvementNotation !== undefined && { improvementNotation }),
    ...(component !== undefined && { component }),
    ...populationsOf(group, counts, listed),
    stratifiers: strata.length === 0 ? [] : group.stratifiers.map(stratifierOf),
  }
}

interface Tallied {
  readonly populations: readonly Tally[]
  readonly score?: number | undefined
  readonly scoreUnit?: string | undefined
}

function populationsOf(
  group: GroupPlan,
  { populations: tallies, score: given, scoreUnit }: Tallied,
  listed: boolean,
): EvaluatedPopulations {
  const counts = group.populations.map((_, index) => tallies[index]?.count ?? 0)
  const score = given ?? scoreOf(group, counts)
  const populations = group.populations.map((one, index) => {
    const members = tallies[index]?.members
    return {
      ...headOf(one),
      count: counts[index] ?? 0,
      ...(listed && members !== undefined && { members }),
      ...evidenceIn(one, tallies[index]),
    }
  })
  return { populations, ...(score !== undefined && { score }), ...(scoreUnit !== undefined && { scoreUnit }) }
}

/**
 * The populations of a stratum. Ids of elements are unique in a resource, so those of the group's populations are repeated only if their codes do not
 * distinguish them.
 */
function stratumPopulationsOf({ group, isDivided }: DividedGroup, stratum: Tallied, listed: boolean): EvaluatedPopulations {
  const { populations: all, ...scored } = populationsOf(group, stratum, listed)
  const others = group.populations.every((population, index) => isDivided(index) || !isScored(population)) ? scored : {}
  const kindOf = (index: number): string | undefined => group.populations[index]?.kinds[0]
  const isOnly = (index: number): boolean =>
    kindOf(index) !== undefined && group.populations.filter(({ kinds }) => kinds[0] === kindOf(index)).length === 1
  const populations = all.map(({ id, ...one }, index) => (id === undefined || isOnly(index) ? one : { id, ...one }))
  return { ...others, populations: populations.filter((_, index) => isDivided(index)) }
}

interface DividedGroup {
  readonly group: GroupPlan
  /** Whether the strata have the population with this index. */
  readonly isDivided: (index: number) => boolean
}

/** The populations that a stratifier divides: those that it says, and those within them. */
function dividedBy(group: GroupPlan, { appliesTo }: Stratifier): DividedGroup {
  if (appliesTo === undefined) return { group, isDivided: () => true }
  const memberships = membershipsOf(group, 'allowed')
  const isWithin = (index: number): boolean => memberships[index]?.all.some((around) => appliesTo.includes(around)) ?? false
  return { group, isDivided: (index) => appliesTo.includes(index) || isWithin(memberships[index]?.observed ?? index) }
}

/** Whether a score is computed from the population, which excludes all initial populations. */
function isScored({ kinds }: Population): boolean {
  return !kinds.includes('initial-population')
}

interface Head {
  readonly id?: string
  readonly code?: JsonObject
}

/** The id of a group, population or supplement, and its code if it is a CodeableConcept. */
export function headOf(head: Head): { id?: string; code?: CodeableConcept } {
  const code = conceptOf(head.code)
  return { ...(head.id !== undefined && { id: head.id }), ...(code !== undefined && { code }) }
}

/** A scoring, and the kinds of the populations that it uses. */
interface Scored {
  readonly scoring?: string
  readonly populations: readonly Pick<Population, 'kinds'>[]
}

/**
 * Numerator divided by denominator, each without its exclusions; `undefined` without such a scoring, when the denominator is 0, and for a ratio of
 * observations, which counts do not contain.
 */
export function scoreOf({ scoring, populations }: Scored, counts: readonly number[]): number | undefined {
  if (scoring !== 'proportion' && scoring !== 'ratio') return undefined
  if (populations.some(({ kinds }) => kinds.includes('measure-observation'))) return undefined
  const count = (kind: string): number => counts[populations.findIndex((population) => population.kinds.includes(kind))] ?? 0
  const above = count('numerator') - count('numerator-exclusion')
  const below = count('denominator') - count('denominator-exclusion') - count('denominator-exception')
  return below > 0 ? above / below : undefined
}

function valuesOf(
  { criteria, byComponents }: Stratifier,
  { values = [] }: Stratum,
): Pick<EvaluatedStratum, 'components' | 'quantity' | 'value'> {
  if (byComponents) {
    const components = values.map(({ concept }, index) => ({
      code: conceptOf(criteria[index]?.code) ?? {},
      value: conceptOf(concept) ?? {},
    }))
    return { components }
  }
  const [only] = values
  const value = conceptOf(only?.concept)
  return { ...(isQuantity(only?.quantity) && { quantity: only.quantity }), ...(value !== undefined && { value }) }
}

interface Counted {
  readonly plans: readonly GroupPlan[]
  readonly groups: readonly EvaluatedGroup[]
  readonly measure: JsonObject
  readonly composed: readonly ComposedGroup[]
}

/** Records the count of each population and its criterion, the number of strata of each stratifier, and the scores. */
function explainGroups(explain: NonNullable<OperationContext['explain']>, { plans, groups, measure, composed }: Counted): void {
  const composite = canonicalOfMeasure(measure)
  for (const one of composed) explainComposed(explain, one, composite)
  plans.forEach((group, at) => {
    const definition = group.component?.measure ?? composite
    const { populations = [], stratifiers = [], score } = groups[at] ?? {}
    const within = group.scoring === undefined ? '' : `, within the populations that the scoring ${quoted(group.scoring)} demands`
    group.populations.forEach((population, index) => {
      const count = populations[index]?.count ?? 0
      const text = `${population.place} has ${count}: what satisfies ${criterionText(population)}${within}.`
      explain.step({ kind: 'population', outcome: 'holds', definition, path: population.path, count, text })
    })
    stratifiers.forEach(({ strata }, index) => {
      const criteria = group.stratifiers[index]?.criteria ?? []
      const path = `${group.path}.stratifier[${index}]`
      const text = `${group.place}, stratifier ${index + 1} has ${strata.length} strata by ${criteria.map(criterionText).join(' and ')}.`
      explain.step({ kind: 'stratifier', outcome: 'holds', definition, path, count: strata.length, text })
    })
    if (score !== undefined)
      explain.step({ kind: 'score', outcome: 'holds', definition, path: group.path, text: `${group.place} has the score ${score}.` })
  })
}

function explainComposed(
  explain: NonNullable<OperationContext['explain']>,
  { group: { populations, score }, path }: ComposedGroup,
  definition: string,
): void {
  for (const { code, count } of populations) {
    const text = `The composite has ${count} in the population ${quoted(code?.coding?.[0]?.code ?? '')}, which its components make.`
    explain.step({ kind: 'population', outcome: 'holds', definition, path, count, text })
  }
  const text = score === undefined ? 'The composite has no score: there is nothing to divide by.' : `The composite has the score ${score}.`
  explain.step({ kind: 'score', outcome: 'holds', definition, path, text })
}

function criterionText({ expression, language }: Criterion): string {
  return `${quoted(expression)} (${language})`
}
