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

/** True for addresses of our own proxies. */
export type IsTrusted = (address: string) => boolean

/**
 * The caller's address: the socket's peer or, behind trusted proxies, the right-most address in `X-Forwarded-For` that is not a trusted proxy. If there
 * is something else in its place, such as `unknown`, the peer: the caller may have written whatever is to the left of it.
 */
export function remoteHostOf(request: HttpRequest, connection: Connection, isTrusted: IsTrusted): string | undefined {
  const peer = connection.remoteAddress
  if (peer === undefined || !isTrusted(peer)) return peer
  const forwarded = (request.header('x-forwarded-for') ?? '').split(',').map((part) => part.trim())
  const addresses = forwarded.filter((part) => part !== '').map(addressIn)
  return addresses.findLast((address) => address === undefined || !isTrusted(address)) ?? peer
}

/** Some proxies add the port, and then brackets to addresses of IPv6. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/

function addressIn(entry: string): string | undefined {
  const [, ipv6, ipv4] = WITH_PORT.exec(entry) ?? []
  const address = ipv6 ?? ipv4 ?? entry
  return bitsOf(address) === undefined ? undefined : address
}

/**
 * Parses a list of proxy networks in CIDR form or single addresses, IPv4 and IPv6.
 *
 * @throws {TypeError} for an entry that is neither.
 */
export function trustedNetworks(list: readonly string[]): IsTrusted {
  const networks = list.map(networkOf)
  if (networks.length === 0) return () => false
  return (address) => {
    const bits = bitsOf(address)
    return bits !== undefined && networks.some((prefix) => bits.startsWith(prefix))
  }
}

function networkOf(text: string): string {
  const [address = '', length] = text.split('/')
  const bits = bitsOf(address)
  const width = address.includes(':') ? 128 : 32
  const prefix = length === undefined ? width : Number(length)
  if (bits === undefined || !Number.isInteger(prefix) || prefix < 0 || prefix > width) {
    throw new TypeError(`trustProxy: ${text} is not an address or network.`)
  }
  return bits.slice(0, 128 - width + prefix)
}

/** The 128 bits of an address as a string of binary digits; IPv4 in its mapped form `::ffff:a.b.c.d`. */
function bitsOf(address: string): string | undefined {
  const mapped = address.toLowerCase().startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
  return mapped.includes(':') ? ipv6Bits(mapped) : ipv4Bits(mapped)
}

function ipv4Bits(address: string): string | undefined {
  const parts = address.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined
  return '0'.repeat(80) + '1'.repeat(16) + parts.map((part) => Number(part).toString(2).padStart(8, '0')).join('')
}

function ipv6Bits(address: string): string | undefined {
  const [head = '', tail, ...more] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const gap = 8 - left.length - right.length
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(gap, 0)).fill('0'), ...right]
  if (more.length > 0 || groups.length !== 8 || !groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.map((group) => parseInt(group, 16).toString(2).padStart(16, '0')).join('')
}
