import type { CodeSystemProvider, Filter } from '../../code-system/index.js'
import type { Pace } from '../../context/index.js'
import { isAboutContent, OperationError } from '../../errors/index.js'
import { finished, type Work } from '../../work/index.js'
import { chooseVersion } from '../code-system/system-family.js'
import { conceptsFor } from '../filter/operators.js'
import type { TerminologyScope } from '../scope.js'
import type { VersionRules } from '../versions.js'
import { everyPart, withImports, type CodeInQuestion, type PartPlan, type ValueSetPlan } from './plan.js'
import { nameOf, type ListedCode, type ValueSetDefinition } from './value-set.js'

/** Tests a concept with a filter of an include or exclude. @throws {OperationError} `not-supported` for an unknown filter. */
export type FilterTest = (provider: CodeSystemProvider, filter: Filter, part: PartPlan, concept: number) => boolean

/** A concept, and the test for filters. */
export interface Candidate {
  readonly concept: number
  readonly holds: FilterTest
}

/** True if all filters accept the concept. */
export function meetsFilters(provider: CodeSystemProvider, part: PartPlan, { concept, holds }: Candidate): boolean {
  return part.filters.every((filter) => holds(provider, filter, part, concept))
}

/** Tests a filter synchronously, which is fast for filters that `preparedFilters` has prepared. */
export const holdsAtOnce: FilterTest = (provider, filter, { valueSet }, concept) => {
  const set = finished(conceptsFor(provider, filter, nameOf(valueSet)))
  return set.asked === undefined ? set.has(concept) : finished(set.asked(concept))
}

/**
 * Evaluates the filters of a value set and its imports for one code, in steps. Only filters of the code's system are evaluated. A filter that cannot be
 * used fails when its answer is needed.
 */
export async function filterAnswers(
  { ctx, pace, rules }: TerminologyScope,
  plan: ValueSetPlan,
  { system, version, code }: CodeInQuestion,
): Promise<FilterTest> {
  const answers = new Map<Filter, () => boolean>()
  for (const { family, definition, filters, valueSet } of withImports(plan).flatMap(({ filtered }) => filtered.get(system) ?? [])) {
    await pace.step()
    const provider = family && chooseVersion(family, { include: definition.version, value: version, rules }).provider
    const concept = provider?.find(code)
    if (provider === undefined || concept === undefined) continue
    for (const filter of filters) {
      const answer = await pace.run(answerOf(provider, filter, { valueSet, concept }))
      answers.set(filter, answer.test)
      if (answer.isEnough && ctx.explain === undefined) break
    }
  }
  return (provider, filter, part, concept) => answers.get(filter)?.() ?? holdsAtOnce(provider, filter, part, concept)
}

interface FilterAnswer {
  readonly test: () => boolean
  /** True if the following filters are not needed, because all must hold. An explanation lists all of them nevertheless. */
  readonly isEnough: boolean
}

function* answerOf(
  provider: CodeSystemProvider,
  filter: Filter,
  { valueSet, concept }: { readonly valueSet: ValueSetDefinition; readonly concept: number },
): Work<FilterAnswer> {
  try {
    const set = yield* conceptsFor(provider, filter, nameOf(valueSet))
    const holds = set.asked === undefined ? set.has(concept) : yield* set.asked(concept)
    return { test: () => holds, isEnough: !holds }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    const refuse = (): boolean => {
      throw error
    }
    return { test: refuse, isEnough: true }
  }
}

/** Returns the concept's entry in the list of codes of an include. */
export function listedConcept(provider: CodeSystemProvider, { definition }: PartPlan, concept: number): ListedCode | undefined {
  const exact = definition.listed(provider.code(concept))
  if (exact !== undefined || provider.header.caseSensitive) return exact
  return definition.listedIn(provider).get(concept)
}

/**
 * Prepares the filters of a value set, such as the codes of an ECL expression, so that questions about single codes do not have to wait. For callers of
 * `membershipIn` with `holdsAtOnce`.
 *
 * @returns The error of the first filter that cannot be used, if any.
 */
export async function preparedFilters(pace: Pace, plan: ValueSetPlan, rules: VersionRules): Promise<OperationError | undefined> {
  let problem: OperationError | undefined
  for (const part of withImports(plan).flatMap(everyPart)) {
    await pace.step()
    const { family, definition, filters, valueSet } = part
    const provider = family === undefined ? undefined : chooseVersion(family, { include: definition.version, rules }).provider
    if (provider === undefined) continue
    for (const filter of filters) {
      const found = await pace.run(prepared(provider, filter, valueSet))
      problem ??= found
    }
  }
  return problem
}

/** Prepares a filter. One that cannot be used is skipped: a question that needs it will be refused. */
function* prepared(provider: CodeSystemProvider, filter: Filter, valueSet: ValueSetDefinition): Work<OperationError | undefined> {
  try {
    const set = yield* conceptsFor(provider, filter, nameOf(valueSet))
    if (set.asked !== undefined) yield* set.all()
    return undefined
  } catch (error) {
    if (!isAboutContent(error)) throw error
    return error
  }
}
