import type { CodeSystemProvider, Filter, ConceptSet } from '../../code-system/index.js'
import { includes } from '../filter/concept-set.js'
import { conceptsFor } from '../filter/operators.js'
import type { Work } from '../../work/index.js'
import { type ConceptSetPlan, type ValueSetPlan, withImports, missingImports } from './plan.js'
import type { ListedCode } from './value-set.js'
import { OperationError } from '../../errors/index.js'
import { chooseVersion } from '../code-system/system-family.js'
import { type VersionRules, NO_RULES } from '../versions.js'
import { statusNotes } from '../status-check.js'

/** True when the list of codes, if there is one, and all filters accept the concept. Imports are not looked at. */
export function* selects(provider: CodeSystemProvider, part: ConceptSetPlan, concept: number): Work<boolean> {
  if (part.definition.concepts !== undefined && listedConcept(provider, part, concept) === undefined) return false
  const { grammar } = provider
  if (part.definition.concepts === undefined && grammar?.isMade(concept) === true && !grammar.admits(part.filters)) return false
  return yield* meetsFilters(provider, part, concept)
}

/** True when all filters accept the concept. */
export function* meetsFilters(provider: CodeSystemProvider, part: ConceptSetPlan, concept: number): Work<boolean> {
  for (const filter of part.filters) {
    if (!(yield* includes(yield* conceptsFor(provider, filter, part.owner), concept))) return false
  }
  return true
}

/** The concept's entry in the list of codes of an include. */
export function listedConcept(provider: CodeSystemProvider, { definition }: ConceptSetPlan, concept: number): ListedCode | undefined {
  const exact = definition.listed(provider.code(concept))
  if (exact !== undefined || provider.header.caseSensitive) return exact
  return definition.concepts?.find(({ code }) => provider.find(code) === concept)
}

/** An exclude takes equal codes of every version, unless the value set, or a list of codes with a version, says otherwise. */
export function keepsVersions(plan: ValueSetPlan, { definition }: ConceptSetPlan): boolean {
  return plan.versionsMatch === false || (definition.concepts !== undefined && definition.version !== undefined)
}

/**
 * Works out what questions about single codes of a value set would otherwise wait for, such as the codes of an ECL expression. For those
 * who ask `membershipIn` in one go.
 */
export function* preparedFilters(plan: ValueSetPlan, rules: VersionRules): Work<void> {
  for (const part of withImports(plan).flatMap(({ includes, excludes }) => [...includes, ...excludes])) {
    yield
    const { family, definition, filters, owner } = part
    const provider = family === undefined ? undefined : chooseVersion(family, { include: definition.version, rules }).provider
    if (provider !== undefined) for (const filter of filters) yield* prepared(provider, filter, owner)
  }
}

/** A filter that cannot be used is passed over: the question that needs it is refused. */
function* prepared(provider: CodeSystemProvider, filter: Filter, owner: string): Work<void> {
  try {
    const set = yield* conceptsFor(provider, filter, owner)
    if (set.asked !== undefined) yield* set.all()
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
  }
}

/** The one include that decides about the codes of a code system, with its version chosen and its filters looked up. */
export interface DecidingInclude {
  readonly provider: CodeSystemProvider
  /** The code's entry in the list of codes of the include. */
  readonly listed: (concept: number) => ListedCode | undefined
  /**
   * True when list and filters accept the concept; false also where deciding takes long.
   *
   * @throws {OperationError} `not-supported` for a filter that is not understood.
   */
  readonly takes: (concept: number) => boolean
}

/**
 * The include that alone decides about the codes of a system, for requests without rules about versions; `undefined` where excludes,
 * imports or several includes have a say, an import is not known, or there is something to note, such as a draft in use.
 */
export function decidingInclude(plan: ValueSetPlan, system: string): DecidingInclude | undefined {
  const [part, ...others] = plan.includes.filter(({ family }) => family === undefined || family.url === system)
  if (part?.family === undefined || others.length > 0 || part.imports.length > 0 || plan.excludes.length > 0) return undefined
  if (missingImports(plan).length > 0) return undefined
  const { provider } = chooseVersion(part.family, { include: part.definition.version, rules: NO_RULES })
  return provider === undefined || statusNotes(plan, [provider]).length > 0 ? undefined : includeOf(part, provider)
}

function includeOf(part: ConceptSetPlan, provider: CodeSystemProvider): DecidingInclude {
  const sets = new Map<Filter, ConceptSet>()
  const holds = (filter: Filter, concept: number): boolean => {
    const set = sets.get(filter) ?? atOnce(conceptsFor(provider, filter, part.owner))
    if (set === undefined) return false
    sets.set(filter, set)
    return set.asked === undefined ? set.has(concept) : atOnce(set.asked(concept)) === true
  }
  const isListing = part.definition.concepts !== undefined
  const listed = (concept: number): ListedCode | undefined => (isListing ? listedConcept(provider, part, concept) : undefined)
  return {
    provider,
    listed,
    takes: (concept) =>
      provider.grammar?.isMade(concept) !== true &&
      (!isListing || listed(concept) !== undefined) &&
      part.filters.every((filter) => holds(filter, concept)),
  }
}

/** The result of work that ends with its first step. */
function atOnce<T>(work: Work<T>): T | undefined {
  const step = work.next()
  return step.done === true ? step.value : undefined
}
