import { isContainedType, type Condition, type SearchQuery } from '../storage/index.js'
import type { Include } from './results/includes.js'

/** A search for contained resources. */
export interface ContainedSearch {
  /** `true`: only contained resources; `both`: contained and independent resources. */
  readonly among: 'true' | 'both'
  /** Whether to return the container or the contained resource of a match. */
  readonly shown: 'container' | 'contained'
}

/** A parsed search: what to find, and how to return it. */
export interface ParsedSearch {
  /** The query, with `sort`, `limit` (`_count`) and `after` (`_cursor`). */
  readonly query: SearchQuery
  /** True if only the number of matches is requested: `_summary=count`, `_count=0`. */
  readonly countOnly: boolean
  /** `_total`; absent when not requested. */
  readonly total?: 'none' | 'estimate' | 'accurate'
  /** `_summary`, for shortened resources. */
  readonly summary?: 'true' | 'text' | 'data'
  /** Top-level elements of `_elements`, by JSON name or, for a choice of types, without the type (`value`); absent when all are requested. */
  readonly elements?: readonly string[]
  /** `_contained` and `_containedType`; absent when only independent resources are searched. `query` finds only those; see `containedQueries`. */
  readonly contained?: ContainedSearch
  /** `_include` and `_revinclude`; absent when there are none. */
  readonly includes?: readonly Include[]
}

/** A parsed search for several types. */
export interface ParsedSeveral extends Omit<ParsedSearch, 'query'> {
  /** One query per type, all with the same `sort` and `limit`. */
  readonly queries: readonly SearchQuery[]
  /** `_cursor`, for `severalPage`. */
  readonly after?: string
}

/**
 * Returns the resource types that a query searches: its own type, and those it reaches by references. The caller needs the right to search each of
 * them. Contained resources count as part of their container.
 */
export function searchTypesOf({ type, where }: Pick<SearchQuery, 'type' | 'where'>): ReadonlySet<string> {
  return new Set([...(isContainedType(type) ? [] : [type]), ...chainedTypes(where)])
}

/** Returns the resource types that a condition reaches by references. */
export function chainedTypes(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(chainedTypes)
    case 'not':
      return chainedTypes(condition.condition)
    case 'refersTo':
    case 'referredBy':
      return [...searchTypesOf(condition.query)]
    default:
      return []
  }
}
