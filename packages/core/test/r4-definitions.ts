import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { modelOfDefinitions, type TypeModel } from '../src/fhirpath/index.js'
import type { SearchParameterTable } from '../src/search/index.js'
import type { JsonObject } from '../src/json/index.js'

const FOLDER = fileURLToPath(new URL('../../r4/node_modules/hl7.fhir.r4.examples/', import.meta.url))

/**
 * The published definitions of a type, from the package that the definitions pack is built from.
 *
 * @param options `most` of them; all when absent.
 */
export function published<T = JsonObject>(type: string, { most = Infinity }: { readonly most?: number } = {}): T[] {
  const names = readdirSync(FOLDER).filter((name) => name.startsWith(`${type}-`))
  return names.slice(0, most).map((name) => JSON.parse(readFileSync(FOLDER + name, 'utf8')) as T)
}

let parameters: SearchParameterTable | undefined
let types: TypeModel | undefined

/** Read once in a process. */
export function publishedSearchParameters(): SearchParameterTable {
  parameters ??= published<SearchParameterTable[number]>('SearchParameter')
    .filter((row) => Array.isArray(row.base))
    .sort((a, b) => (a.url < b.url ? -1 : 1))
  return parameters
}

/** Read once in a process. */
export function publishedTypes(): TypeModel {
  types ??= modelOfDefinitions(published('StructureDefinition'))
  return types
}
