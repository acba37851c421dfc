import type { TypeModel } from 'fhir-ops/fhirpath'
import { builtJson } from './built-file.js'
import { typesIn } from './file-content.js'

/** The resource types, data types and nested elements of FHIR 4.0.1. */
export function r4TypeModel(): TypeModel {
  return typesIn(builtJson('types.json'))
}
