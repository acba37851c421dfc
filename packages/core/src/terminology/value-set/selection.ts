import type { CodeSystemProvider } from '../../code-system/index.js'
import { includes } from '../filter/concept-set.js'
import { conceptsFor } from '../filter/concepts-for.js'
import type { Work } from '../../work/index.js'
import type { ConceptSetPlan, ValueSetPlan } from './plan.js'
import type { ListedCode } from './value-set.js'

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
