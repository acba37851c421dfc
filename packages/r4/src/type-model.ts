import type { TypeModel } from 'fhir-ops/fhirpath'
import { isObject } from 'fhir-ops/json'
import { typeModelOf } from 'fhir-ops/model'
import { builtJson } from './built-file.js'

/** The resource types, data types and nested elements of FHIR 4.0.1. */
export function r4TypeModel(): TypeModel {
  const table = builtJson('types.json')
  if (!isObject(table)) throw new TypeError('types.json is not a JSON object.')
  return typeModelOf(table)
}
