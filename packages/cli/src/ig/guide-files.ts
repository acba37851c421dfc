import { OperationError } from 'fhir-ops/errors'
import { isObject, stringAt } from 'fhir-ops/internal/json'
import { decodeUtf8 } from 'fhir-ops/internal/text'
import { isRelease, packageFiles, readManifest, type PackageManifest } from 'fhir-ops/internal/packages'
import { openAsBlob } from 'node:fs'
import { access, constants, readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { noFile, statOf, unreadable } from '../files.js'
import { parsedJson } from '../json-fault.js'
import type { Source } from '../load/sources.js'
import { named } from '../storage.js'

const MANIFEST = 'package.json'
/** Paths in the folder `package`: definitions are next to the manifest, examples in a folder of their own. */
const RESOURCE = /^(?:examples?\/)?[^/]+\.json$/
const NO_RESOURCES: ReadonlySet<string> = new Set([MANIFEST, '.index.json'])

/** The files of a package, by their paths in its folder `package`. */
export interface PackageFolder {
  /** The archive or folder, as the user named it. */
  readonly path: string
  readonly files: (isWanted: (name: string) => boolean) => AsyncGenerator<NamedText>
  /** Paths from which the loader reads the definitions. */
  readonly definitionPaths: () => Promise<readonly string[]>
}

/** A file of a package. */
interface NamedText {
  readonly name: string
  readonly text: string
}

/**
 * Opens a package: an archive (`.tgz`), or a folder with its content.
 *
 * @throws {OperationError} `parameter-value` if it is not a package.
 */
async function openPackage(path: string): Promise<PackageFolder> {
  const found = await statOf(path)
  if (found === undefined) throw noFile(path)
  await access(path, constants.R_OK).catch((cause: unknown) => {
    throw unreadable(path, cause)
  })
  if (!found.isDirectory())
    return { path, files: (isWanted) => filesOfArchive(path, isWanted), definitionPaths: () => Promise.resolve([path]) }
  const inner = join(path, 'package')
  const root = (await isFile(join(path, MANIFEST))) ? path : inner
  if (!(await isFile(join(root, MANIFEST))))
    throw new OperationError(
      'parameter-value',
      `${path} is not a FHIR package: there is no package.json in it, nor in a folder 'package'. \`fhir-ops validate --load FOLDER FOLDER\` validates other folders of resources, such as what SUSHI writes.`,
    )
  const files = (isWanted: (name: string) => boolean): AsyncGenerator<NamedText> => filesOfFolder(root, isWanted)
  return { path, files, definitionPaths: () => definitionsBelow(root, files) }
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true
}

const PREFIX = 'package/'

async function* filesOfArchive(path: string, isWanted: (name: string) => boolean): AsyncGenerator<NamedText> {
  const wanted = (name: string): boolean => name.startsWith(PREFIX) && isWanted(name.slice(PREFIX.length))
  try {
    for await (const { name, bytes } of packageFiles((await openAsBlob(path)).stream(), wanted))
      yield { name: name.slice(PREFIX.length), text: decodeUtf8(bytes, name) }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    throw new OperationError(error.code, `${path}: ${error.message}`, { cause: error })
  }
}

async function* filesOfFolder(root: string, isWanted: (name: string) => boolean): AsyncGenerator<NamedText> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
  for (const name of names.toSorted())
    if (isWanted(name)) yield { name, text: decodeUtf8(await readFile(join(root, name)), join(root, name)) }
}

async function definitionsBelow(root: string, files: PackageFolder['files']): Promise<readonly string[]> {
  const paths: string[] = []
  for await (const { name, text } of files((file) => /^[^/]+\.json$/.test(file) && !NO_RESOURCES.has(file)))
    if (mayBeResource(text)) paths.push(join(root, name))
  return paths
}

/**
 * Reads the manifest of a package.
 *
 * @throws {OperationError} `body-invalid` if there is none; `body-structure` if the package is for another FHIR release than R4.
 */
async function manifestOf({ path, files }: PackageFolder): Promise<PackageManifest> {
  for await (const { text } of files((name) => name === MANIFEST)) return named(path, async () => readManifest(text))
  throw new OperationError('body-invalid', `${path} is not a FHIR package: it has no package.json.`)
}

/** Counts the files of a package that may be resources, judging by their names. */
export async function countResourceFiles({ files }: PackageFolder): Promise<number> {
  let count = 0
  // The filter accepts none, so all are skipped.
  await files((name) => {
    if (isResourceFile(name)) count++
    return false
  }).next()
  return count
}

function isResourceFile(name: string): boolean {
  return RESOURCE.test(name) && !NO_RESOURCES.has(name)
}

/** Reads the resources of a package, definitions and examples, as written. JSON that is not a resource, such as a schema, is skipped. */
export async function* resourcesOf({ path, files }: PackageFolder): AsyncGenerator<Source> {
  for await (const { name, text } of files(isResourceFile))
    if (mayBeResource(text)) yield { text, place: `${basename(path)} ${name}`, file: `${path} ${name}`, line: 1 }
}

/** True also for text that cannot be parsed, because validation then reports the reason. */
function mayBeResource(text: string): boolean {
  const value = parsedJson(text)
  return value === undefined || (isObject(value) && stringAt(value, 'resourceType') !== undefined)
}

/** A package with its manifest. */
export interface FoundPackage {
  readonly folder: PackageFolder
  readonly manifest: PackageManifest
}

/**
 * Finds the packages on which one depends, directly or indirectly, in folders: archives and folders whose names begin with the package name, such as
 * `hl7.fhir.us.core-6.1.0.tgz`, or `hl7.fhir.us.core#6.1.0` in the cache that FHIR tools share. Of several versions, the requested one is used, or else
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
    throw unreadable(folder, cause)
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
      // A package for another release may exist next to one for R4; a damaged package is reported only if there is no other.
      if (!(error instanceof OperationError)) throw error
      if (error.code !== 'body-structure') fault ??= error
    }
  }
  if (fault !== undefined) throw fault
  return undefined
}

/** Opens a package that must exist. @throws {OperationError} as `openPackage` and `manifestOf`. */
export async function foundPackage(path: string): Promise<FoundPackage> {
  const folder = await openPackage(path)
  return { folder, manifest: await manifestOf(folder) }
}
