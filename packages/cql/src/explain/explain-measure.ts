import type { Scope } from 'fhir-ops/evaluate'
import {
  type GroupPlan,
  canonicalOfMeasure,
  decidedBy,
  populationTitle,
  type Population,
  type SubjectResult,
} from 'fhir-ops/internal/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import { explainCriteria, type CriterionResult, type ExplainedCriterion } from 'fhir-ops/internal/explain'
import type { Evaluation } from '../compile/compiler.js'
import type { SubjectRecords } from '../data/population.js'
import type { ElmNode } from '../elm/node.js'
import { FHIRPATH_LANGUAGE } from '../measure/languages.js'
import { EXPRESSION_LIBRARY, expressionName, loadedLibraries, namedDefinition } from '../measure/loaded-measure.js'
import type { Prepared } from '../measure/prepare.js'
import { compileGroup, failureOf, failuresOf, subjectResult, type CompiledGroup } from '../measure/subject-result.js'
import type { ElmDefinitions } from './elm-libraries.js'
import { explainedCriterion, pathReason } from './explain-criteria.js'
import { createObserver } from './observer.js'
import type { ReasonScope } from './reason-scope.js'

/** The evaluation to explain. */
interface Explained {
  readonly scope: Scope
  readonly prepared: Prepared
  readonly own: SubjectRecords
  /** Its results, group by group; absent if it failed. */
  readonly results: readonly SubjectResult[] | undefined
  readonly maxSteps: number
}

/**
 * Explains the result of one subject, population by population. Everything is compiled again with a trace, and evaluated over the records
 * that were already read; the reported results are those of the evaluation without a trace.
 */
export async function explainMeasure(ctx: OperationContext, { scope, prepared, own, results, maxSteps }: Explained): Promise<void> {
  const { explain } = ctx
  const { groups } = scope
  if (explain === undefined) return
  const observer = createObserver(loadedLibraries(prepared), prepared)
  const traced = prepared.traced(observer.trace)
  const compiled = groups.map((group) => compileGroup(group, traced))
  await traced.begin()
  const { offset, given } = traced
  const reasons = observer.reasons({ subject: own.subject, now: ctx.now(), offset, given, maxSteps }, own.records)
  const failures = await own.records.evaluate(() => compiled.map((group) => failuresIn(group, reasons.evaluation)))
  observer.counter.endSubject()
  const criteria = await observer.explain(reasons, own.records, () =>
    groups.flatMap((group, index) => {
      const observed = {
        group,
        compiled: compiled[index],
        result: results?.[index],
        failures: failures[index] ?? [],
        prepared: traced,
        scope,
        reasons,
      }
      return group.populations.map((population, at) => explainedPopulation(observed, population, at))
    }),
  )
  explainCriteria(explain, { criteria, source: observer.counter.coverage(reasons.definitions) })
}

/**
 * Evaluates a group as without a trace, and also criteria that do not affect the result, to report their values. If the evaluation of the group fails,
 * returns the failure of each population.
 */
function failuresIn(group: CompiledGroup, evaluation: Evaluation): readonly (string | undefined)[] {
  const failed = failureOf(() => subjectResult(group, evaluation, { individual: true }))
  const failures = failuresOf(group, evaluation)
  return failed === undefined ? [] : failures
}

/** A group, with its evaluation for one subject. */
interface ObservedGroup {
  readonly group: GroupPlan
  readonly compiled: CompiledGroup | undefined
  readonly result: SubjectResult | undefined
  readonly failures: readonly (string | undefined)[]
  readonly prepared: Prepared
  readonly scope: Scope
  readonly reasons: ReasonScope
}

function explainedPopulation(observed: ObservedGroup, population: Population, index: number): ExplainedCriterion {
  const { scope, reasons, prepared } = observed
  const root = rootOf(population, prepared, reasons.definitions)
  const { result, decided, count } = resultOf(observed, index, root)
  const head = {
    name: nameOf(population, index),
    definition: canonicalOfMeasure(scope.measure),
    path: population.path,
    expression: population.expression,
    result,
    ...(count !== undefined && { count }),
    ...(decided !== undefined && { decided }),
  }
  if (population.language !== FHIRPATH_LANGUAGE) return explainedCriterion(head, root, reasons)
  return pathReason(head, { population, prepared, reasons })
}

/** The expression of a criterion: that of the definition that it names, or the criterion itself. */
function rootOf(population: Population, { loaded }: Prepared, { libraries }: ElmDefinitions): ElmNode | undefined {
  if (population.language === FHIRPATH_LANGUAGE) return undefined
  const inline = loaded.texts.indexOf(population.expression)
  const named = inline < 0 ? namedDefinition(loaded, population) : undefined
  const wanted = inline < 0 ? loaded.libraries[named?.at ?? -1]?.id : EXPRESSION_LIBRARY
  const name = inline < 0 ? named?.name : expressionName(inline)
  return libraries.find(({ id }) => id === wanted)?.definitions.find((definition) => definition.name === name)?.expression
}

interface PopulationResult {
  readonly result: CriterionResult
  readonly count?: number
  readonly decided?: string
}

/** The result of a population for the subject, given the populations that contain it and those that it excludes. */
function resultOf(observed: ObservedGroup, index: number, root: ElmNode | undefined): PopulationResult {
  const { group, compiled, result } = observed
  const failure = observed.failures[index]
  if (failure !== undefined) return { result: 'failed', decided: failure.replace(/\.$/, '') }
  if (result === undefined) return { result: 'failed', decided: 'the evaluation of the subject failed' }
  const membership = compiled?.memberships[index]
  if (membership?.observed !== undefined) return observedResult(lengthAt(result.observations, index), group, membership.observed)
  const count = lengthAt(result.members, index)
  const has = (other: number): boolean => lengthAt(result.members, other) > 0
  const decided = count > 0 || membership === undefined ? undefined : decidedBy({ group, membership, index, has })
  const own: PopulationResult = decided ?? { result: count > 0 ? 'true' : isUnknown(observed, root) ? 'unknown' : 'false' }
  return (group.populations[index]?.basis ?? 'boolean') === 'boolean' ? own : { ...own, count }
}

function isUnknown({ reasons }: ObservedGroup, root: ElmNode | undefined): boolean {
  return root !== undefined && reasons.tracer.firstOf(root)?.value === null
}

function lengthAt(lists: readonly (readonly unknown[])[], index: number): number {
  return lists[index]?.length ?? 0
}

function observedResult(count: number, { populations }: GroupPlan, observed: number): PopulationResult {
  if (count > 0) return { result: 'true', count }
  const decided = `there is nothing in the ${populationTitle(populations[observed], observed)} that has a value to observe`
  return { result: 'not-applicable', count, decided }
}

function nameOf({ kinds }: Population, index: number): string {
  return kinds[0] ?? `population-${index + 1}`
}
