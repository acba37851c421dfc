export { dateInterval, type Interval } from './written-values.js'
export { MAX_COUNT } from './bounds.js'
export { fold } from '../text/index.js'
export { callersSearch } from './callers-search.js'
export { containedQueries, showingContained } from './results/contained.js'
export { includedResources, type IncludeScope, type Include } from './results/includes.js'
export { createIndexer, type IndexerOptions } from './indexing/indexer.js'
export {
  chainedTypes,
  isKnownParameter,
  parseSearch,
  parseSeveral,
  searchTypesOf,
  type ContainedSearch,
  type ParsedSearch,
  type ParsedSeveral,
} from './parse-search.js'
export type { CodeExpander, CodeGroup, CodeQuestion, HierarchyQuestion, SearchOptions, SearchPair } from './search-options.js'
export type {
  SearchComponent,
  SearchParameter,
  SearchParameterRow,
  SearchParameters,
  SearchParameterTable,
} from './parameters/search-parameter.js'
export { searchParameters, type SearchParametersOptions } from './parameters/search-parameters.js'
export { severalPage, type SeveralScope } from './results/several-page.js'
