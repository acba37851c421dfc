import { LRUCache } from 'lru-cache'
import type { Condition, SearchQuery, Storage } from 'fhir-ops/storage'
import { isContainedType, type ChangedAddress } from 'fhir-ops/internal/storage'

/** A count that takes less is not worth the question what has changed. */
const LONG_MS = 10
const MOST_KEPT = 1_000
/** Most characters of a query whose count is kept. */
const LONGEST_KEY = 2_000

/** What was counted, no earlier than at the mark. Without both, the next count is kept. */
interface Kept {
  readonly count?: number
  readonly mark?: string
}

/**
 * Keeps counts that take long, from the second time on. A count that is kept is the answer as long as nothing of what it counts has changed since: that is asked
 * each time, and takes a small part of a millisecond.
 *
 * @param longMs What takes so long, in milliseconds.
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

/** Whether a change may make another count. What is within others changes with them, whatever they are. */
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
