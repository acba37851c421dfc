export { parseSearch } from './parse-search.js'
export { createIndexer, type IndexerOptions } from './indexing/indexer.js'
export type { ParsedSearch } from './parsed-search.js'
export type { CodeExpander, CodeGroup, CodeQuestion, HierarchyQuestion, SearchOptions, SearchPair } from './search-options.js'
export type {
  SearchParameterRow,
  SearchParameterTable,
  SearchComponent,
  SearchParameter,
  SearchParameters,
} from './parameters/search-parameter.js'
export { searchParameters, type SearchParametersOptions } from './parameters/search-parameters.js'
