import type { CodeSystemProvider, Filter } from '../../code-system/index.js'
import { conceptsFor } from '../filter/operators.js'
import type { Pace } from '../../context/index.js'
import { finished, type Work } from '../../work/index.js'
import type { TerminologyScope } from '../scope.js'
import { type CodeInQuestion, type PartPlan, type ValueSetPlan, withImports, everyPart } from './plan.js'
import { nameOf, type ListedCode, type ValueSetDefinition } from './value-set.js'
import { isAboutContent, OperationError } from '../../errors/index.js'
import { chooseVersion } from '../code-system/system-family.js'
import type { VersionRules } from '../versions.js'

/** Whether a filter of an include or exclude holds for a concept. @throws {OperationError} `not-supported` for one that is not understood. */
export type FilterTest = (provider: CodeSystemProvider, filter: Filter, part: PartPlan, concept: number) => boolean

/** A concept, and what decides about filters. */
export interface Candidate {
  readonly concept: number
  readonly holds: FilterTest
}

/** True when all filters accept the concept. */
export function meetsFilters(provider: CodeSystemProvider, part: PartPlan, { concept, holds }: Candidate): boolean {
  return part.filters.every((filter) => holds(provider, filter, part, concept))
}

/** Decides in one go, which is quick for filters that `preparedFilters` has worked out. */
export const holdsAtOnce: FilterTest = (provider, filter, { valueSet }, concept) => {
  const set = finished(conceptsFor(provider, filter, nameOf(valueSet)))
  return set.asked === undefined ? set.has(concept) : finished(set.asked(concept))
}

/**
 * What the filters of a value set, and of all that it imports, say about one code, worked out in steps. Only filters of the code's system are
 * asked. One that cannot be used fails when its answer is needed.
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
  /** True where the filters after it are not needed: all must hold. An explanation names each. */
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

/** The concept's entry in the list of codes of an include. */
export function listedConcept(provider: CodeSystemProvider, { definition }: PartPlan, concept: number): ListedCode | undefined {
  const exact = definition.listed(provider.code(concept))
  if (exact !== undefined || provider.header.caseSensitive) return exact
  return definition.listedIn(provider).get(concept)
}

/** An exclude takes equal codes of every version, unless the value set, or a list of codes with a version, says otherwise. */
export function keepsVersions(plan: ValueSetPlan, { definition }: PartPlan): boolean {
  return plan.versionsMatch === false || (definition.concepts !== undefined && definition.version !== undefined)
}

/** Whether an exclude names codes and no version: it takes them from every version that is included, also where the newest lacks them. */
export function namesCodesOfAnyVersion(plan: ValueSetPlan, part: PartPlan): boolean {
  return part.definition.concepts !== undefined && !keepsVersions(plan, part)
}

/**
 * Works out what questions about single codes of a value set would otherwise wait for, such as the codes of an ECL expression. For those
 * who ask `membershipIn` with `holdsAtOnce`.
 *
 * @returns Why the first filter of those that cannot be used cannot be.
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

/** A filter that cannot be used is skipped: the question that needs it is refused. */
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
