import { checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'
import { packLayer, type ContentLayer } from 'fhir-ops/content'
import { builtFile } from './built-file.js'

/** Options of what reads a file of this package. */
export interface RegistryFile {
  /** The content of the file, where there are no files. */
  readonly bytes?: Uint8Array
}

const SHAPE: InputShape = inputShape<RegistryFile>({ bytes: { words: 'bytes (a Uint8Array)', is: (value) => value instanceof Uint8Array } })

/** The bytes of a file that the host gives. @throws {TypeError} for an option that is unknown or of another type. */
export function givenBytes(factory: string, file: RegistryFile): Uint8Array | undefined {
  checkOptions(factory, SHAPE, file)
  return file.bytes
}

/**
 * The registries that can be listed, as CodeSystem resources: countries (`urn:iso:std:iso:3166`), their subdivisions
 * (`urn:iso:std:iso:3166:-2`) and currencies (`urn:iso:std:iso:4217`). They have no version, as the registries have none.
 *
 * @param file The content of `registries.pack` instead of the package's own.
 * @throws {TypeError} without `bytes` where there is no file system.
 */
export function registryDefinitions(file: RegistryFile = {}): ContentLayer {
  return packLayer(givenBytes('registryDefinitions', file) ?? builtFile('registryDefinitions', 'registries.pack'), 'registries')
}
