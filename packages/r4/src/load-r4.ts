import { checkArgument, SPREAD_THE_RESULT, type MemberKind } from 'fhir-ops/internal/input'
import { isBuffer, isBytes, isObject } from 'fhir-ops/internal/json'
import { checkNode, hasPackageFiles, r4 } from './r4.js'
import { releaseOf, type Release, type ReleaseOptions } from './release.js'

/** Source of the package's file `r4.bin` for `loadR4`: its address, a response of `fetch`, or its bytes. */
export type R4Source = string | URL | Response | ArrayBuffer | Uint8Array

/**
 * Loads all of FHIR R4, with the same result as `r4`, in any runtime. Without a source, it reads the package's files in Node, Bun and Deno; in a browser,
 * it fetches `r4.bin` (1.8 MB) from where the bundler has put it. Bundlers that support `new URL(file, import.meta.url)` do that automatically, for
 * example Vite and webpack; Cloudflare's tools make it a module of a Worker. With other bundlers, copy or import `@fhir-ops/r4/r4.bin` and pass its
 * address or its bytes.
 *
 * @throws {TypeError} if the file cannot be fetched, if it is another file, and on Node versions that are too old.
 */
export function loadR4(source?: R4Source, options: ReleaseOptions = {}): Promise<Release> {
  return toAwait(releaseFrom(source, options))
}

const USE = 'Use { ...(await loadR4()) }.'
Object.defineProperty(loadR4, SPREAD_THE_RESULT, { value: `loadR4 was not called. ${USE}`, enumerable: true })

/** Makes `createContext({ storage, ...loadR4() })` fail with a message that names the mistake; otherwise the context would have no definitions. */
export function toAwait(release: Promise<Release>): Promise<Release> {
  return Object.defineProperty(release, SPREAD_THE_RESULT, { value: `loadR4() was not awaited. ${USE}`, enumerable: true })
}

async function releaseFrom(source: R4Source | undefined, options: ReleaseOptions): Promise<Release> {
  if (source === undefined && hasPackageFiles()) return r4(options)
  return loadedFrom(source ?? new URL('../dist/r4.bin', import.meta.url), options)
}

/** Reads the release in `r4.bin`. @throws {TypeError} as `loadR4`. */
export async function loadedFrom(source: R4Source, options: ReleaseOptions): Promise<Release> {
  checkNode()
  const bytes = await unpacked(await bytesOf(source))
  const [types, searchParameters, definitions] = partsOf(bytes)
  return releaseOf({ definitions, types: json(types), searchParameters: json(searchParameters) }, options)
}

async function bytesOf(source: R4Source): Promise<Uint8Array<ArrayBuffer>> {
  if (isBytes(source)) return isBuffer(source.buffer) ? new Uint8Array(source.buffer, source.byteOffset, source.length) : source.slice()
  if (isBuffer(source)) return new Uint8Array(source)
  checkArgument('loadR4: the source', source, SOURCE)
  const response = isResponse(source) ? source : await fetchFile(source)
  if (!response.ok) throw notFound(response.url, `HTTP status ${response.status}`)
  return new Uint8Array(await response.arrayBuffer())
}

const SOURCE: MemberKind = {
  words: 'the address of r4.bin, a response of fetch, or bytes',
  is: (value) => typeof value === 'string' || (isObject(value) && ('ok' in value || 'href' in value)),
}

/** Checks a member that is used, because there are several classes named `Response`. */
function isResponse(source: string | URL | Response): source is Response {
  return typeof source === 'object' && 'ok' in source
}

async function fetchFile(address: string | URL): Promise<Response> {
  try {
    return await fetch(address)
  } catch (cause) {
    throw notFound(String(address), 'the request failed', cause)
  }
}

function notFound(address: string, reason: string, cause?: unknown): TypeError {
  return new TypeError(`r4.bin of @fhir-ops/r4 could not be loaded from ${address} (${reason}). Pass its address: await loadR4(url).`, {
    cause,
  })
}

/** Decompresses the bytes, unless a server or the runtime has already done so. */
async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

const MAX_HEADER = 100

/** Splits the file: a line with the lengths of the parts as a JSON object, then types, search parameters and definitions. */
function partsOf(bytes: Uint8Array): readonly [types: Uint8Array, searchParameters: Uint8Array, definitions: Uint8Array] {
  const line = text(bytes.subarray(0, MAX_HEADER)).split('\n', 1)[0] ?? ''
  const lengths = lengthsIn(line)
  if (lengths === undefined) throw new TypeError('The bytes are not those of r4.bin of this version of @fhir-ops/r4.')
  const start = line.length + 1
  const between = start + lengths.types
  const end = between + lengths.searchParameters
  return [bytes.subarray(start, between), bytes.subarray(between, end), bytes.subarray(end)]
}

function lengthsIn(line: string): { readonly types: number; readonly searchParameters: number } | undefined {
  if (!line.startsWith('{"r4":1,')) return undefined
  const header = JSON.parse(line)
  if (!isObject(header)) return undefined
  const { types, searchParameters } = header
  return typeof types === 'number' && typeof searchParameters === 'number' ? { types, searchParameters } : undefined
}

function json(bytes: Uint8Array): unknown {
  return JSON.parse(text(bytes))
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
