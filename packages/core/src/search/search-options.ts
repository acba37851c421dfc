import type { SearchParameters } from './parameters/search-parameter.js'

/** Codes of one code system. */
export interface CodeGroup {
  readonly system: string
  readonly codes: readonly string[]
}

/** What a modifier asks codes for. */
export type CodeQuestion =
  /** A value set by canonical, or `ValueSet/id`. */
  | { readonly modifier: 'in'; readonly valueSet: string }
  /** The code itself with what it subsumes (`below`) or what subsumes it (`above`). */
  | { readonly modifier: 'above' | 'below'; readonly system: string; readonly code: string }

/**
 * Answers `:in`, `:not-in`, `:above` and `:below` of token parameters.
 *
 * @throws {OperationError} when the codes cannot be determined; nothing is searched then.
 */
export type CodeExpander = (question: CodeQuestion) => Promise<readonly CodeGroup[]>

/** What `:above` and `:below` of a reference ask: the ids of one resource and of all above or below it. */
export interface HierarchyQuestion {
  readonly type: string
  readonly id: string
  readonly modifier: 'above' | 'below'
  /** The reference parameter by which a resource of the type states what it is part of. */
  readonly param: string
}

/** How searches are read. `r4()` of `@fhir-ops/r4` gives what R4 needs. */
export interface SearchOptions {
  readonly parameters: SearchParameters
  /** Address of this server, without a slash at its end: absolute references on it are local. */
  readonly base?: string | undefined
  /** Modifiers that need codes are refused when absent. */
  readonly codesOf?: CodeExpander | undefined
  /** Answers `:above` and `:below` of references, which are refused when absent. */
  readonly hierarchyOf?: ((question: HierarchyQuestion) => Promise<readonly string[]>) | undefined
  /** Whether the caller gives included resources; `_include` and `_revinclude` are refused otherwise. */
  readonly includes?: boolean | undefined
  /** Whether the caller gives contained resources (`containedQueries`); `_contained` is refused otherwise, except its default `false`. */
  readonly contained?: boolean | undefined
  /** The clock of `ap`. */
  readonly now?: (() => Date) | undefined
  /** Most parameters of one search. Default 1,000. */
  readonly maxParameters?: number | undefined
  /** Most references that one parameter follows. Default 8. */
  readonly maxChain?: number | undefined
}

/** A search parameter as it was sent, decoded: name with modifiers and chain, value with its escapes. */
export type SearchPair = readonly [name: string, value: string]
