import type { Storage } from '../storage/index.js'
import { hierarchyOf } from './kinds/hierarchy.js'
import type { SearchOptions } from './search-options.js'

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
