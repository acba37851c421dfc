import { OperationError, quoted } from '../../errors/index.js'
import type { Container } from '../indexing/container.js'
import type { Comparison, Condition, IndexEntry, SortKey } from '../../storage/index.js'

/** What an entry holds beside the parameter's code. */
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

/** What is known beside a value that is indexed. */
export interface IndexHints {
  /** Address of this server, without a slash at its end. */
  readonly base?: string | undefined
  /** Code system of `code` elements. */
  readonly system?: string | undefined
  /** Where a fragment (`#m`) leads. */
  readonly placeOf?: Container['placeOf'] | undefined
}

/** Alternatives, each of which lists what must hold for one entry. */
export type Alternatives = readonly (readonly Comparison[])[]

/** Everything about one kind of search parameter (R4 SearchParameter.type). */
export interface SearchKind {
  /** What a value in a resource is found by. Values of other shapes give nothing. */
  readonly fields: (value: unknown, hints: IndexHints) => readonly EntryFields[]
  /** Modifiers beside `missing` and those that stand for codes. */
  readonly modifiers: readonly string[]
  /** True when `not` may stand behind the parameter. */
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
}

/** The error for a value that a parameter cannot have. */
export function invalidValue({ name, value }: Ask, expected: string): OperationError {
  return new OperationError(
    'search-invalid',
    `Search parameter ${quoted(name)} has the value ${quoted(value)}, which is not ${expected}.`,
    {
      expression: [name],
    },
  )
}
