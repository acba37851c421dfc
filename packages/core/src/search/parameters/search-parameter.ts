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
