/**
 * One value by which a search finds a resource. The content of the fields depends on the kind of parameter; adapters only compare them.
 * Numbers are finite. A resource may have equal entries; they count as one.
 *
 * | kind | system | value | text | low, high |
 * |---|---|---|---|---|
 * | string | | as written | folded (lower case, no accents) | |
 * | token | system, absent when the token has none | code, absent when there is only a text | folded display or text | |
 * | identifier `:of-type` | system of the type's code | code of the type | the identifier's value, as written | |
 * | reference | type of the target, absent for targets on another server and for canonicals | id, or the whole URL; a canonical also without `\|version` in a second entry | | |
 * | uri | | as written | | |
 * | date | | | | milliseconds since 1970, both inclusive; an open end is the earliest or latest time of `Date` |
 * | number | | | | the number, twice; for a Range its bounds, an open end is the smallest or largest number |
 * | quantity | unit's system | unit's code; the unit's text in a separate entry | | as number |
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
 * A comparison with one field of an entry. An absent field satisfies only `absent`. Texts are compared exactly, character by character:
 * no character of an operand is a wildcard. `in` holds when the field equals one of the operands, and never for an empty list.
 */
export type Comparison =
  | { readonly field: 'system' | 'value' | 'text'; readonly op: 'in'; readonly operands: readonly string[] }
  | { readonly field: 'system' | 'value' | 'text'; readonly op: 'eq' | 'prefix' | 'contains' | 'suffix'; readonly operand: string }
  | { readonly field: 'low' | 'high'; readonly op: 'eq' | 'lt' | 'le' | 'gt' | 'ge'; readonly operand: number }
  | { readonly field: 'system' | 'value' | 'text' | 'low' | 'high'; readonly op: 'absent' }

/** Holds when a single entry of `param` satisfies every comparison; without comparisons, when the resource has an entry of `param`. */
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
   * Chaining: holds when an entry of this parameter has in `system` and `value` the type and id of a resource that the inner query matches. In a storage
   * that keeps `contained` of puts, this may be a contained resource. Only `type` and `where` of an inner query are used.
   */
  | { readonly kind: 'refersTo'; readonly param: string; readonly query: SearchQuery }
  /** Reverse chaining (`_has`): holds when a resource that the inner query matches refers to this one by its parameter `param`. */
  | { readonly kind: 'referredBy'; readonly param: string; readonly query: SearchQuery }

/**
 * Sorts by the smallest (ascending) or largest (descending) value of the field among the parameter's entries; resources without a value come last
 * in both directions. Texts are ordered by Unicode code points. `lastUpdated` and `id` are those of the resource.
 */
export interface SortKey {
  /** Ignored for `lastUpdated` and `id`. */
  readonly param: string
  readonly field: 'value' | 'text' | 'low' | 'high' | 'lastUpdated' | 'id'
  readonly descending: boolean
}

/** A parsed search for resources of one type. */
export interface SearchQuery {
  readonly type: string
  /** An empty `and` matches every resource of the type. */
  readonly where: Condition
  /**
   * The same conditions as decoded FHIR search parameters, present when the query was created from such parameters. Adapters for another FHIR server
   * send these; other adapters ignore them. Code that changes `where` must omit them.
   */
  readonly parameters?: readonly (readonly [name: string, value: string])[]
  /** Sort keys, the most significant first. Equal resources are ordered by id; without keys, all are. */
  readonly sort?: readonly SortKey[]
  /** Maximum number of items in a page, at least 1; the adapter chooses a page size when absent. */
  readonly limit?: number
  /**
   * A page ends with the item whose text takes the total over this many bytes, so it has at least one item. Adapters may count characters instead; an
   * adapter for another server cannot apply it. The adapter chooses a limit when absent.
   */
  readonly maxBytes?: number
  /** `next` of the previous page, for a query with the same `type`, `where` and `sort`. */
  readonly after?: string
}

/** Resources to read with each match of a scan because they refer to it. */
export interface Referring extends Pick<SearchQuery, 'type' | 'where' | 'parameters'> {
  /** Codes of reference parameters of this type, at least one of which refers to the match. */
  readonly params: readonly string[]
}

/** The query of a scan over a whole population: its matches, each with the resources that refer to it. */
export interface ScanQuery extends Omit<SearchQuery, 'sort'> {
  /** Other resources to read with the matches. Default none. */
  readonly referring?: readonly Referring[]
}

/** Prefix of the parameters of entries by which definitions are found; no code of a search parameter begins with it. */
export const DEFINITION_PARAM = 'definition:'

/** True if a resource with this entry is a definition. */
export function isDefinitionEntry({ param }: { readonly param: string }): boolean {
  return param.startsWith(DEFINITION_PARAM)
}

/** True when the entry satisfies every comparison. */
export function satisfies(entry: IndexEntry, comparisons: readonly Comparison[]): boolean {
  return comparisons.every((comparison) => holds(entry, comparison))
}

function holds(entry: IndexEntry, comparison: Comparison): boolean {
  if (isTextComparison(comparison)) {
    const value = entry[comparison.field]
    return value !== undefined && textHolds(value, comparison)
  }
  if (isNumberComparison(comparison)) {
    const value = entry[comparison.field]
    return value !== undefined && numberHolds(value, comparison)
  }
  return entry[comparison.field] === undefined
}

/** A comparison of a text field with operands. */
export type TextComparison = Exclude<Extract<Comparison, { readonly field: 'system' | 'value' | 'text' }>, { readonly op: 'absent' }>
/** A comparison of a number field with an operand. */
export type NumberComparison = Exclude<Extract<Comparison, { readonly field: 'low' | 'high' }>, { readonly op: 'absent' }>

export function isTextComparison(comparison: Comparison): comparison is TextComparison {
  return comparison.op !== 'absent' && comparison.field !== 'low' && comparison.field !== 'high'
}

export function isNumberComparison(comparison: Comparison): comparison is NumberComparison {
  return comparison.op !== 'absent' && (comparison.field === 'low' || comparison.field === 'high')
}

/** True when a present text satisfies the comparison. */
export function textHolds(value: string, comparison: TextComparison): boolean {
  switch (comparison.op) {
    case 'eq':
      return value === comparison.operand
    case 'in':
      return comparison.operands.includes(value)
    case 'prefix':
      return value.startsWith(comparison.operand)
    case 'suffix':
      return value.endsWith(comparison.operand)
    case 'contains':
      return value.includes(comparison.operand)
  }
}

/** True when a present number satisfies the comparison. */
export function numberHolds(value: number, { op, operand }: NumberComparison): boolean {
  switch (op) {
    case 'eq':
      return value === operand
    case 'lt':
      return value < operand
    case 'le':
      return value <= operand
    case 'gt':
      return value > operand
    case 'ge':
      return value >= operand
  }
}

/** Maximum length of a list in a test whose matches are kept. */
const MAX_OPERANDS = 16

/** Returns the same text for equal tests; `undefined` for a test with a long list, which is rarely repeated. */
export function testKey(all: readonly Comparison[]): string | undefined {
  const isShort = all.every((comparison) => comparison.op !== 'in' || comparison.operands.length <= MAX_OPERANDS)
  return isShort ? JSON.stringify(all) : undefined
}

/** Options of `createFrequency`. */
export interface FrequencyOptions {
  /** Number of questions after which a key is frequent. Default 4. */
  readonly times?: number
  /** Maximum number of counted keys; the least recently asked one is dropped. Default 256. */
  readonly most?: number
}

/**
 * Counts questions by key.
 *
 * @returns A function that counts one question and returns whether it is asked often enough for its answer to be kept.
 */
export function createFrequency({ times = 4, most = 256 }: FrequencyOptions = {}): (key: string) => boolean {
  const asked = new Map<string, number>()
  return (key) => {
    const count = (asked.get(key) ?? 0) + 1
    asked.delete(key)
    asked.set(key, count)
    if (asked.size > most) asked.delete(asked.keys().next().value ?? '')
    return count >= times
  }
}

/** Options of `joinAlternatives`. */
export interface JoinOptions {
  /** Fewest tests that become a list. Default 2. */
  readonly from?: number
}

/**
 * Merges alternative conditions: tests that differ only in the value become one test for a list. A list of codes is then a single
 * lookup, with the same statement whatever its length.
 */
export function joinAlternatives(conditions: readonly Condition[], { from = 2 }: JoinOptions = {}): readonly Condition[] {
  const alike = Map.groupBy(conditions, (condition) => {
    const wanting = wantingOf(condition)
    return wanting === undefined ? condition : JSON.stringify([wanting.param, wanting.others])
  })
  return [...alike.values()].flatMap((group): readonly Condition[] =>
    group.length < from ? group : testOf(group.flatMap((condition) => wantingOf(condition) ?? [])),
  )
}

/** A test for one value, with its other comparisons. */
interface Wanting {
  readonly param: string
  readonly value: string
  readonly others: readonly Comparison[]
}

function wantingOf(condition: Condition): Wanting | undefined {
  if (condition.kind !== 'entry') return undefined
  const { param, all } = condition
  const [wanted, ...more] = all.filter(({ field, op }) => field === 'value' && op === 'eq')
  if (wanted?.op !== 'eq' || more.length > 0 || typeof wanted.operand !== 'string') return undefined
  return { param, value: wanted.operand, others: all.filter((comparison) => comparison !== wanted) }
}

function testOf(group: readonly Wanting[]): readonly EntryTest[] {
  const operands = group.map(({ value }) => value)
  return group.slice(0, 1).map(({ param, others }) => ({ kind: 'entry', param, all: [...others, { field: 'value', op: 'in', operands }] }))
}
