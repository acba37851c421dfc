import { packLayer, type ContentLayer } from 'fhir-ops/content'
import { builtFile } from './built-file.js'

/** Options of what reads a file of this package. */
export interface RegistryFile {
  /** The content of the file, where there are no files. */
  readonly bytes?: Uint8Array
}

/**
 * The registries that can be listed, as CodeSystem resources: countries (`urn:iso:std:iso:3166`), their subdivisions
 * (`urn:iso:std:iso:3166:-2`) and currencies (`urn:iso:std:iso:4217`). They have no version, as the registries have none.
 *
 * @param file The content of `registries.pack` in place of the package's own.
 */
export function registryDefinitions({ bytes }: RegistryFile = {}): ContentLayer {
  return packLayer(bytes ?? builtFile('registries.pack'), 'registries')
}
