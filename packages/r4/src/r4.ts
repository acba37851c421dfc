import { packLayer, type ContentLayer } from 'fhir-ops/content'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { SPREAD_THE_RESULT } from 'fhir-ops/internal/input'
import type { SearchParameterTable } from 'fhir-ops/internal/search'
import { releaseOf, searchParametersIn, typesIn, type Release, type ReleaseOptions } from './release.js'
import { packageFileProblem } from 'fhir-ops/internal/work'
import type * as FileSystem from 'node:fs'
import type { PackReader } from 'fhir-ops/internal/content'

/**
 * Returns all of FHIR R4: definitions, search parameters, types, and the indexer for them. Reads the package's files synchronously, in Node, Bun
 * and Deno. `loadR4` also works in browsers and on the edge.
 *
 * @throws {TypeError} in a runtime without a file system, and on Node versions that are too old.
 */
export function r4(options: ReleaseOptions = {}): Release {
  const files = packageFiles('r4')
  return releaseOf(
    {
      definitions: files.pack(),
      types: files.json('types.json'),
      searchParameters: () => files.json('search-parameters.json'),
    },
    options,
  )
}

// Makes `createContext({ storage, ...r4 })` fail with a message that names the mistake; otherwise the context would have no definitions.
Object.defineProperty(r4, SPREAD_THE_RESULT, { value: 'r4 was not called. Use { ...r4() }.', enumerable: true })

/**
 * Returns the StructureDefinitions, ValueSets, CodeSystems (including v2 and v3), SearchParameters, CompartmentDefinitions and OperationDefinitions of
 * FHIR 4.0.1, without narrative and other documentation. Opens the pack; each definition is read and parsed when it is needed.
 *
 * @throws {TypeError} as `r4`.
 */
export function r4Definitions(): ContentLayer {
  return packLayer(packageFiles('r4Definitions').pack(), 'r4', { isRelease: true })
}

/** Returns the 1,400 search parameters of FHIR 4.0.1, ordered by url. @throws {TypeError} as `r4`. */
export function r4SearchParameters(): SearchParameterTable {
  return searchParametersIn(packageFiles('r4SearchParameters').json('search-parameters.json'))
}

/** Returns the model of the resource types, data types and nested elements of FHIR 4.0.1. @throws {TypeError} as `r4`. */
export function r4TypeModel(): TypeModel {
  return typesIn(packageFiles('r4TypeModel').json('types.json'))
}

/** The files that the package's build makes, in a runtime with a file system. */
interface PackageFiles {
  /** @throws {TypeError} in a bundle, and before the package is built: the files are not there. */
  json(name: 'types.json' | 'search-parameters.json'): unknown
  /** Reads parts of the pack; the file stays open as long as the process lives. @throws {TypeError} as `json`. */
  pack(): PackReader
}

/** `src` and `dist` are siblings, so that tests read the same files as users. Separate from `new URL`, so that bundlers do not copy 18 MB. */
const HERE = import.meta.url

/**
 * Returns the package's files. `node:fs` is not imported, because bundles for browsers contain this module too.
 *
 * @throws {TypeError} in a runtime without a file system, and on Node versions that are too old.
 */
function packageFiles(caller: string): PackageFiles {
  checkNode()
  const fs = fileSystem()
  if (fs === undefined) {
    throw new TypeError(`${caller}() reads files, and this runtime has no file system. Use await loadR4() of @fhir-ops/r4 instead.`)
  }
  return {
    json: (name) => JSON.parse(opened(name, (address) => fs.readFileSync(address, 'utf8'))),
    pack() {
      const file = opened('definitions.pack', (address) => fs.openSync(address, 'r'))
      return (start, end) => {
        const bytes = new Uint8Array(end - start)
        return bytes.subarray(0, fs.readSync(file, bytes, 0, bytes.length, start))
      }
    },
  }
}

function opened<T>(name: string, open: (address: URL) => T): T {
  try {
    return open(new URL(`../dist/${name}`, HERE))
  } catch (cause) {
    const words = packageFileProblem(cause, '@fhir-ops/r4')
    throw words === undefined ? cause : new TypeError(words, { cause })
  }
}

/** True if `r4` reads its files here: the module itself is a file, or part of a bundle in CommonJS, which has no address; and there is a file system. */
export function hasPackageFiles(): boolean {
  return /^(?:file:|undefined$)/.test(HERE) && fileSystem() !== undefined
}

const OLDEST: readonly [number, number] = [22, 13]

/** @throws {TypeError} on Node versions older than `engines` of the manifest; other runtimes are not checked. */
export function checkNode(): void {
  const { node, bun, deno } = runtime()?.versions ?? {}
  if (node === undefined || bun !== undefined || deno !== undefined) return
  const [major = 0, minor = 0] = node.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return
  throw new TypeError(`fhir-ops needs Node ${OLDEST.join('.')} or later, and this is ${node}.`)
}

/** Emulations of Node in browsers and on the edge may lack the module, or have it without files. */
function fileSystem(): typeof FileSystem | undefined {
  return runtime()?.getBuiltinModule?.('node:fs')
}

interface Runtime {
  readonly versions?: Readonly<Record<string, string | undefined>>
  readonly getBuiltinModule?: (name: 'node:fs') => typeof FileSystem | undefined
}

function runtime(): Runtime | undefined {
  const host: { readonly process?: Runtime } = globalThis
  return host.process
}
