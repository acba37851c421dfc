import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OperationError } from 'fhir-ops/errors'
import { isRelease, type PackageManifest } from 'fhir-ops/internal/packages'
import { manifestOf, openPackage, type PackageFolder } from './guide-files.js'

/** A package that was found, with its manifest. */
export interface FoundPackage {
  readonly folder: PackageFolder
  readonly manifest: PackageManifest
}

/**
 * Finds the packages that one needs, and those that these need, in folders: archives and folders whose names begin with the name of the package, such as
 * `hl7.fhir.us.core-6.1.0.tgz`, or `hl7.fhir.us.core#6.1.0` of the cache that FHIR tools share. Of several versions the one that is asked for is taken, or else
 * the last by name. Nothing is downloaded.
 */
export async function findDependencies(
  own: FoundPackage,
  { folders, given }: { readonly folders: readonly string[]; readonly given: readonly FoundPackage[] },
): Promise<readonly FoundPackage[]> {
  const found = new Map([own, ...given].map((one) => [one.manifest.name, one]))
  const places = (await Promise.all([dirname(own.folder.path), ...folders].map(pathsIn))).flat()
  for (const { manifest } of found.values()) {
    for (const [name, version] of manifest.dependencies) {
      if (isRelease(name) || found.has(name)) continue
      const dependency = await findPackage(places, name, version)
      if (dependency !== undefined) found.set(name, dependency)
    }
  }
  found.delete(own.manifest.name)
  return [...found.values()]
}

interface PackagePath {
  readonly name: string
  readonly path: string
}

async function pathsIn(folder: string): Promise<readonly PackagePath[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new OperationError('parameter-value', `The folder ${folder} cannot be read.`, { cause })
  })
  return entries
    .filter((entry) => entry.isDirectory() || entry.name.endsWith('.tgz'))
    .map(({ name }) => ({ name, path: join(folder, name) }))
    .toSorted((a, b) => (a.name < b.name ? 1 : -1))
}

async function findPackage(places: readonly PackagePath[], name: string, version: string): Promise<FoundPackage | undefined> {
  const alike = places.filter((place) => place.name === name || ['.tgz', '-', '#', '@'].some((next) => place.name.startsWith(name + next)))
  const exact = alike.filter((place) => place.name.includes(version.replace(/\.x$/, '.')))
  let fault: OperationError | undefined
  for (const { path } of [...exact, ...alike]) {
    try {
      const found = await foundPackage(path)
      if (found.manifest.name === name) return found
    } catch (error) {
      // One for another release may be beside one for R4; of one that is damaged is said so when there is no other.
      if (!(error instanceof OperationError)) throw error
      if (error.code !== 'body-structure') fault ??= error
    }
  }
  if (fault !== undefined) throw fault
  return undefined
}

/** A package that must be there. @throws {OperationError} as `openPackage` and `manifestOf`. */
export async function foundPackage(path: string): Promise<FoundPackage> {
  const folder = await openPackage(path)
  return { folder, manifest: await manifestOf(folder) }
}
