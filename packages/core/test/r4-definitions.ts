import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { modelOfDefinitions, type TypeModel } from '../src/fhirpath/index.js'
import type { SearchParameterTable } from '../src/search/index.js'
import type { JsonObject } from '../src/json/index.js'

const FOLDER = fileURLToPath(new URL('../../r4/node_modules/hl7.fhir.r4.examples/', import.meta.url))

/** The published definitions of a type, from the package that the definitions pack is built from. */
export function published<T = JsonObject>(type: string): T[] {
  const names = readdirSync(FOLDER).filter((name) => name.startsWith(`${type}-`))
  return names.map((name) => JSON.parse(readFileSync(FOLDER + name, 'utf8')) as T)
}

export function publishedSearchParameters(): SearchParameterTable {
  const rows = published<SearchParameterTable[number]>('SearchParameter').filter((row) => Array.isArray(row.base))
  return rows.sort((a, b) => (a.url < b.url ? -1 : 1))
}

export function publishedTypes(): TypeModel {
  return modelOfDefinitions(published('StructureDefinition'))
}
