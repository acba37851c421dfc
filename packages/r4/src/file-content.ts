import type { TypeModel } from 'fhir-ops/fhirpath'
import { isObject } from 'fhir-ops/json'
import { typeModelOf } from 'fhir-ops/model'
import type { SearchParameterTable } from 'fhir-ops/search'

/** The model that `types.json` holds. @throws {TypeError} for something else. */
export function typesIn(table: unknown): TypeModel {
  if (!isObject(table)) throw new TypeError('types.json is not a JSON object.')
  return typeModelOf(table)
}

/** The rows that `search-parameters.json` holds. @throws {TypeError} for something else. */
export function searchParametersIn(rows: unknown): SearchParameterTable {
  if (!isTable(rows)) throw new TypeError('search-parameters.json is not a table.')
  return rows
}

function isTable(rows: unknown): rows is SearchParameterTable {
  return Array.isArray(rows)
}
