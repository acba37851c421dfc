import type { TypeModel } from '../../fhirpath/index.js'
import { didYouMean, nearest } from '../../text/index.js'

/** The code system of `code` elements, or that of each code, if the elements have codes of several. */
export type ImpliedSystem = string | Readonly<Record<string, string>>

/** A search parameter as FHIR publishes it: the members of a SearchParameter resource that searches need. */
export interface SearchParameterRow {
  readonly url: string
  readonly code: string
  /** Types that can be searched by it; `Resource` and `DomainResource` mean all types. */
  readonly base: readonly string[]
  /** `number`, `date`, `string`, `token`, `reference`, `composite`, `quantity`, `uri` or `special`. */
  readonly type: string
  /** FHIRPath from a resource to the values; absent for parameters without a path, such as `_text`. */
  readonly expression?: string
  /** Types that a reference may lead to. */
  readonly target?: readonly string[]
  /** Components of a composite: the url of each component's parameter, and the FHIRPath from a match of `expression` to its value. */
  readonly component?: readonly { readonly definition: string; readonly expression: string }[]
  /** For a token parameter, by type: the code system of its `code` elements, or of each code if there are several. Not part of the FHIR resource. */
  readonly systems?: Readonly<Record<string, ImpliedSystem>>
  /** True if a reference parameter has only canonicals, which chains cannot follow. */
  readonly canonical?: boolean
}

/** The search parameters of a release, as in the definitions pack. SearchParameter resources fit as they are. */
export type SearchParameterTable = readonly SearchParameterRow[]

/** A part of a composite parameter. */
export interface SearchComponent {
  readonly type: string
  readonly targets: readonly string[]
  /** FHIRPath from a match of the composite's expression to the value. */
  readonly expression: string
}

/** A search parameter of one resource type. */
export interface SearchParameter {
  readonly code: string
  readonly type: string
  /** How its values are compared: the name of a `SearchKind`. */
  readonly kind: string
  /** FHIRPath from the resource to the values. */
  readonly expression: string
  /** Types that a reference may lead to; empty when any. */
  readonly targets: readonly string[]
  /** Empty unless the parameter is a composite. */
  readonly components: readonly SearchComponent[]
  /** Composites of the type that together have its tuples, so that it has no entries itself; empty for most parameters. */
  readonly unites: readonly string[]
  /** Code system of the `code` elements of a token parameter, or of each code. */
  readonly system: ImpliedSystem | undefined
  /** True if a reference parameter has only canonicals. */
  readonly canonical: boolean
}

/** The parameters that resources are indexed and searched by. */
export interface SearchParameters {
  readonly model: TypeModel
  /** Returns all parameters of a type, in the order of the table. */
  of(type: string): readonly SearchParameter[]
  /** Finds a parameter; `undefined` if the type cannot be searched by it. */
  find(type: string, code: string): SearchParameter | undefined
}

/** Parameters of every type that need no index entries. */
export const OF_EVERY_TYPE: ReadonlySet<string> = new Set(['_id', '_lastUpdated', '_list'])

/** Parameters that shape the result; each may occur once in a search. */
export const CONTROLS: ReadonlySet<string> = new Set([
  '_contained',
  '_containedType',
  '_count',
  '_cursor',
  '_elements',
  '_sort',
  '_summary',
  '_total',
])

/** Parameters that add resources besides the matches, without their modifiers. */
export const INCLUDES: readonly string[] = ['_include', '_revinclude']

const PAGES = " The link 'next' of a Bundle leads to its next page."

/** Hints for parameters of other servers that are not similar to any name here. */
export const OF_OTHER_SERVERS: ReadonlyMap<string, string> = new Map([
  ['_fields', " Did you mean '_elements'?"],
  ['_limit', " Did you mean '_count'?"],
  ['_totalMethod', " Did you mean '_total'?"],
  ...['_getpages', '_getpagesoffset', '_offset', '_page', '_skip'].map((name) => [name, PAGES] as const),
])

/** A name that no parameter has, and the names that may be meant. */
interface MisspeltParameter {
  readonly code: string
  /** Types that should have the parameter. */
  readonly types: readonly string[]
  /** Other names that are allowed in its place. */
  readonly others?: Iterable<string>
  /** Selects the parameters that are allowed in its place; any when absent. */
  readonly only?: (parameter: SearchParameter) => boolean
}

/** Returns a hint such as `Did you mean 'birthdate'?`, with a blank before it, to append to a message; empty when no name is similar. */
export function nearParameters(parameters: SearchParameters, { code, types, others = [], only = () => true }: MisspeltParameter): string {
  const names = types.flatMap((type) => parameters.of(type)).filter(only)
  const hint = didYouMean(nearest(code, new Set([...others, ...names.map((parameter) => parameter.code)])))
  return hint === undefined ? '' : ` ${hint}`
}
