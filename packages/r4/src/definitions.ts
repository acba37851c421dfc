import { packLayer, type ContentLayer } from 'fhir-ops/content'
import { builtPack } from './built-file.js'

/** Options of `r4Definitions`. */
export interface DefinitionsOptions {
  /** The content of the package's `definitions.pack`, where there are no files. */
  readonly bytes?: Uint8Array
}

/**
 * The StructureDefinitions, ValueSets, CodeSystems (v2 and v3 too), SearchParameters, CompartmentDefinitions and OperationDefinitions of
 * FHIR 4.0.1, without narrative and other documentation. Opens the pack; a definition is read and parsed when it is asked for.
 */
export function r4Definitions(options: DefinitionsOptions = {}): ContentLayer {
  return packLayer(options.bytes ?? builtPack(), 'r4')
}
