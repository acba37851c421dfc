import type { Storage } from '../storage/index.js'
import { hierarchyOf } from './kinds/hierarchy.js'
import type { SearchOptions } from './search-options.js'

/** Whose searches are read: a context of operations is one. */
export interface SearchCaller {
  readonly search?: SearchOptions | undefined
  /** As the caller sees it. */
  readonly storage: Pick<Storage, 'search'>
  /** Everything is allowed when absent. @throws {OperationError} `forbidden` */
  readonly authorize?: ((interaction: 'read' | 'search', type: string) => void) | undefined
}

/**
 * How the searches of a caller are read; `undefined` without search. What a search finds says which codes a value set has and what is above a
 * resource: the former always needs the rights of an expansion, the latter those of a search.
 */
export function callersSearch(caller: SearchCaller & { readonly search: SearchOptions }): SearchOptions
export function callersSearch(caller: SearchCaller): SearchOptions | undefined
export function callersSearch({ search, storage, authorize }: SearchCaller): SearchOptions | undefined {
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
      return hierarchyOf(storage, question)
    },
  }
}

/** One of the two rights is enough. @throws {OperationError} as for the first of the two. */
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
