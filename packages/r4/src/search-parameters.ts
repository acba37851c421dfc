import type { SearchParameterTable } from 'fhir-ops/search'
import { builtJson } from './built-file.js'

/** The 1,400 search parameters of FHIR 4.0.1, ordered by url. */
export function r4SearchParameters(): SearchParameterTable {
  const rows = builtJson('search-parameters.json')
  if (!isTable(rows)) throw new TypeError('search-parameters.json is not a table.')
  return rows
}

function isTable(rows: unknown): rows is SearchParameterTable {
  return Array.isArray(rows)
}
