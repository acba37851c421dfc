import { OperationError, quoted } from '../../errors/index.js'
import type { Comparison, Condition, IndexEntry, SortKey } from '../../storage/index.js'
import type { Container } from '../indexing/address.js'
import {
  type ImpliedSystem,
  type SearchParameter,
  nearParameters,
  OF_OTHER_SERVERS,
  CONTROLS,
  INCLUDES,
  OF_EVERY_TYPE,
} from '../parameters/search-parameter.js'
import type { ValueCounter } from '../bounds.js'
import type { SearchOptions } from '../search-options.js'

/** The fields of an entry besides the parameter's code. */
export type EntryFields = Omit<IndexEntry, 'param'>

/** One value of a search parameter in a query. */
export interface Ask {
  /** The parameter's name as it was sent, with modifier, for errors. */
  readonly name: string
  /** The value with its escapes. */
  readonly value: string
  readonly modifier?: string | undefined
  /** Types that a reference parameter may lead to; empty when any. */
  readonly targets: readonly string[]
  /** Address of this server, without a trailing slash; an absolute reference with this base is local. */
  readonly base?: string | undefined
  /** Current time in milliseconds since 1970, for `ap`. */
  readonly now: number
}

/** Context of a value that is indexed. */
export interface IndexHints {
  /** Address of this server, without a trailing slash. */
  readonly base?: string | undefined
  /** Code system of `code` elements, or of each code. */
  readonly system?: ImpliedSystem | undefined
  /** Types that a reference may lead to; empty or absent when any. */
  readonly targets?: readonly string[] | undefined
  /** Returns the target of a fragment (`#m`). */
  readonly addressOf?: Container['addressOf'] | undefined
}

/** Alternatives, each a list of comparisons that must all hold for one entry. */
export type Alternatives = readonly (readonly Comparison[])[]

/**
 * Describes one kind of search parameter. Indexing, parsing, composites and sorting use only this description, so that a new kind takes a file and a line
 * in the registry.
 */
export interface SearchKind {
  /** Type of the search parameters of this kind (R4 SearchParameter.type), or, with `codes`, any other name. */
  readonly name: string
  /** Codes of the parameters of this kind, whatever their type; when absent, all parameters of the type `name`. */
  readonly codes?: readonly string[]
  /** Creates the entry fields of a value in a resource; none for values of other shapes. */
  readonly fields: (value: unknown, hints: IndexHints) => readonly EntryFields[]
  /** Modifiers that `alternatives` supports, besides `missing`. */
  readonly modifiers: readonly string[]
  /** Returns whether `alternatives` supports a further modifier, such as a resource type. */
  readonly takes?: (modifier: string, parameter: SearchParameter) => boolean
  /** True if the parameter may have the modifier `not`. */
  readonly negatable: boolean
  /** Parses a value. @throws {OperationError} `search-invalid` for an invalid value. */
  readonly alternatives: (ask: Ask) => Alternatives
  /**
   * Parses a value whose condition concerns more than one entry; `alternatives` then parses a single word.
   *
   * @throws {OperationError} `search-invalid` for an invalid value.
   */
  readonly condition?: (param: string, ask: Ask) => Condition
  /** Returns the field to sort by; `undefined` where values have no order. */
  readonly sortField: (descending: boolean) => SortKey['field'] | undefined
  /** Modifiers with separate entries. */
  readonly entryModifiers?: readonly EntryModifier[]
  /** Modifiers that need more than the value: codes of value sets, other resources. */
  readonly resolvers?: ReadonlyMap<string, ModifierResolver>
  /** How its values can be components of composites; not at all when absent. */
  readonly tuple?: TupleRole
}

/** A modifier that uses entries under `<code>:<name>`. */
interface EntryModifier {
  readonly name: string
  /** Returns whether a parameter supports the modifier. */
  readonly applies: (parameter: SearchParameter) => boolean
  readonly fields: (value: unknown) => readonly EntryFields[]
  /** Parses a value. @throws {OperationError} `search-invalid` for an invalid value. */
  readonly alternatives: (ask: Ask) => Alternatives
}

/** Creates the condition for values with a modifier. @throws {OperationError} `search-invalid`, `search-unsupported` */
export type ModifierResolver = (scope: FilterScope, parameter: SearchParameter, asks: readonly Ask[]) => Condition | Promise<Condition>

/** How values can be components of tuples. @see https://hl7.org/fhir/R4/search.html#composite */
interface TupleRole {
  /** Present if they can be the first component, whose `system` and `value` keep their place in the entry. */
  readonly first?: true
  /** How they are written as the second of two components, in `text`, `low` and `high` of the entry. */
  readonly second?: {
    readonly fields: (fields: EntryFields) => readonly EntryFields[]
    /** Default: those of the kind. */
    readonly alternatives?: (ask: Ask) => Alternatives
  }
  /** How they are parsed as the second or third of three components, which use `low` or `high`. */
  readonly coordinate?: (ask: Ask) => Alternatives
}

/** Returns only the bounds of an entry. */
export function boundsOnly({ low, high }: EntryFields): EntryFields {
  if (low === undefined) return high === undefined ? {} : { high }
  return high === undefined ? { low } : { low, high }
}

/** Creates the fields of the present texts. Written out, because it creates most entries, and spreads take three times as long (bench `first-load`). */
export function textFields(system: string | undefined, value: string | undefined): EntryFields {
  if (system === undefined) return value === undefined ? {} : { value }
  return value === undefined ? { system } : { system, value }
}

/** Creates the error for an invalid value. */
export function invalidValue({ name, value }: Ask, expected: string): OperationError {
  const message = `Search parameter ${quoted(name)} has the value ${quoted(value)}, which is not ${expected}.`
  return new OperationError('search-invalid', message, { expression: [name] })
}

/** The context of a parameter: its type, and the references that lead to it. */
export interface FilterScope {
  readonly type: string
  readonly options: SearchOptions
  /** References followed so far. */
  readonly depth: number
  /** Number of paths along these references: through every type that they do not name. */
  readonly ways: number
  /** Counts the values of all parameters. */
  readonly values: ValueCounter
  /** The whole name as it was sent. */
  readonly sent: string
}

/** Creates the error for an invalid parameter name. @param hint Suggestion, with a blank before it. */
export function invalidName({ sent }: FilterScope, problem: string, hint = ''): OperationError {
  return new OperationError('search-invalid', `Search parameter ${quoted(sent)} ${problem}.${hint}`, { expression: [sent] })
}

/** Creates the error for a feature of FHIR that is not supported. */
export function unsupportedName({ sent }: FilterScope, problem: string): OperationError {
  return new OperationError('search-unsupported', `Search parameter ${quoted(sent)} ${problem}.`, { expression: [sent] })
}

/** Parameters of FHIR that are not supported. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['_filter', '_query', '_type'])
const WORDS: ReadonlySet<string> = new Set(['_content', '_text'])

/** Creates the error for a parameter that the type does not have, or that is not supported. */
export function unknownParameter(scope: FilterScope, code: string): OperationError {
  if (UNSUPPORTED.has(code)) return unsupportedName(scope, 'is not supported')
  if (WORDS.has(code)) return unsupportedName(scope, 'is not supported, as words are not indexed here (option words)')
  // Parameters that shape the result cannot be chained to a reference.
  const isAlone = scope.depth === 0
  const others = isAlone ? [...OF_EVERY_TYPE, ...CONTROLS, ...INCLUDES] : OF_EVERY_TYPE
  const known = isAlone ? OF_OTHER_SERVERS.get(code) : undefined
  const hint = known ?? nearParameters(scope.options.parameters, { code, types: [scope.type], others })
  return invalidName(scope, `is not known: ${scope.type} has no ${quoted(code)}`, hint)
}
