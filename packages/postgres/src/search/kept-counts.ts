import { LRUCache } from 'lru-cache'
import type { Condition, SearchQuery, Storage } from 'fhir-ops/storage'
import { isContainedType, type ChangedAddress } from 'fhir-ops/internal/storage'

/** A count that is faster than this is not worth a query for changes. */
const LONG_MS = 10
const MOST_KEPT = 1_000
/** Maximum characters of a query whose count is cached. */
const LONGEST_KEY = 2_000

/** A count, and a mark from before it was made. If both are absent, the next count is cached. */
interface Kept {
  readonly count?: number
  readonly mark?: string
}

/**
 * Caches slow counts, from the second time on. A cached count is used as long as nothing that it counts has changed since, which is checked
 * each time and takes a fraction of a millisecond.
 *
 * @param longMs Duration from which a count is slow, in milliseconds.
 */
export function keptCounts(changes: NonNullable<Storage['changes']>, count: Storage['count'], longMs: number = LONG_MS): Storage['count'] {
  const kept = new LRUCache<string, Kept>({ max: MOST_KEPT })
  return async (query) => {
    const key = JSON.stringify([query.type, query.where])
    const known = kept.get(key)
    if (known === undefined) {
      const start = performance.now()
      const found = await count(query)
      if (performance.now() - start >= longMs && key.length <= LONGEST_KEY) kept.set(key, {})
      return found
    }
    const { mark, changed } = await changes(known.mark)
    const isCurrent = changed !== 'unknown' && !changed.some((address) => concerns(query, address))
    const found = isCurrent && known.count !== undefined ? known.count : await count(query)
    kept.set(key, { count: found, mark })
    return found
  }
}

/** True if a change may affect the count. Contained resources change with their container, whatever its type. */
function concerns({ type, where }: Pick<SearchQuery, 'type' | 'where'>, changed: ChangedAddress): boolean {
  return changed.type === type || isContainedType(type) || looksAtOthers(where)
}

function looksAtOthers(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.some(looksAtOthers)
    case 'not':
      return looksAtOthers(condition.condition)
    case 'refersTo':
    case 'referredBy':
      return true
    default:
      return false
  }
}
