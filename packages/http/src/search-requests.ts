import { quoted } from 'fhir-ops/internal/errors'
import type { Comparison, Condition, EntryTest, SearchQuery, SortKey } from 'fhir-ops/storage'
import { unsupported } from './failure.js'
import type { Pair } from './upstream.js'

/**
 * The FHIR searches whose results together are those of the query; a resource may be found by several of them.
 *
 * @throws {OperationError} `search-unsupported` naming what FHIR search parameters cannot say.
 */
export function searchRequests(query: SearchQuery): readonly (readonly Pair[])[] {
  return query.parameters === undefined ? requestsFor(query.where) : [query.parameters]
}

/** `_sort` for the keys of the query. */
export function sortPairs(sort: readonly SortKey[] = []): readonly Pair[] {
  return sort.length === 0 ? [] : [['_sort', sort.map(({ descending, ...key }) => `${descending ? '-' : ''}${sortName(key)}`).join(',')]]
}

function sortName({ param, field }: Pick<SortKey, 'param' | 'field'>): string {
  if (field === 'id') return '_id'
  return field === 'lastUpdated' ? '_lastUpdated' : param
}

/** Conditions that were not made from search parameters come from the engines, which look definitions up by their canonicals. */
function requestsFor(where: Condition): readonly (readonly Pair[])[] {
  switch (where.kind) {
    case 'and':
      return where.conditions.map(requestsFor).reduce(combined, [[]])
    case 'id':
      return where.ids.length === 0 ? [] : [[['_id', where.ids.map(escaped).join(',')]]]
    case 'lastUpdated':
      return [updatedPairs(where)]
    case 'entry':
      return entryRequests(where)
    default:
      throw unsupported(`a condition of the kind ${quoted(where.kind)}`)
  }
}

function combined(all: readonly (readonly Pair[])[], next: readonly (readonly Pair[])[]): readonly (readonly Pair[])[] {
  return all.flatMap((left) => next.map((right) => [...left, ...right]))
}

function updatedPairs({ from, to }: { readonly from?: number; readonly to?: number }): readonly Pair[] {
  const bounds = [from === undefined ? [] : [`ge${instant(from)}`], to === undefined ? [] : [`le${instant(to)}`]].flat()
  return bounds.map((bound) => ['_lastUpdated', bound])
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/**
 * Search parameters of R4 that together hold a key of definitions. Of a choice (`source[x]`) each type has its own parameter. There is none
 * for the value set of a code system's codes, nor for the types that a guide has global profiles for: docs/storage/http.md says what follows.
 */
const DEFINITION_PARAMETERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['definition:url', ['url']],
  ['definition:source', ['source', 'source-uri']],
  ['definition:target', ['target', 'target-uri']],
  ['definition:supplements', ['supplements']],
  ['definition:value-set', []],
  ['definition:base', ['base']],
  ['definition:type', ['type']],
  ['definition:global', []],
])

function entryRequests({ param, all }: EntryTest): readonly (readonly Pair[])[] {
  const names = DEFINITION_PARAMETERS.get(param)
  const values = all.length === 1 ? valuesOf(all[0]) : undefined
  if (names === undefined || values === undefined) throw unsupported(`a test of ${quoted(param)} that was not made from search parameters`)
  return names.map((name) => [[name, values.map(escaped).join(',')]])
}

function valuesOf(comparison: Comparison | undefined): readonly string[] | undefined {
  if (comparison?.field !== 'value') return undefined
  if (comparison.op === 'in') return comparison.operands
  return comparison.op === 'eq' ? [comparison.operand] : undefined
}

/** R4 3.1.1.4.18: these characters separate values unless they are escaped. */
function escaped(value: string): string {
  return value.replaceAll(/[\\,$|]/g, String.raw`\$&`)
}
