import type { PackageManifest } from './read-package.js'

/** A package that another one needs, and that is not among those given, at least not in that version. */
export interface OpenDependency {
  /** `name#version` of the package that needs it. */
  readonly by: string
  readonly name: string
  readonly version: string
  /** The version that is given instead. */
  readonly given?: string
}

/** What FHIR itself publishes; its definitions are those of the release. */
const RELEASE = /^hl7\.fhir\.r4\.(core|examples|expansions)$/

/** True for a package of the release itself, which need not be given. */
export function isRelease(name: string): boolean {
  return RELEASE.test(name)
}

/** The dependencies of packages that are not among them, in order, each once. */
export function openDependencies(packages: readonly PackageManifest[]): readonly OpenDependency[] {
  return packages.flatMap((one) =>
    [...one.dependencies].flatMap(([name, version]): OpenDependency[] => {
      const given = packages.filter((other) => other.name === name).map((other) => other.version)
      if (isRelease(name) || given.some((other) => fits(other, version))) return []
      return [{ by: `${one.name}#${one.version}`, name, version, ...(given[0] !== undefined && { given: given[0] }) }]
    }),
  )
}

function fits(given: string, wanted: string): boolean {
  return given === wanted || (wanted.endsWith('.x') && given.startsWith(wanted.slice(0, -1)))
}
