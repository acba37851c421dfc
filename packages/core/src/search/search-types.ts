import type { Condition, SearchQuery } from '../storage/index.js'

/** Every resource type that a query looks at: its own, and those it reaches by references. Whoever asks must be allowed to search each. */
export function searchTypesOf(query: Pick<SearchQuery, 'type' | 'where'>): ReadonlySet<string> {
  return new Set([query.type, ...typesIn(query.where)])
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
