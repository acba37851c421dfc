import type { CodeSystemProvider, ConceptSet, Filter } from '../../code-system/index.js'
import type { Work } from '../../work/index.js'
import { chooseVersion } from '../code-system/system-family.js'
import { conceptsFor } from '../filter/operators.js'
import { statusNotes } from '../status-check.js'
import { NO_RULES } from '../versions.js'
import { missingImports, type PartPlan, type ValueSetPlan } from './plan.js'
import { listedConcept } from './selection.js'
import { nameOf, type ListedCode } from './value-set.js'

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

function includeOf(part: PartPlan, provider: CodeSystemProvider): DecidingInclude {
  const sets = new Map<Filter, ConceptSet>()
  const holds = (filter: Filter, concept: number): boolean => {
    const set = sets.get(filter) ?? atOnce(conceptsFor(provider, filter, nameOf(part.valueSet)))
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
