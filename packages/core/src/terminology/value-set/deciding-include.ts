import type { CodeSystemProvider, ConceptSet, Filter } from '../../code-system/index.js'
import type { Work } from '../../work/index.js'
import { chooseVersion } from '../code-system/system-family.js'
import { conceptsFor } from '../filter/operators.js'
import { NO_RULES } from '../versions.js'
import { listedConcept } from './filter-tests.js'
import { missingImports, type PartPlan, type ValueSetPlan } from './plan.js'
import { statusNotes } from './used-definitions.js'
import { nameOf, type ListedCode } from './value-set.js'

/** The only include that decides about the codes of a code system, with its version and filters resolved. */
export interface DecidingInclude {
  readonly provider: CodeSystemProvider
  /** Returns the entry of a concept in the include's list of codes. */
  readonly listed: (concept: number) => ListedCode | undefined
  /**
   * Returns whether list and filters accept the concept; also false where the decision takes long.
   *
   * @throws {OperationError} `not-supported` for an unknown filter.
   */
  readonly takes: (concept: number) => boolean
}

/**
 * Returns the only include that decides about the codes of a system, for requests without version rules; `undefined` where excludes,
 * imports or several includes matter, an import is unknown, or there is a status note, such as on a draft in use.
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

/** Returns the result of work that ends with its first step; `undefined` for longer work. */
function atOnce<T>(work: Work<T>): T | undefined {
  const step = work.next()
  return step.done === true ? step.value : undefined
}
