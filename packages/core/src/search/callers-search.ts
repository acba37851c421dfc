import { OperationError } from '../errors/index.js'
import { allMatches, type Condition, type Storage } from '../storage/index.js'
import { oneOf } from './filter/conditions.js'
import type { HierarchyQuestion, SearchOptions } from './search-options.js'

/** The caller of a search; an `OperationContext` is one, to which `step` can be added. */
interface SearchCaller {
  readonly search?: SearchOptions | undefined
  /** The storage as the caller sees it. */
  readonly storage: Pick<Storage, 'search'>
  /** When absent, everything is allowed. @throws {OperationError} `forbidden` when the interaction is not allowed. */
  readonly authorize?: ((interaction: 'read' | 'search', type: string) => void) | undefined
  /** Called before each query of a hierarchy, and awaited if it lets other work run; an error that it throws ends the work. */
  readonly step?: (() => Promise<void> | undefined) | undefined
}

/**
 * Returns the search options of a caller; `undefined` without search. The result of a search reveals which codes a value set has and what is above a
 * resource, so the former needs the rights of an expansion, and the latter those of a search.
 */
export function callersSearch(caller: SearchCaller & { readonly search: SearchOptions }): SearchOptions
export function callersSearch(caller: SearchCaller): SearchOptions | undefined
export function callersSearch({ search, storage, authorize, step }: SearchCaller): SearchOptions | undefined {
  if (search === undefined) return undefined
  const { codesOf } = search
  return {
    ...search,
    codesOf:
      codesOf &&
      (async (question) => {
        authorizeCodes(authorize)
        return codesOf(question)
      }),
    hierarchyOf: async (question) => {
      authorize?.('search', question.type)
      return hierarchyOf(storage, question, step)
    },
  }
}

/** Checks that the caller may read ValueSets or CodeSystems. @throws {OperationError} as for ValueSets. */
function authorizeCodes(authorize: SearchCaller['authorize']): void {
  try {
    authorize?.('read', 'ValueSet')
  } catch (error) {
    if (!isAllowed(authorize, 'CodeSystem')) throw error
  }
}

function isAllowed(authorize: SearchCaller['authorize'], type: string): boolean {
  try {
    authorize?.('read', type)
    return true
  } catch {
    return false
  }
}

/** Maximum number of resources of a hierarchy in one search. */
const MAX_MEMBERS = 10_000
const PAGE = 1_000

/**
 * Finds the ids of a resource and of all that it is part of, or that are part of it, over any number of steps.
 *
 * @param step Called before each query, and awaited if it lets other work run: storages that answer immediately leave no gap between thousands of queries.
 * @throws {OperationError} `too-costly` for more than 10,000; and what `step` throws.
 */
async function hierarchyOf(
  storage: Pick<Storage, 'search'>,
  question: HierarchyQuestion,
  step?: () => Promise<void> | undefined,
): Promise<readonly string[]> {
  const { type } = question
  const known = new Set([question.id])
  let edge: readonly string[] = [question.id]
  while (edge.length > 0) {
    const next: string[] = []
    await step?.()
    for await (const { id } of allMatches(storage, { type, where: neighbours(question, edge), limit: PAGE })) {
      if (known.has(id)) continue
      known.add(id)
      next.push(id)
      if (known.size > MAX_MEMBERS)
        throw new OperationError('too-costly', `More than ${MAX_MEMBERS} ${type} resources are in the hierarchy.`)
    }
    edge = next
  }
  return [...known]
}

/** Creates the condition for one step up or down from any of these resources. */
function neighbours({ type, param, modifier }: HierarchyQuestion, ids: readonly string[]): Condition {
  if (modifier === 'above') return { kind: 'referredBy', param, query: { type, where: { kind: 'id', ids } } }
  return oneOf(param, type, ids)
}
