import { packLayer, type ContentLayer } from 'fhir-ops/content'
import { checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'
import type * as FileSystem from 'node:fs'

/** `src` and `dist` are siblings, so that tests read the same files as users. Apart from `new URL`, so that no bundler copies the files. */
const HERE = import.meta.url

/**
 * A file that the package's build made. `node:fs` is not imported: bundles for browsers contain this module too.
 *
 * @param caller Name of the function that needs it.
 * @throws {TypeError} where there is no file system. @throws {Error} `ENOENT` before the package is built.
 */
export function builtFile(caller: string, name: 'registries.pack' | 'subtags.json'): Uint8Array {
  const fs = fileSystem()
  if (fs !== undefined) return fs.readFileSync(new URL(`../dist/${name}`, HERE))
  throw new TypeError(
    `${caller}() reads a file, and this runtime has no file system. Use ${caller}({ bytes }) with those of @fhir-ops/registries/${name} instead.`,
  )
}

interface Runtime {
  readonly getBuiltinModule?: (name: 'node:fs') => typeof FileSystem | undefined
}

/** Emulations in browsers and on the edge may lack the module. */
function fileSystem(): typeof FileSystem | undefined {
  const host: { readonly process?: Runtime } = globalThis
  return host.process?.getBuiltinModule?.('node:fs')
}

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
