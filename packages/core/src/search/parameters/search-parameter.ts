import type { TypeModel } from '../../fhirpath/index.js'
import { didYouMean, nearest } from '../../text/index.js'

/** A search parameter as FHIR publishes it: the members of a SearchParameter resource that searching needs. */
export interface SearchParameterRow {
  readonly url: string
  readonly code: string
  /** Types that can be searched by it; `Resource` and `DomainResource` stand for all. */
  readonly base: readonly string[]
  /** `number`, `date`, `string`, `token`, `reference`, `composite`, `quantity`, `uri` or `special`. */
  readonly type: string
  /** FHIRPath from a resource to what is searched; absent for what has no path, such as `_text`. */
  readonly expression?: string
  /** Types that a reference may lead to. */
  readonly target?: readonly string[]
  /** Of a composite: the url of each component's parameter, and the FHIRPath from a match of `expression` to its value. */
  readonly component?: readonly { readonly definition: string; readonly expression: string }[]
  /** Of a token parameter, by type: the code system of the `code` elements that it looks at. FHIR leaves it out of the resource. */
  readonly systems?: Readonly<Record<string, string>>
  /** True when a reference parameter looks at canonicals only, which no chain can follow. */
  readonly canonical?: boolean
}

/** The search parameters of a release, as the definitions pack ships them. SearchParameter resources fit as they are. */
export type SearchParameterTable = readonly SearchParameterRow[]

/** A part of a composite parameter. */
export interface SearchComponent {
  readonly type: string
  readonly targets: readonly string[]
  /** FHIRPath from a match of the composite's expression. */
  readonly expression: string
}

/** A search parameter of one resource type. */
export interface SearchParameter {
  readonly code: string
  readonly type: string
  /** How its values are compared: the name of a `SearchKind`. */
  readonly kind: string
  /** FHIRPath from the resource. */
  readonly expression: string
  /** Types that a reference may lead to; empty when any. */
  readonly targets: readonly string[]
  /** Empty unless the parameter is a composite. */
  readonly components: readonly SearchComponent[]
  /** Composites of the type that together have its tuples, of which it therefore has no entries of its own; empty for most. */
  readonly unites: readonly string[]
  /** Code system of the `code` elements that a token parameter looks at. */
  readonly system: string | undefined
  /** True when a reference parameter looks at canonicals only. */
  readonly canonical: boolean
}

/** The parameters that resources are indexed and searched by. */
export interface SearchParameters {
  readonly model: TypeModel
  /** Every parameter of a type, in the order of the table. */
  of(type: string): readonly SearchParameter[]
  /** `undefined` when the type cannot be searched by it. */
  find(type: string, code: string): SearchParameter | undefined
}

/** Parameters of every type that need no entries of its resources. */
export const OF_EVERY_TYPE: ReadonlySet<string> = new Set(['_id', '_lastUpdated', '_list'])

/** Parameters that shape the result, once in a search. */
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

/** Parameters that bring other resources besides the matches, without their modifiers. */
export const INCLUDES: readonly string[] = ['_include', '_revinclude']

const PAGES = " The link 'next' of a Bundle leads to its next page."

/** What is said about parameters that other servers have, and no name here is near to. */
export const OF_OTHER_SERVERS: ReadonlyMap<string, string> = new Map([
  ['_fields', " Did you mean '_elements'?"],
  ['_limit', " Did you mean '_count'?"],
  ['_totalMethod', " Did you mean '_total'?"],
  ...['_getpages', '_getpagesoffset', '_offset', '_page', '_skip'].map((name) => [name, PAGES] as const),
])

/** What may be meant by a name that no parameter has. */
interface MisspeltParameter {
  readonly code: string
  /** The types that would have it. */
  readonly types: readonly string[]
  /** Other names that can stand there. */
  readonly others?: Iterable<string>
  /** Which parameters can stand there; any when absent. */
  readonly only?: (parameter: SearchParameter) => boolean
}

/** `Did you mean 'birthdate'?`, with a blank before it, to put after a message; empty when no name is near. */
export function nearParameters(parameters: SearchParameters, { code, types, others = [], only = () => true }: MisspeltParameter): string {
  const names = types.flatMap((type) => parameters.of(type)).filter(only)
  const hint = didYouMean(nearest(code, new Set([...others, ...names.map((parameter) => parameter.code)])))
  return hint === undefined ? '' : ` ${hint}`
}
