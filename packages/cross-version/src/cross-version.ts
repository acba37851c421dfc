import type * as FileSystem from 'node:fs'
import { otherRelease, type OtherRelease } from 'fhir-ops/cross-version'
import { checkOptions, inputShape, listOf, oneOf, type InputShape } from 'fhir-ops/internal/input'

/** The number of a release in the urls of its extensions: DSTU2, STU3, R4B, R5. */
export type CrossVersionRelease = (typeof RELEASES)[number]

const RELEASES = ['1.0', '3.0', '4.3', '5.0'] as const

/** Options of `crossVersion`. */
export interface CrossVersionOptions {
  /** Default: all. */
  readonly releases?: readonly CrossVersionRelease[]
  /** The contents of `elements-<release>.json` by release, parsed, instead of the package's own files, where there is no file system. */
  readonly tables?: Readonly<Partial<Record<CrossVersionRelease, unknown>>>
}

const SHAPE: InputShape = inputShape<CrossVersionOptions>({
  releases: listOf(oneOf(...RELEASES)),
  tables: { words: 'tables by release', is: (value) => typeof value === 'object' },
})

/**
 * The elements of other FHIR releases, for the option `crossVersion` of `createContext`. A release's file is read when an extension of it is met first.
 *
 * @throws {TypeError} for an option that is unknown or of another type; at that first use, without a table for the release, where there is no file system.
 */
export function crossVersion(options: CrossVersionOptions = {}): readonly OtherRelease[] {
  checkOptions('crossVersion', SHAPE, options)
  const { releases = RELEASES, tables = {} } = options
  return releases.map((release) => otherRelease(release, () => tables[release] ?? builtTable(release)))
}

/** Both `src` and `dist` lie next to it, so that tests read the same files as users. Apart from `new URL`, so that no bundler copies all files. */
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

/** `node:fs` is not imported: bundles for browsers contain this module too. */
function fileSystem(): typeof FileSystem | undefined {
  const host: { readonly process?: Runtime } = globalThis
  return host.process?.getBuiltinModule?.('node:fs')
}
