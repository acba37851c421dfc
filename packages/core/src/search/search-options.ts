import type { SearchParameters } from './parameters/search-parameter.js'

/** Codes of one code system. */
export interface CodeGroup {
  readonly system: string
  readonly codes: readonly string[]
}

/** A question for the codes of a modifier. */
export type CodeQuestion =
  /** A value set by canonical, or `ValueSet/id`. */
  | { readonly modifier: 'in'; readonly valueSet: string }
  /** The code itself and the codes that it subsumes (`below`) or that subsume it (`above`). */
  | { readonly modifier: 'above' | 'below'; readonly system: string; readonly code: string }

/**
 * Finds the codes for `:in`, `:not-in`, `:above` and `:below` of token parameters.
 *
 * @throws {OperationError} when the codes cannot be determined; the search then fails.
 */
export type CodeExpander = (question: CodeQuestion) => Promise<readonly CodeGroup[]>

/** The question of `:above` and `:below` of a reference: the ids of a resource and of all above or below it. */
export interface HierarchyQuestion {
  readonly type: string
  readonly id: string
  readonly modifier: 'above' | 'below'
  /** The reference parameter by which a resource of the type states what it is part of. */
  readonly param: string
}

/** Options of `parseSearch`. `r4()` of `@fhir-ops/r4` returns those for R4. */
export interface SearchOptions {
  readonly parameters: SearchParameters
  /** Address of this server, without a trailing slash: absolute references with this base are local. */
  readonly base?: string | undefined
  /** Finds the codes for modifiers that need them; when absent, such modifiers are refused. */
  readonly codesOf?: CodeExpander | undefined
  /** Finds the ids for `:above` and `:below` of references; when absent, these are refused. */
  readonly hierarchyOf?: ((question: HierarchyQuestion) => Promise<readonly string[]>) | undefined
  /** Whether the caller returns included resources; otherwise `_include` and `_revinclude` are refused. */
  readonly includes?: boolean | undefined
  /** Whether the caller returns contained resources (`containedQueries`); otherwise `_contained` is refused, except its default `false`. */
  readonly contained?: boolean | undefined
  /** The clock for the prefix `ap`. */
  readonly now?: (() => Date) | undefined
  /** Maximum number of parameters in one search. Default 1,000. */
  readonly maxParameters?: number | undefined
  /** Maximum number of references that one parameter follows. Default 8. */
  readonly maxChain?: number | undefined
}

/** A search parameter as it was sent, decoded: name with modifiers and chain, value with its escapes. */
export type SearchPair = readonly [name: string, value: string]
