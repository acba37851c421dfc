import { OperationError } from 'fhir-ops/errors'

/** What the handler reads of a request. A `Request` is wrapped to this; servers of their own kind make it directly. */
export interface HttpRequest {
  readonly method: string
  /** Path and query as sent: `/fhir/R4/Patient?name=x`. */
  readonly target: string
  /** A header by its lower-case name; several lines of one name joined by commas. */
  header(name: string): string | undefined
  /** True when a body follows. */
  readonly hasBody: boolean
  /** Reading starts with the first chunk asked for; asked for once. @throws {OperationError} `unforeseen`, see `bodyTaken` */
  body(): AsyncIterable<Uint8Array>
  /**
   * The same, where a server has something quicker than an iterator: passes chunk by chunk, at once where all have arrived, and stops when `take`
   * throws. @throws as `take`, and as `body`
   */
  readBody?(take: (chunk: Uint8Array) => void): void | Promise<void>
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal | undefined
  /** The same, where a server has something quicker than a signal: calls back when the caller has gone, until the function that it returns is called. */
  onGone?(gone: () => void): () => void
}

/** What a server knows about the connection, besides the request. */
export interface Connection {
  /** Address of the peer's socket. */
  readonly remoteAddress?: string | undefined
  /** Names and values alternating, as they were received, so that repeated headers are seen. */
  readonly rawHeaders?: readonly string[] | undefined
}

/** How many lines of a header came in, by its lower-case name. */
export function linesOf({ rawHeaders = [] }: Pick<Connection, 'rawHeaders'>, header: string): number {
  let lines = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === header.length && name.toLowerCase() === header) lines++
  }
  return lines
}

/** By what is used of one: there is more than one class of that name. */
function isWebRequest(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || !('url' in given && 'headers' in given)) return false
  const { url, headers } = given
  return typeof url === 'string' && typeof headers === 'object' && headers !== null && 'get' in headers
}

/** Wraps a web-standard request. @throws {TypeError} for anything else, such as the request of Node that Express gives. */
export function fromWebRequest(request: Request): HttpRequest {
  if (!isWebRequest(request))
    throw new TypeError(
      'The handler takes a web-standard Request. toNodeListener of @fhir-ops/handler/node makes a listener for Node and Express of it.',
    )
  // A fragment is for the caller and is not sent.
  const [url = ''] = request.url.split('#', 1)
  const path = url.indexOf('/', url.indexOf('://') + 3)
  return {
    method: request.method,
    target: path < 0 ? '/' : url.slice(path),
    header: (name) => request.headers.get(name) ?? undefined,
    hasBody: request.body !== null,
    body: () => {
      if (request.bodyUsed) throw bodyTaken()
      return chunksOf(request.body)
    },
    signal: request.signal,
  }
}

/** The failure of a host that read a body before the handler did: what is left of it must not be taken for an empty one. */
export function bodyTaken(): OperationError {
  return new OperationError(
    'unforeseen',
    'The body was read before it came to the handler, which must be mounted before all that reads bodies.',
  )
}

async function* chunksOf(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void, undefined> {
  if (stream === null) return
  const reader = stream.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
  } finally {
    // A reader that stops early must not leave the sender waiting.
    await reader.cancel().catch(() => {})
  }
}
