export { dateInterval } from './date-interval.js'
export { fold } from './fold.js'
export { hierarchyOf } from './hierarchy.js'
export { includedResources, type IncludeScope } from './included.js'
export type { Include } from './includes.js'
export { createIndexer, type IndexerOptions } from './indexer.js'
export type { Interval } from './interval.js'
export { isKnownParameter } from './known-parameter.js'
export { parseSearch, parseSeveral } from './parse-search.js'
export type { ParsedSearch, ParsedSeveral } from './parsed-search.js'
export type { CodeExpander, CodeGroup, CodeQuestion, HierarchyQuestion, SearchOptions } from './search-options.js'
export type { SearchPair } from './search-pair.js'
export type { SearchParameterRow, SearchParameterTable } from './search-parameter.js'
export {
  searchParameters,
  type SearchComponent,
  type SearchParameter,
  type SearchParameters,
  type SearchParametersOptions,
} from './search-parameters.js'
export { searchTypesOf } from './search-types.js'
export { severalPage, type SeveralScope } from './several-page.js'
