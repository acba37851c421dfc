import { openAsBlob } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { OperationError } from 'fhir-ops/errors'
import { isObject, stringAt } from 'fhir-ops/internal/json'
import { packageFiles, readManifest, type PackageManifest } from 'fhir-ops/internal/packages'
import type { Source } from '../load/sources.js'

const MANIFEST = 'package.json'
/** Of the folder `package`: definitions are beside the manifest, examples in a folder of their own. */
const RESOURCE = /^(?:examples?\/)?[^/]+\.json$/
const NO_RESOURCES: ReadonlySet<string> = new Set([MANIFEST, '.index.json'])

/** The files of a package, by their names in its folder `package`. */
export interface PackageFolder {
  /** The archive or folder as it was named. */
  readonly path: string
  readonly files: (isWanted: (name: string) => boolean) => AsyncGenerator<NamedText>
  /** What the loader reads to have the definitions. */
  readonly definitionPaths: () => Promise<readonly string[]>
}

/** A file of a package. */
export interface NamedText {
  readonly name: string
  readonly text: string
}

/**
 * Opens a package: an archive (`.tgz`), or the folder with what is in one.
 *
 * @throws {OperationError} `parameter-value` when it is none.
 */
export async function openPackage(path: string): Promise<PackageFolder> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new OperationError('parameter-value', `There is no file or folder ${path}.`)
  if (!found.isDirectory())
    return { path, files: (isWanted) => filesOfArchive(path, isWanted), definitionPaths: () => Promise.resolve([path]) }
  const inner = join(path, 'package')
  const root = (await isFile(join(path, MANIFEST))) ? path : inner
  if (!(await isFile(join(root, MANIFEST))))
    throw new OperationError('parameter-value', `${path} is not a FHIR package: there is no package.json in it, nor in a folder 'package'.`)
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
      yield { name: name.slice(PREFIX.length), text: new TextDecoder().decode(bytes) }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    throw new OperationError(error.code, `${path}: ${error.message}`, { cause: error })
  }
}

async function* filesOfFolder(root: string, isWanted: (name: string) => boolean): AsyncGenerator<NamedText> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
  for (const name of names.toSorted())
    if (isWanted(name)) yield { name, text: (await readFile(join(root, name), 'utf8')).replace(/^\uFEFF/, '') }
}

async function definitionsBelow(root: string, files: PackageFolder['files']): Promise<readonly string[]> {
  const paths: string[] = []
  for await (const { name, text } of files((file) => /^[^/]+\.json$/.test(file) && !NO_RESOURCES.has(file)))
    if (mayBeResource(text)) paths.push(join(root, name))
  return paths
}

/**
 * What the manifest of a package says.
 *
 * @throws {OperationError} `body-invalid` when it is none; `body-structure` when the package is for another FHIR release than R4.
 */
export async function manifestOf({ path, files }: PackageFolder): Promise<PackageManifest> {
  for await (const { text } of files((name) => name === MANIFEST)) return readManifest(text)
  throw new OperationError('body-invalid', `${path} is not a FHIR package: it has no package.json.`)
}

/** How many files of a package may be resources, by their names alone. */
export async function countResourceFiles({ files }: PackageFolder): Promise<number> {
  let count = 0
  // None is wanted, so all are skipped.
  await files((name) => {
    if (isResourceFile(name)) count++
    return false
  }).next()
  return count
}

function isResourceFile(name: string): boolean {
  return RESOURCE.test(name) && !NO_RESOURCES.has(name)
}

/** The resources of a package: definitions and examples, as they are written. JSON that is not a resource, such as a schema, is skipped. */
export async function* resourcesOf({ path, files }: PackageFolder): AsyncGenerator<Source> {
  for await (const { name, text } of files(isResourceFile))
    if (mayBeResource(text)) yield { text, place: `${basename(path)} ${name}`, file: `${path} ${name}`, line: 1 }
}

/** Of what cannot be read validation says why. */
function mayBeResource(text: string): boolean {
  const value = parsed(text)
  return value === undefined || (isObject(value) && stringAt(value, 'resourceType') !== undefined)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
