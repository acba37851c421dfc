import { isContainedType, type Condition, type SearchQuery } from '../storage/index.js'
import type { Include } from './results/includes.js'

/** A search for contained resources. */
export interface ContainedSearch {
  /** `true`: for these only; `both`: besides independent resources. */
  readonly among: 'true' | 'both'
  /** What is given of a match. */
  readonly shown: 'container' | 'contained'
}

/** A search as it was asked: what to find, and how to show it. */
export interface ParsedSearch {
  /** With `sort`, `limit` (`_count`) and `after` (`_cursor`). */
  readonly query: SearchQuery
  /** True when only the number of matches is wanted: `_summary=count`, `_count=0`. */
  readonly countOnly: boolean
  /** `_total`; absent when it was not asked for. */
  readonly total?: 'none' | 'estimate' | 'accurate'
  /** `_summary`, where resources are wanted, but not whole. */
  readonly summary?: 'true' | 'text' | 'data'
  /** Top-level elements of `_elements`, by their names in JSON or, for a choice of types, without the type (`value`); absent when all are wanted. */
  readonly elements?: readonly string[]
  /** `_contained` and `_containedType`; absent when only independent resources are searched, which is all that `query` does. */
  readonly contained?: ContainedSearch
  /** `_include` and `_revinclude`; absent when there are none. */
  readonly includes?: readonly Include[]
}

/** A search over several types as it was asked. */
export interface ParsedSeveral extends Omit<ParsedSearch, 'query'> {
  /** One for each type, all with the same `sort` and `limit`. */
  readonly queries: readonly SearchQuery[]
  /** `_cursor`, for `severalPage`. */
  readonly after?: string
}

/**
 * Every resource type that a query looks at: its own, and those it reaches by references. The caller must be allowed to search each; what a resource
 * contains is a part of it.
 */
export function searchTypesOf({ type, where }: Pick<SearchQuery, 'type' | 'where'>): ReadonlySet<string> {
  return new Set([...(isContainedType(type) ? [] : [type]), ...typesIn(where)])
}

function typesIn(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(typesIn)
    case 'not':
      return typesIn(condition.condition)
    case 'refersTo':
    case 'referredBy':
      return [...searchTypesOf(condition.query)]
    default:
      return []
  }
}
