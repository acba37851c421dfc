import { packLayer, type ContentLayer } from 'fhir-ops/content'
import { builtPack } from './built-file.js'

/**
 * The StructureDefinitions, ValueSets, CodeSystems (v2 and v3 too), SearchParameters, CompartmentDefinitions and OperationDefinitions of
 * FHIR 4.0.1, without narrative and other documentation. Opens the pack; a definition is read and parsed when it is asked for.
 */
export function r4Definitions(): ContentLayer {
  return packLayer(builtPack(), 'r4')
}
