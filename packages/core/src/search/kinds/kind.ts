import { OperationError, quoted } from '../../errors/index.js'
import type { Comparison, Condition, IndexEntry, SortKey } from '../../storage/index.js'
import type { FilterScope } from '../filter/filter-scope.js'
import type { Container } from '../indexing/address.js'
import type { SearchParameter } from '../parameters/search-parameter.js'

/** The fields of an entry besides the parameter's code. */
export type EntryFields = Omit<IndexEntry, 'param'>

/** One value of a search parameter in a query. */
export interface Ask {
  /** The parameter's name as it was sent, with modifier, for errors. */
  readonly name: string
  /** With its escapes. */
  readonly value: string
  readonly modifier?: string | undefined
  /** Types that a reference parameter may lead to; empty when any. */
  readonly targets: readonly string[]
  /** Address of this server, without a slash at its end; an absolute reference on it is local. */
  readonly base?: string | undefined
  /** Milliseconds since 1970, for `ap`. */
  readonly now: number
}

/** What is known next to a value that is indexed. */
export interface IndexHints {
  /** Address of this server, without a slash at its end. */
  readonly base?: string | undefined
  /** Code system of `code` elements. */
  readonly system?: string | undefined
  /** Where a fragment (`#m`) leads. */
  readonly addressOf?: Container['addressOf'] | undefined
}

/** Alternatives, each of which lists what must hold for one entry. */
export type Alternatives = readonly (readonly Comparison[])[]

/**
 * Everything about one kind of search parameter. Indexing, parsing, composites and sorting know kinds by this description only, so that a new kind is a file
 * and a line in the registry.
 */
export interface SearchKind {
  /** The type of the search parameters (R4 SearchParameter.type) that are of this kind, or a name of its own with `codes`. */
  readonly name: string
  /** The parameters that are of this kind whatever their type; those of its type when absent. */
  readonly codes?: readonly string[]
  /** What a value in a resource is found by. Values of other shapes give nothing. */
  readonly fields: (value: unknown, hints: IndexHints) => readonly EntryFields[]
  /** Modifiers that `alternatives` understands, besides `missing`. */
  readonly modifiers: readonly string[]
  /** Whether a further modifier is one that `alternatives` understands, such as a type of resource. */
  readonly takes?: (modifier: string, parameter: SearchParameter) => boolean
  /** True when `not` may follow the parameter. */
  readonly negatable: boolean
  /** @throws {OperationError} `search-invalid` when the value cannot be read. */
  readonly alternatives: (ask: Ask) => Alternatives
  /**
   * What a value demands, where that is more than of one entry; `alternatives` are those of a single word then.
   *
   * @throws {OperationError} `search-invalid` when the value cannot be read.
   */
  readonly condition?: (param: string, ask: Ask) => Condition
  /** What the parameter sorts by; `undefined` where its values have no order. */
  readonly sortField: (descending: boolean) => SortKey['field'] | undefined
  /** Modifiers that look at entries of their own. */
  readonly entryModifiers?: readonly EntryModifier[]
  /** Modifiers that need more than the value: codes of value sets, other resources. */
  readonly resolvers?: ReadonlyMap<string, ModifierResolver>
  /** The part that its values can have in composites; none when absent. */
  readonly tuple?: TupleRole
}

/** A modifier that is answered by entries under `<code>:<name>`. */
export interface EntryModifier {
  readonly name: string
  /** Whether a parameter takes the modifier. */
  readonly applies: (parameter: SearchParameter) => boolean
  readonly fields: (value: unknown) => readonly EntryFields[]
  /** @throws {OperationError} `search-invalid` when the value cannot be read. */
  readonly alternatives: (ask: Ask) => Alternatives
}

/** Makes the condition of values with a modifier. @throws {OperationError} `search-invalid`, `search-unsupported` */
export type ModifierResolver = (scope: FilterScope, parameter: SearchParameter, asks: readonly Ask[]) => Condition | Promise<Condition>

/** How values take part in tuples. @see https://hl7.org/fhir/R4/search.html#composite */
export interface TupleRole {
  /** Whether they can be the first component, whose `system` and `value` keep their place in the entry. */
  readonly first?: true
  /** How they are the second of two components, which has `text`, `low` and `high` of the entry. */
  readonly second?: {
    readonly fields: (fields: EntryFields) => readonly EntryFields[]
    /** The kind's own when absent. */
    readonly alternatives?: (ask: Ask) => Alternatives
  }
  /** How they are the second or third of three components, which have one of `low` and `high` each. */
  readonly coordinate?: (ask: Ask) => Alternatives
}

/** The bounds of entries, without their other fields. */
export function boundsOnly({ low, high }: EntryFields): EntryFields {
  if (low === undefined) return high === undefined ? {} : { high }
  return high === undefined ? { low } : { low, high }
}

/** Fields of texts that are there. Written out, as most entries of a resource are made here, and a spread for each field takes three times as long (bench `first-load`). */
export function textFields(system: string | undefined, value: string | undefined): EntryFields {
  if (system === undefined) return value === undefined ? {} : { value }
  return value === undefined ? { system } : { system, value }
}

/** The error for a value that a parameter cannot have. */
export function invalidValue({ name, value }: Ask, expected: string): OperationError {
  const message = `Search parameter ${quoted(name)} has the value ${quoted(value)}, which is not ${expected}.`
  return new OperationError('search-invalid', message, { expression: [name] })
}
