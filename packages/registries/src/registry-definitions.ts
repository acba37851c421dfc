import { packLayer, type ContentLayer } from 'fhir-ops/content'
import { isBytes } from 'fhir-ops/internal/json'
import { packageFileProblem } from 'fhir-ops/internal/work'
import { checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'
import type * as FileSystem from 'node:fs'

/** `src` and `dist` are siblings, so that tests read the same files as users. Separate from `new URL`, so that bundlers do not copy the files. */
const HERE = import.meta.url

/**
 * Reads a file that the package's build made. `node:fs` is not imported, because bundles for browsers contain this module too.
 *
 * @param caller Name of the function that needs the file.
 * @throws {TypeError} in a runtime without a file system, in a bundle, and before the package is built.
 */
export function builtFile(caller: string, name: 'registries.pack' | 'subtags.json'): Uint8Array {
  const fs = fileSystem()
  try {
    if (fs !== undefined) return fs.readFileSync(new URL(`../dist/${name}`, HERE))
  } catch (cause) {
    const words = packageFileProblem(cause, '@fhir-ops/registries')
    throw words === undefined ? cause : new TypeError(words, { cause })
  }
  throw new TypeError(
    `${caller}() reads a file, and this runtime has no file system. Use ${caller}({ bytes }) with those of @fhir-ops/registries/${name} instead.`,
  )
}

interface Runtime {
  readonly getBuiltinModule?: (name: 'node:fs') => typeof FileSystem | undefined
}

/** Emulations of Node in browsers and on the edge may lack the module. */
function fileSystem(): typeof FileSystem | undefined {
  const host: { readonly process?: Runtime } = globalThis
  return host.process?.getBuiltinModule?.('node:fs')
}

/** Options of functions that read a file of this package. */
export interface RegistryFile {
  /** Content of the file, for runtimes without a file system. */
  readonly bytes?: Uint8Array
}

const SHAPE: InputShape = inputShape<RegistryFile>({ bytes: { words: 'bytes (a Uint8Array)', is: isBytes } })

/** Returns the file content that the host passes. @throws {TypeError} for an option that is unknown or of another type. */
export function givenBytes(factory: string, file: RegistryFile): Uint8Array | undefined {
  checkOptions(factory, SHAPE, file)
  return file.bytes
}

/**
 * The registries that can be listed, as CodeSystem resources: countries (`urn:iso:std:iso:3166`), their subdivisions
 * (`urn:iso:std:iso:3166:-2`) and currencies (`urn:iso:std:iso:4217`). They have no version, because the registries have none.
 *
 * @param file Content of `registries.pack`, instead of the package's own file.
 * @throws {TypeError} without `bytes` in a runtime without a file system.
 */
export function registryDefinitions(file: RegistryFile = {}): ContentLayer {
  return packLayer(givenBytes('registryDefinitions', file) ?? builtFile('registryDefinitions', 'registries.pack'), 'registries')
}
