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
