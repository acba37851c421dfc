export { dateInterval } from './values/date-interval.js'
export { fold } from '../text/index.js'
export { hierarchyOf } from './filter/hierarchy.js'
export { containedQueries, showingContained } from './results/contained.js'
export { includedResources, type IncludeScope } from './results/included.js'
export type { Include } from './results/includes.js'
export { createIndexer, type IndexerOptions } from './indexing/indexer.js'
export type { Interval } from './values/interval.js'
export { isKnownParameter } from './known-parameter.js'
export { parseSearch, parseSeveral } from './parse-search.js'
export type { ContainedSearch, ParsedSearch, ParsedSeveral } from './parsed-search.js'
export type { CodeExpander, CodeGroup, CodeQuestion, HierarchyQuestion, SearchOptions } from './search-options.js'
export type { SearchPair } from './search-pair.js'
export type { SearchParameterRow, SearchParameterTable } from './parameters/search-parameter.js'
export {
  searchParameters,
  type SearchComponent,
  type SearchParameter,
  type SearchParameters,
  type SearchParametersOptions,
} from './parameters/search-parameters.js'
export { searchTypesOf } from './search-types.js'
export { severalPage, type SeveralScope } from './results/several-page.js'
