import type * as FileSystem from 'node:fs'
import { otherRelease, type OtherRelease } from 'fhir-ops/cross-version'
import { checkOptions, inputShape, listOf, oneOf, type InputShape } from 'fhir-ops/internal/input'

/** The number of a release in the urls of its extensions, for DSTU2, STU3, R4B and R5. */
export type CrossVersionRelease = (typeof RELEASES)[number]

const RELEASES = ['1.0', '3.0', '4.3', '5.0'] as const

/** Options of `crossVersion`. */
export interface CrossVersionOptions {
  /** Releases to support. Default: all. */
  readonly releases?: readonly CrossVersionRelease[]
  /** Parsed content of `elements-<release>.json` by release, instead of the package's own files; for runtimes without a file system. */
  readonly tables?: Readonly<Partial<Record<CrossVersionRelease, unknown>>>
}

const SHAPE: InputShape = inputShape<CrossVersionOptions>({
  releases: listOf(oneOf(...RELEASES)),
  tables: { words: 'tables by release', is: (value) => typeof value === 'object' },
})

/**
 * Returns the elements of other FHIR releases, for the option `crossVersion` of `createContext`. The file of a release is read when an extension of it
 * first occurs.
 *
 * @throws {TypeError} for an option that is unknown or of another type; on that first use, in a runtime without a file system, if there is no table for
 *   the release.
 */
export function crossVersion(options: CrossVersionOptions = {}): readonly OtherRelease[] {
  checkOptions('crossVersion', SHAPE, options)
  const { releases = RELEASES, tables = {} } = options
  return releases.map((release) => otherRelease(release, () => tables[release] ?? builtTable(release)))
}

/** `src` and `dist` are siblings, so that tests read the same files as users. Separate from `new URL`, so that bundlers do not copy all files. */
const HERE = import.meta.url

function builtTable(release: CrossVersionRelease): unknown {
  const fs = fileSystem()
  if (fs === undefined)
    throw new TypeError(
      `crossVersion() reads files, and this runtime has no file system. Pass tables: {'${release}': ...}, from elements-${release}.json.`,
    )
  return JSON.parse(fs.readFileSync(new URL(`../dist/elements-${release}.json`, HERE), 'utf8'))
}

interface Runtime {
  readonly getBuiltinModule?: (name: 'node:fs') => typeof FileSystem | undefined
}

/** `node:fs` is not imported, because bundles for browsers contain this module too. */
function fileSystem(): typeof FileSystem | undefined {
  const host: { readonly process?: Runtime } = globalThis
  return host.process?.getBuiltinModule?.('node:fs')
}
