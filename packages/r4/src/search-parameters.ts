import type { SearchParameterTable } from 'fhir-ops/search'
import { builtJson } from './built-file.js'
import { searchParametersIn } from './file-content.js'

/** The 1,400 search parameters of FHIR 4.0.1, ordered by url. */
export function r4SearchParameters(): SearchParameterTable {
  return searchParametersIn(builtJson('search-parameters.json'))
}
