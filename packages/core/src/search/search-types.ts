import { isContainedType, type Condition, type SearchQuery } from '../storage/index.js'

/**
 * Every resource type that a query looks at: its own, and those it reaches by references. Whoever asks must be allowed to search each; what a resource
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
