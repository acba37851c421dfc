/**
 * One thing that a resource can be found by. What the fields hold depends on the kind of parameter; adapters only compare them.
 * Numbers are finite. A resource may have equal entries; they count as one.
 *
 * | kind | system | value | text | low, high |
 * |---|---|---|---|---|
 * | string | | as written | folded (lower case, no accents) | |
 * | token | system, absent when the token has none | code, absent when only a text is there | folded display or text | |
 * | identifier `:of-type` | system of the type's code | code of the type | the identifier's value, as written | |
 * | reference | type of the target, absent for another server's and for canonicals | id, or the whole URL; a canonical also without `\|version` in a second entry | | |
 * | uri | | as written | | |
 * | date | | | | milliseconds since 1970, both inclusive; an open end is the first or last time that `Date` knows |
 * | number | | | | the number, twice; for a Range its bounds, an open end is the smallest or largest number |
 * | quantity | unit's system | unit's code, or in an entry of its own the unit's text | | as number |
 * | near | | | | latitude and longitude |
 * | composite | of the first component | of the first component | of the second: folded text; token or unit in an entry for each of `code`, `system\|code`, `system\|`, `\|code` that fits | of the second; of three, the second and third number |
 */
export interface IndexEntry {
  /** Code of the search parameter, with a suffix where one parameter needs several kinds (`code:identifier`, `code:of-type`). */
  readonly param: string
  readonly system?: string
  readonly value?: string
  readonly text?: string
  readonly low?: number
  readonly high?: number
}

/**
 * A comparison with one field of an entry. An absent field satisfies `absent` only. Texts are compared exactly, character by character:
 * no character of an operand is a wildcard. `in` holds when the field equals one of the operands, and never for an empty list.
 */
export type Comparison =
  | { readonly field: 'system' | 'value' | 'text'; readonly op: 'in'; readonly operands: readonly string[] }
  | { readonly field: 'system' | 'value' | 'text'; readonly op: 'eq' | 'prefix' | 'contains' | 'suffix'; readonly operand: string }
  | { readonly field: 'low' | 'high'; readonly op: 'eq' | 'lt' | 'le' | 'gt' | 'ge'; readonly operand: number }
  | { readonly field: 'system' | 'value' | 'text' | 'low' | 'high'; readonly op: 'absent' }

/** Holds when one and the same entry of `param` satisfies every comparison; with none, when the resource has an entry of `param`. */
export interface EntryTest {
  readonly kind: 'entry'
  readonly param: string
  readonly all: readonly Comparison[]
}

/** A condition on a resource. */
export type Condition =
  | EntryTest
  /** Holds when there are no conditions. */
  | { readonly kind: 'and'; readonly conditions: readonly Condition[] }
  /** Does not hold when there are no conditions. */
  | { readonly kind: 'or'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | { readonly kind: 'id'; readonly ids: readonly string[] }
  /** Bounds are inclusive milliseconds since 1970. */
  | { readonly kind: 'lastUpdated'; readonly from?: number; readonly to?: number }
  /**
   * An entry of this parameter whose `system` and `value` are type and id of a resource that the inner query matches, by itself or, in a storage that
   * keeps `contained` of puts, within another (chaining).
   * Only `type` and `where` of an inner query mean anything.
   */
  | { readonly kind: 'refersTo'; readonly param: string; readonly query: SearchQuery }
  /** A resource that the inner query matches refers to this one by that parameter of its own (`_has`). */
  | { readonly kind: 'referredBy'; readonly param: string; readonly query: SearchQuery }

/**
 * Orders by the smallest (ascending) or largest (descending) such field among the parameter's entries; resources without one come last
 * in both directions. Texts are ordered by Unicode code points, `lastUpdated` and `id` belong to the resource.
 */
export interface SortKey {
  /** Not looked at for `lastUpdated` and `id`. */
  readonly param: string
  readonly field: 'value' | 'text' | 'low' | 'high' | 'lastUpdated' | 'id'
  readonly descending: boolean
}

/** A parsed search over one type. */
export interface SearchQuery {
  readonly type: string
  /** An empty `and` matches every resource of the type. */
  readonly where: Condition
  /**
   * The same conditions as decoded FHIR search parameters, present when the query was made from such. An adapter in front of another FHIR server
   * sends these; the others do not look at them. Code that changes `where` leaves them out.
   */
  readonly parameters?: readonly (readonly [name: string, value: string])[]
  readonly sort?: readonly SortKey[]
  /** Most items of a page, at least 1; the adapter chooses a page size when absent. */
  readonly limit?: number
  /**
   * A page ends with the item with which its texts together exceed this many bytes, so it has at least one item. Adapters may count characters
   * instead, and one in front of another server cannot know. The adapter chooses when absent.
   */
  readonly maxBytes?: number
  /** `next` of the page before, for a query with the same `type`, `where` and `sort`. */
  readonly after?: string
}

/** Resources that come with each resource of a scan, because they refer to it. */
export interface Referring extends Pick<SearchQuery, 'type' | 'where' | 'parameters'> {
  /** Codes of reference parameters of this type: an entry of one of them leads to the resource of the scan. */
  readonly params: readonly string[]
}

/** What is read of a whole population: the matches of a query, each with what refers to it. */
export interface ScanQuery extends Omit<SearchQuery, 'sort'> {
  readonly referring?: readonly Referring[]
}

/** Parameters of the entries under which definitions are looked up begin with this; no code of a search parameter does. */
export const DEFINITION_PARAM = 'definition:'

/** Whether a resource with this entry is a definition. */
export function isDefinitionEntry({ param }: { readonly param: string }): boolean {
  return param.startsWith(DEFINITION_PARAM)
}
