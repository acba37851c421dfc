/**
 * One thing that a resource can be found by. What the fields hold depends on the kind of parameter; adapters only compare them.
 *
 * | kind | system | value | text | low, high |
 * |---|---|---|---|---|
 * | string | | as written | folded (lower case, no accents) | |
 * | token | system, absent when the token has none | code | folded code | |
 * | reference | type of the target, absent for another server's | id, or the whole URL | | |
 * | uri | | as written; for a canonical also with `\|version` in a second entry | | |
 * | date | | | | milliseconds since 1970, both inclusive |
 * | number | | | | the interval that the written precision means |
 * | quantity | unit's system | unit's code | | as number |
 */
export interface IndexEntry {
  /** Code of the search parameter, with a suffix where one parameter needs several kinds (`code:identifier`). */
  readonly param: string
  readonly system?: string
  readonly value?: string
  readonly text?: string
  readonly low?: number
  readonly high?: number
}

/** A comparison with one field of an entry. An absent field satisfies `absent` only. */
export type Comparison =
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
  | { readonly kind: 'and'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'or'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | { readonly kind: 'id'; readonly ids: readonly string[] }
  /** Bounds are inclusive milliseconds since 1970. */
  | { readonly kind: 'lastUpdated'; readonly from?: number; readonly to?: number }
  /** A reference of this parameter leads to a resource that the inner query matches (chaining). */
  | { readonly kind: 'refersTo'; readonly param: string; readonly query: SearchQuery }
  /** A resource that the inner query matches refers to this one by that parameter of its own (`_has`). */
  | { readonly kind: 'referredBy'; readonly param: string; readonly query: SearchQuery }

/** Orders by the smallest (ascending) or largest (descending) entry of the parameter; resources without one come last. */
export interface SortKey {
  readonly param: string
  readonly field: 'value' | 'text' | 'low' | 'high' | 'lastUpdated' | 'id'
  readonly descending: boolean
}

/** A parsed search over one type. */
export interface SearchQuery {
  readonly type: string
  /** An empty `and` matches every resource of the type. */
  readonly where: Condition
  readonly sort?: readonly SortKey[]
  /** Most items of a page; the adapter chooses a page size when absent. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly after?: string
}
