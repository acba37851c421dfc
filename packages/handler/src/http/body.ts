import { OperationError } from 'fhir-ops/errors'
import { BOT_CONTENT_TYPES } from 'fhir-ops/internal/execute'
import { isObject, readStrictJson, readStrictValue, type JsonObject } from 'fhir-ops/internal/json'
import { decodeUtf8, joinedBytes, chunksOf } from 'fhir-ops/internal/text'
import { after, attempt, type Awaitable, type Work } from 'fhir-ops/internal/work'
import { strictWithin, type HandlerLimits } from '../limits.js'
import type { HttpRequest } from './http-request.js'
import { bodyTypeOf, checkContentType, OTHER_JSON_TYPES } from './negotiation.js'

/** A request's body, read and decoded. */
export interface Body {
  /** Media type, normalized by `bodyTypeOf`. */
  readonly mediaType: string
  /** The content of a Binary as it was sent; empty for all other bodies, which have their text. */
  readonly bytes: Uint8Array
  /** Strict UTF-8, without byte order mark. */
  readonly text: string
  /** Present for kinds that are JSON; absent for a list, which only a patch can be. */
  readonly json?: JsonObject | undefined
}

/** How a route reads its body. */
interface BodyReading {
  /** Allowed media types. */
  readonly mediaTypes: readonly string[] | 'any'
  /** With `untyped`, a Content-Type announces a body. */
  readonly optional?: boolean | 'untyped'
  readonly json?: boolean
}

const FHIR_TYPES: readonly string[] = ['application/fhir+json', 'application/json']
export const FORM = 'application/x-www-form-urlencoded'

/** Supported media types of patches: JSON Patch and FHIRPath Patch. */
export const PATCH_TYPES: readonly string[] = ['application/json-patch+json', ...FHIR_TYPES]

/** The header `Accept-Patch`: the media types of patches, and the other names of JSON that do not end in `+json`. */
export const ACCEPT_PATCH: readonly [string, string] = ['Accept-Patch', [...PATCH_TYPES, ...OTHER_JSON_TYPES].join(', ')]

/**
 * How a route uses its body: `fhir` is a resource, `optional-fhir` a resource that may be absent, `fhir-text` the same, but parsed by the operation,
 * `bot` whatever a bot reads, `patch` a list or an object, `binary` a Binary or its content; `none` leaves the body unread.
 */
export type BodyKind =
  | 'none'
  | 'fhir'
  | 'optional-fhir'
  | 'fhir-text'
  | 'patch'
  | 'binary'
  | 'optional-json'
  | 'form'
  | 'optional-form'
  | 'bot'

const BODY_KINDS: Readonly<Record<Exclude<BodyKind, 'none'>, BodyReading>> = {
  fhir: { mediaTypes: FHIR_TYPES, json: true },
  'optional-fhir': { mediaTypes: FHIR_TYPES, json: true, optional: 'untyped' },
  'fhir-text': { mediaTypes: FHIR_TYPES, optional: 'untyped' },
  patch: { mediaTypes: PATCH_TYPES },
  binary: { mediaTypes: 'any' },
  'optional-json': { mediaTypes: FHIR_TYPES, json: true, optional: true },
  form: { mediaTypes: [FORM] },
  'optional-form': { mediaTypes: [FORM], optional: true },
  bot: { mediaTypes: BOT_CONTENT_TYPES.map(({ mediaType }) => mediaType) },
}

/** True if a request may have no body. */
export function mayBeAbsent(kind: BodyKind): boolean {
  return kind === 'none' || BODY_KINDS[kind].optional !== undefined
}

/** Checks type and declared length of a body, before it is read. @throws {OperationError} */
export function checkBodyHead(request: HttpRequest, kind: BodyKind, maxBytes: number): void {
  const reading = readingOf(kind)
  if (reading === undefined || isAbsent(request, reading) || mayBeEmpty(request, reading)) return
  checkContentType(request, reading.mediaTypes)
  checkDeclaredLength(request, maxBytes)
}

/** Longest body, in bytes, that never waits for room. */
export const SHORT_BODY: number = 64 * 1024

/** Reads a body in full, without parsing it; `undefined` if the route reads none or an optional one is absent. @throws {OperationError} as `readBytes` */
export function readBytesOf(request: HttpRequest, kind: BodyKind, maxBytes: number): Awaitable<Uint8Array | undefined> {
  const reading = readingOf(kind)
  return reading === undefined || isAbsent(request, reading) ? undefined : readBytes(request, maxBytes)
}

/** Parses a body. @throws {OperationError} as `decodeUtf8` and `readStrictJson`. */
export function* parsingBody(request: HttpRequest, { kind, bytes, limits }: RawBody): Work<Body | undefined> {
  const reading = readingOf(kind)
  if (reading === undefined || bytes === undefined || (reading.optional === true && bytes.length === 0)) return undefined
  if (mayBeEmpty(request, reading)) checkContentType(request, reading.mediaTypes)
  if (kind === 'binary' && !isBinaryResource(request, bytes)) return { mediaType: bodyTypeOf(request), bytes, text: '' }
  const text = decodeUtf8(bytes)
  freeLong(bytes)
  const mediaType = bodyTypeOf(request)
  if (kind === 'patch') {
    const value = yield* readStrictValue(text, strictWithin(limits))
    return { mediaType, bytes: NO_BYTES, text, json: isObject(value) ? value : undefined }
  }
  const isJson = kind === 'bot' || kind === 'binary' ? FHIR_TYPES.includes(mediaType) : reading.json === true
  return {
    mediaType,
    bytes: NO_BYTES,
    text,
    ...(isJson && { json: yield* readStrictJson(text, strictWithin(limits)) }),
  }
}

const NO_BYTES = new Uint8Array()

/** Frees the bytes of a long body, which have a buffer of their own: they could otherwise be in memory until much more has been read. */
function freeLong({ buffer, byteLength }: Uint8Array): void {
  if (byteLength > SHORT_BODY && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** FHIR JSON is a resource; other JSON is one only if it says so. @see https://hl7.org/fhir/R4/binary.html#rest */
function isBinaryResource(request: HttpRequest, bytes: Uint8Array): boolean {
  const mediaType = bodyTypeOf(request)
  if (mediaType !== 'application/json') return mediaType === 'application/fhir+json'
  return /^\s*\{[\s\S]*"resourceType"\s*:\s*"Binary"/.test(new TextDecoder().decode(bytes.subarray(0, HEAD_BYTES)))
}

/** Bytes at the beginning in which a resource usually states its type. */
const HEAD_BYTES = 4_096

/** A body that was read, and what is needed to parse it. */
interface RawBody {
  readonly kind: BodyKind
  readonly bytes: Uint8Array | undefined
  readonly limits: HandlerLimits
}

/** Returns how a kind of body is read; `undefined` for `none`. */
export function readingOf(kind: BodyKind): BodyReading | undefined {
  return kind === 'none' ? undefined : BODY_KINDS[kind]
}

function isAbsent(request: HttpRequest, { optional }: BodyReading): boolean {
  const isEmpty = !request.hasBody || request.header('content-length') === '0'
  return isEmpty && (optional === true || (optional === 'untyped' && request.header('content-type') === undefined))
}

/** Web-standard requests may have a stream even if nothing was sent. An empty body has no type that could be wrong. */
function mayBeEmpty(request: HttpRequest, reading: BodyReading): boolean {
  return reading.optional === true && request.header('content-length') === undefined
}

/** @throws {OperationError} `body-too-long` if the declared length is above the limit. Nothing is read. */
function checkDeclaredLength(request: HttpRequest, maxBytes: number): void {
  checkLength(Number(request.header('content-length') ?? 0), maxBytes)
}

/** @throws {OperationError} `body-too-long` above the limit. */
export function checkLength(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new OperationError('body-too-long', `The body is longer than ${maxBytes} bytes.`)
}

/**
 * Reads a body up to its limit, and nothing beyond.
 *
 * @throws {OperationError} `body-too-long`; `aborted` if the sender stops before the end.
 */
function readBytes(request: HttpRequest, maxBytes: number): Awaitable<Uint8Array> {
  const chunks: Uint8Array[] = []
  const declared = Number(request.header('content-length'))
  let buffer = new ArrayBuffer()
  let length = 0
  let gathered = 0
  /** Copies the chunks of a long body, so that their memory is free again while more of it arrives. */
  const gather = (): void => {
    const expected = declared >= length ? declared : 2 * length
    if (length > buffer.byteLength) buffer = buffer.transfer(Math.min(expected, maxBytes))
    for (const chunk of chunks.splice(0)) {
      new Uint8Array(buffer).set(chunk, gathered)
      gathered += chunk.length
    }
  }
  const take = (chunk: Uint8Array): void => {
    length += chunk.length
    checkLength(length, maxBytes)
    chunks.push(chunk)
    if (length > SHORT_BODY) gather()
  }
  const reading = (): Awaitable<void> => (request.readBody === undefined ? readEach(request.body(), take) : request.readBody(take))
  const failed = (cause: unknown): never => {
    if (cause instanceof OperationError) throw cause
    throw new OperationError('aborted', 'The request ended before its body did.', { cause })
  }
  return after(attempt(reading, failed), () => {
    if (length > SHORT_BODY) return new Uint8Array(buffer, 0, length)
    return (chunks.length === 1 ? chunks[0] : undefined) ?? joinedBytes(chunks)
  })
}

async function readEach(chunks: AsyncIterable<Uint8Array>, take: (chunk: Uint8Array) => void): Promise<void> {
  for await (const chunk of chunks) take(chunk)
}

const NAMES: readonly string[] = ['gzip', 'x-gzip']

/**
 * Inflates the body of a request while it is read, if the request says that it is in gzip; returns other requests as they are. Reading the body fails with
 * `body-invalid` if it is damaged, and with `body-too-long` if it inflates to much more, or to less, than what arrives.
 */
export function inflatedRequest(request: HttpRequest): HttpRequest {
  if (!request.hasBody || !NAMES.includes(request.header('content-encoding')?.trim().toLowerCase() ?? '')) return request
  return {
    method: request.method,
    target: request.target,
    hasBody: true,
    header: (name) => (name === 'content-encoding' ? undefined : request.header(name)),
    body: () => inflated(request.body()),
    get signal() {
      return request.signal
    },
    ...(request.onGone !== undefined && { onGone: request.onGone.bind(request) }),
  }
}

/** How many times as long as what has arrived a body of more than 64 KiB may be. */
const MAX_RATIO = 100

/** How many bytes may arrive beyond those that they inflate to: a body can consist of empty blocks without end. */
const MAX_EMPTY = 1024 * 1024

async function* inflated(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = body[Symbol.asyncIterator]()
  let arrived = 0
  let length = 0
  /** Why no more arrives. Any other failure is damage in what has arrived. */
  let failure: unknown
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const part = await chunks.next()
    arrived += part.done === true ? 0 : part.value.length
    if (arrived > length + MAX_EMPTY) throw new OperationError('body-too-long', 'The body inflates to less than its length.')
    return part
  }
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await next()
        if (done === true) controller.close()
        else controller.enqueue(new Uint8Array(value))
      } catch (cause) {
        failure = cause
        throw cause
      }
    },
    cancel: async () => void (await chunks.return?.()),
  })
  try {
    for await (const chunk of chunksOf(source.pipeThrough(new DecompressionStream('gzip')))) {
      length += chunk.length
      if (length > SHORT_BODY && length > MAX_RATIO * arrived)
        throw new OperationError('body-too-long', `The body inflates to more than ${MAX_RATIO} times its length.`)
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof OperationError) throw cause
    throw failure ?? new OperationError('body-invalid', 'The body is not in gzip, or it is damaged.', { cause })
  }
}
