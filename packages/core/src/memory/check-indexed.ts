import { OperationError, quoted } from '../errors/index.js'
import { isDefinitionEntry, type Condition, type ScanQuery, type SearchQuery } from '../storage/index.js'

/**
 * Checks that resources which were given without an indexer are not searched by parameters for which they have no entries: such a search would silently
 * find none of them.
 *
 * @param unindexed Types of these resources.
 * @throws {OperationError} `search-unsupported` naming the parameter.
 */
export function checkIndexed(query: SearchQuery | ScanQuery, unindexed: ReadonlySet<string>): void {
  if (unindexed.size === 0) return
  checkQueryOf(query, unindexed)
  for (const { type, where, params } of 'referring' in query ? (query.referring ?? []) : []) {
    for (const param of params) checkParam(param, type, unindexed)
    checkCondition(where, type, unindexed)
  }
}

function checkQueryOf({ type, where, sort = [] }: SearchQuery, unindexed: ReadonlySet<string>): void {
  for (const { field, param } of sort) if (field !== 'lastUpdated' && field !== 'id') checkParam(param, type, unindexed)
  checkCondition(where, type, unindexed)
}

function checkCondition(condition: Condition, type: string, unindexed: ReadonlySet<string>): void {
  switch (condition.kind) {
    case 'and':
    case 'or':
      for (const part of condition.conditions) checkCondition(part, type, unindexed)
      return
    case 'not':
      return checkCondition(condition.condition, type, unindexed)
    case 'entry':
      return checkParam(condition.param, type, unindexed)
    case 'refersTo':
      checkParam(condition.param, type, unindexed)
      return checkQueryOf(condition.query, unindexed)
    case 'referredBy':
      checkParam(condition.param, condition.query.type, unindexed)
      return checkQueryOf(condition.query, unindexed)
    case 'id':
    case 'lastUpdated':
      return
  }
}

function checkParam(param: string, type: string, unindexed: ReadonlySet<string>): void {
  if (!unindexed.has(type) || isDefinitionEntry({ param })) return
  const text = `The resources of type ${type} that memoryStorage was given are not indexed by ${quoted(param)}: give it an indexer too, for example that of r4().`
  throw new OperationError('search-unsupported', text)
}
