import { checkHas, OperationError, quoted } from '../errors/index.js'
import { isObject, objectAt, stringAt, type JsonObject } from '../json/index.js'
import { decodeUtf8, joinedBytes } from '../text/index.js'
import { packLayer, packOf, type ContentLayer } from '../content/index.js'
import { AMOUNT, checkArgument, checkOptions, having, inputShape, listOf, type InputShape } from '../input/index.js'

/** The manifest of a FHIR package. */
export interface PackageManifest {
  readonly name: string
  readonly version: string
  /** Versions of other packages by name, as the manifest states them; `6.1.x` means any version that begins with `6.1.`. */
  readonly dependencies: ReadonlyMap<string, string>
}

/** A FHIR package: its manifest and its definitions. */
export interface FhirPackage extends PackageManifest {
  /** The resources with a canonical URL, in the order of the archive; no examples, and no instances without a URL. */
  readonly definitions: readonly PackageFile[]
}

/** A definition in a package. */
export interface PackageFile {
  /** Without folder: `ValueSet-x.json`. */
  readonly name: string
  readonly text: string
  readonly type: string
  readonly id?: string | undefined
  readonly url: string
  readonly version?: string | undefined
}

const MANIFEST = 'package/package.json'
const RESOURCE = /^package\/[^/]+\.json$/
/** Protects against archives that inflate without end; the largest published packages have about 200 MB. */
const MAX_BYTES = 1024 * 1024 * 1024

/** Options of `readPackage`. */
export interface ReadPackageOptions {
  /** Maximum size of the inflated archive in bytes, including files that are not read. Default 1 GiB. */
  readonly maxBytes?: number
}

const SHAPE: InputShape = inputShape<ReadPackageOptions>({ maxBytes: AMOUNT })
const STREAM = having('a ReadableStream', ['pipeThrough'])

/**
 * Reads the archive (.tgz) of a FHIR package.
 *
 * @throws {OperationError} `body-invalid` if the archive is damaged, is not a FHIR package, or has a file that is not JSON in UTF-8; `body-structure`
 *   if the package is for another FHIR release than R4; `too-costly` if it inflates to more than `maxBytes`.
 * @throws {TypeError} for an archive that is not a stream, and for an option that is unknown or of another type.
 * @see https://confluence.hl7.org/display/FHIR/NPM+Package+Specification
 */
export async function readPackage(archive: ReadableStream<Uint8Array>, options: ReadPackageOptions = {}): Promise<FhirPackage> {
  checkOptions('readPackage', SHAPE, options)
  if (!STREAM.is(archive)) throw new TypeError(`readPackage: the archive must be ${STREAM.words}; new Blob([bytes]).stream() makes one.`)
  const { maxBytes = MAX_BYTES } = options
  const definitions: PackageFile[] = []
  let manifest: JsonObject | undefined
  for await (const file of tarFiles(inflated(archive, maxBytes), (name) => RESOURCE.test(name))) {
    const text = decodeUtf8(file.bytes, `The package's file ${quoted(file.name)}`)
    const value = parsed(text, file.name)
    if (file.name === MANIFEST) manifest = value
    else definitions.push(...definitionIn(value, { name: file.name.slice('package/'.length), text }))
  }
  return { ...manifestOf(manifest), definitions }
}

/**
 * Reads the files of a FHIR package's archive whose names `isWanted` accepts, in the order of the archive.
 *
 * @throws {OperationError} `body-invalid` if the archive is damaged; `too-costly` if it inflates to more than 1 GiB.
 */
export function packageFiles(archive: ReadableStream<Uint8Array>, isWanted: (name: string) => boolean): AsyncGenerator<TarFile> {
  return tarFiles(inflated(archive, MAX_BYTES), isWanted)
}

/**
 * Reads the text of a manifest, `package.json`.
 *
 * @throws {OperationError} `body-invalid` if the text is not a manifest; `body-structure` if the package is for another FHIR release than R4.
 */
export function readManifest(text: string): PackageManifest {
  return manifestOf(parsed(text, MANIFEST))
}

/** Copies bytes in memory that threads share, which platforms do not decompress. */
function owned(): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  return new TransformStream({
    transform(bytes, controller) {
      const { buffer, byteOffset, length } = bytes
      controller.enqueue(buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, length) : new Uint8Array(bytes))
    },
  })
}

function inflated(archive: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  const reader = archive.pipeThrough(owned()).pipeThrough(new DecompressionStream('gzip')).getReader()
  let bytes = 0
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await reader.read().catch((cause: unknown) => {
        throw new OperationError('body-invalid', 'The archive is not a gzip file, or it is damaged.', { cause })
      })
      if (done) return controller.close()
      bytes += value.length
      if (bytes > maxBytes) throw new OperationError('too-costly', `The package is larger than ${maxBytes} bytes when it is inflated.`)
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

function parsed(text: string, name: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch (cause) {
    throw new OperationError('body-invalid', `The package's file ${quoted(name)} is not JSON.`, { cause })
  }
  throw new OperationError('body-invalid', `The package's file ${quoted(name)} does not contain a JSON object.`)
}

function definitionIn(resource: JsonObject, file: Pick<PackageFile, 'name' | 'text'>): readonly PackageFile[] {
  const [type, url] = [stringAt(resource, 'resourceType'), stringAt(resource, 'url')]
  if (type === undefined || url === undefined) return []
  return [{ ...file, type, url, id: stringAt(resource, 'id'), version: stringAt(resource, 'version') }]
}

function manifestOf(manifest: JsonObject | undefined): PackageManifest {
  const [name, version] = [stringAt(manifest, 'name'), stringAt(manifest, 'version')]
  if (manifest === undefined || name === undefined || version === undefined) {
    throw new OperationError('body-invalid', `The archive is not a FHIR package: it has no ${MANIFEST} with a name and a version.`)
  }
  refuseOtherRelease(manifest, name)
  const dependencies = Object.entries(objectAt(manifest, 'dependencies') ?? {})
  return { name, version, dependencies: new Map(dependencies.map(([other, wanted]) => [other, String(wanted)])) }
}

function refuseOtherRelease(manifest: JsonObject, name: string): void {
  const stated: unknown = manifest['fhirVersions'] ?? manifest['fhir-version-list']
  const releases = Array.isArray(stated) ? stated.map(String) : []
  if (releases.length === 0 || releases.some((release) => /^4\.0(\.\d+)?$/.test(release))) return
  throw new OperationError('body-structure', `The package ${quoted(name)} is for FHIR ${releases.join(', ')}, not for R4.`)
}

/**
 * Creates a content layer with the definitions of a package, which are found by URL and version. Several versions of a package may be layers of the
 * same context. The package's name and version identify its content in cache keys.
 */
export function packageLayer(one: FhirPackage): ContentLayer {
  checkHas('The package', one, ['name', 'version', 'definitions'])
  const { name, version, definitions } = one
  const pack = packOf(definitions.map(({ text }) => text))
  return packLayer(pack, `${name}#${version}`, { isRelease: /^hl7\.fhir\.r\d\w?\.(?:core|examples|expansions)$/.test(name) })
}

/** A package on which a given package depends, and which is not given, or not in that version. */
export interface OpenDependency {
  /** `name#version` of the dependent package. */
  readonly by: string
  readonly name: string
  readonly version: string
  /** Another version of the package that is given instead. */
  readonly given?: string
}

/** Packages that contain the FHIR release itself. */
const RELEASE = /^hl7\.fhir\.r4\.(core|examples|expansions)$/

/** True for a package that contains the FHIR release itself, which need not be given. */
export function isRelease(name: string): boolean {
  return RELEASE.test(name)
}

/** Lists the dependencies of packages that are not among the packages, in order. */
export function openDependencies(packages: readonly PackageManifest[]): readonly OpenDependency[] {
  checkArgument('openDependencies: packages', packages, listOf(having('a package', ['name', 'version', 'dependencies'])))
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

/** A regular file of an archive. */
export interface TarFile {
  readonly name: string
  readonly bytes: Uint8Array
}

const BLOCK = 512
/** Far above the size of any definition; a greater length means that the archive is damaged. */
const MAX_FILE_BYTES = 256 * 1024 * 1024
/** Maximum size of an entry that states the name of the next file. */
const MAX_NAME_BYTES = 64 * 1024

/**
 * Reads the regular files of a tar archive whose names `isWanted` accepts, in order, with one file at a time in memory; other entries are skipped.
 * Supports the names of ustar and the longer ones of pax and GNU.
 *
 * @throws {OperationError} `body-invalid` if the archive is truncated or damaged.
 */
async function* tarFiles(archive: ReadableStream<Uint8Array>, isWanted: (name: string) => boolean): AsyncGenerator<TarFile> {
  const reader = byteReader(archive)
  let longName: string | undefined
  for (let header = await reader.take(BLOCK); header[0] !== 0; header = await reader.take(BLOCK)) {
    const [size, kind] = [sizeIn(header), textIn(header, 156, 1)]
    const name = longName ?? nameIn(header)
    longName = undefined
    const isFile = (kind === '' || kind === '0') && isWanted(name)
    const isName = kind === 'L' || kind === 'x'
    if (!isFile && !isName) await reader.skip(size)
    else if (size > (isFile ? MAX_FILE_BYTES : MAX_NAME_BYTES)) throw tooLong(name)
    else if (isFile) yield { name, bytes: await reader.take(size) }
    else longName = longNameIn(kind, await reader.take(size))
    await reader.skip((BLOCK - (size % BLOCK)) % BLOCK)
  }
}

function tooLong(name: string): OperationError {
  return new OperationError('body-invalid', `The archive is damaged: the length of the entry ${quoted(name)} is not plausible.`)
}

/** The name of the next file, as stated by an entry of this kind. */
function longNameIn(kind: string, bytes: Uint8Array): string | undefined {
  const text = textIn(bytes, 0, bytes.length)
  return kind === 'L' ? text : /^\d+ path=(.+)$/m.exec(text)?.[1]
}

function nameIn(header: Uint8Array): string {
  const prefix = textIn(header, 257, 5) === 'ustar' ? textIn(header, 345, 155) : ''
  return prefix === '' ? textIn(header, 0, 100) : `${prefix}/${textIn(header, 0, 100)}`
}

function sizeIn(header: Uint8Array): number {
  const size = Number.parseInt(textIn(header, 124, 12), 8)
  if (size >= 0 && Number.isSafeInteger(size)) return size
  throw new OperationError('body-invalid', 'The archive is damaged: an entry has no valid length.')
}

function textIn(bytes: Uint8Array, start: number, length: number): string {
  const field = bytes.subarray(start, start + length)
  const end = field.indexOf(0)
  return new TextDecoder().decode(field.subarray(0, end < 0 ? length : end))
}

/** Reads a stream in portions of a given number of bytes. */
interface ByteReader {
  /** The next `length` bytes. */
  readonly take: (length: number) => Promise<Uint8Array>
  /** Skips the next `length` bytes. */
  readonly skip: (length: number) => Promise<void>
}

function byteReader(stream: ReadableStream<Uint8Array>): ByteReader {
  const reader = stream.getReader()
  let rest: Uint8Array = new Uint8Array()
  const next = async (): Promise<Uint8Array> => {
    const { value, done } = await reader.read()
    if (done) throw new OperationError('body-invalid', 'The archive is truncated.')
    return value
  }
  return {
    async take(length) {
      const parts = [rest]
      let available = rest.length
      while (available < length) {
        const part = await next()
        parts.push(part)
        available += part.length
      }
      const bytes = parts.length === 1 ? rest : joinedBytes(parts)
      rest = bytes.subarray(length)
      return bytes.subarray(0, length)
    },
    async skip(length) {
      let left = length
      for (; left > rest.length; rest = await next()) left -= rest.length
      rest = rest.subarray(left)
    },
  }
}
