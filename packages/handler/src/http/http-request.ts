import { OperationError } from 'fhir-ops/errors'
import { bodyStream, chunksOf } from 'fhir-ops/internal/text'

/** The part of a request that the handler reads. A `Request` is wrapped in this; other kinds of servers create it directly. */
export interface HttpRequest {
  readonly method: string
  /** Path and query as sent: `/fhir/R4/Patient?name=x`. */
  readonly target: string
  /** Returns a header by its lower-case name; several headers of one name are joined by commas. */
  header(name: string): string | undefined
  /** True if a body follows. */
  readonly hasBody: boolean
  /** Reads the body, starting when the first chunk is requested. May be called once. @throws {OperationError} `unforeseen`, see `bodyTaken` */
  body(): AsyncIterable<Uint8Array>
  /**
   * A faster alternative to `body`, if the server has one: passes each chunk to `take`, synchronously if all have arrived, and stops if `take` throws.
   * @throws as `take`, and as `body`
   */
  readBody?(take: (chunk: Uint8Array) => void): void | Promise<void>
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal | undefined
  /** A cheaper alternative to `signal`, if the server has one: calls `gone` when the caller has gone, until the returned function is called. */
  onGone?(gone: () => void): () => void
}

/** What a server knows about the connection. */
export interface Connection {
  /** Remote address of the socket. */
  readonly remoteAddress?: string | undefined
  /** Names and values in turn, as received, so that repeated headers can be detected. */
  readonly rawHeaders?: readonly string[] | undefined
}

/** Counts the occurrences of a header, given its lower-case name. */
export function linesOf({ rawHeaders = [] }: Pick<Connection, 'rawHeaders'>, header: string): number {
  let lines = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === header.length && name.toLowerCase() === header) lines++
  }
  return lines
}

/** Checks the members that are used, because there are several classes named `Request`. */
function isWebRequest(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || !('url' in given && 'headers' in given)) return false
  const { url, headers } = given
  return typeof url === 'string' && typeof headers === 'object' && headers !== null && 'get' in headers
}

/** Wraps a web-standard request. @throws {TypeError} for anything else, such as the Node request that Express passes. */
export async function fromWebRequest(request: Request): Promise<HttpRequest> {
  if (!isWebRequest(request))
    throw new TypeError(
      'The handler takes a web-standard Request. toNodeListener of @fhir-ops/handler/node makes a listener for Node and Express of it.',
    )
  const isTaken = request.bodyUsed
  const stream = isTaken ? request.body : await bodyStream(request)
  // Clients do not send fragments; `Request` keeps them.
  const [url = ''] = request.url.split('#', 1)
  const path = url.indexOf('/', url.indexOf('://') + 3)
  return {
    method: request.method,
    target: path < 0 ? '/' : url.slice(path),
    header: (name) => request.headers.get(name) ?? undefined,
    hasBody: stream !== null,
    body: () => {
      if (isTaken || stream?.locked === true) throw bodyTaken()
      return chunksOf(stream, request.signal)
    },
    signal: request.signal,
  }
}

/** The error if the host has read the body before the handler: the rest of it must not be mistaken for an empty body. */
export function bodyTaken(): OperationError {
  return new OperationError(
    'unforeseen',
    'The body was read before it came to the handler, which must be mounted before all that reads bodies.',
  )
}
