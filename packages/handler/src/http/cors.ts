import type { Answer } from './answer.js'
import type { HttpRequest } from './http-request.js'

/** Which web pages of other origins may call the service. */
export interface CorsOptions {
  /** Exact origins (`https://app.example`, with a port if it is not the default of the scheme), or `*` for all. */
  readonly origins: readonly string[]
  /**
   * Allows the listed origins to send the browser's credentials, such as cookies, which the service ignores: for pages whose client always sends them,
   * such as Medplum's. Not possible with `*`. Default false.
   */
  readonly credentials?: boolean
}

/** Response headers that scripts may read, besides those that all may read. */
const EXPOSED = [
  'Accept-Patch',
  'Allow',
  'Content-Disposition',
  'Content-Location',
  'ETag',
  'Expires',
  'Last-Modified',
  'Location',
  'Preference-Applied',
  'Retry-After',
  'WWW-Authenticate',
  'X-Progress',
  'X-Request-Id',
  'X-Security-Context',
].join(', ')

/** Returns the headers that a browser needs to hand the answer to a page of an allowed origin; none without `cors`. */
export function corsHeaders(answer: Answer, request: HttpRequest, cors: CorsOptions | undefined): Answer['headers'] {
  if (cors === undefined) return []
  const allowed = allowedOrigin(request.header('origin'), cors)
  const vary = ['Vary', request.method === 'OPTIONS' ? 'Origin, Access-Control-Request-Headers' : 'Origin'] as const
  if (allowed === undefined) return [vary]
  return [
    vary,
    ['Access-Control-Allow-Origin', allowed],
    ...(cors.credentials === true ? [['Access-Control-Allow-Credentials', 'true'] as const] : []),
    ['Access-Control-Expose-Headers', EXPOSED],
    ...preflight(answer, request),
  ]
}

/** True if this is a browser's preflight request for a page of an allowed origin. */
export function isPreflight(request: HttpRequest, cors: CorsOptions | undefined): boolean {
  const isAsked = request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined
  return isAsked && cors !== undefined && allowedOrigin(request.header('origin'), cors) !== undefined
}

/** @throws {TypeError} for a text that no browser sends as an origin, because it would never match; and for credentials with all origins. */
export function checkOrigins({ origins, credentials = false }: CorsOptions): void {
  if (credentials && origins.includes('*')) throw new TypeError("createHandler: cors.credentials needs origins by name, not '*'.")
  const wrong = origins.find((origin) => origin !== '*' && !isOrigin(origin))
  if (wrong !== undefined)
    throw new TypeError(
      `createHandler: cors.origins has ${JSON.stringify(wrong)}, which is not an origin such as 'https://app.example', nor '*'.`,
    )
}

/** True for a text that a browser can send as an origin: scheme, host and port, no path. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { origin, protocol, host } = new URL(text)
  return origin === 'null' ? text === `${protocol}//${host}` : text === origin
}

function allowedOrigin(origin: string | undefined, { origins }: CorsOptions): string | undefined {
  if (origin === undefined) return undefined
  if (origins.includes('*')) return '*'
  return origins.includes(origin) ? origin : undefined
}

function preflight(answer: Answer, request: HttpRequest): Answer['headers'] {
  if (request.method !== 'OPTIONS') return []
  const methods = answer.headers.find(([name]) => name === 'Allow')?.[1] ?? 'GET'
  return [
    ['Access-Control-Allow-Methods', methods],
    ['Access-Control-Allow-Headers', allowedHeaders(request)],
    ['Access-Control-Max-Age', '600'],
    // Requested by Chromium if a page of the internet calls a service in the local network.
    ...(request.header('access-control-request-private-network') === 'true'
      ? [['Access-Control-Allow-Private-Network', 'true'] as const]
      : []),
  ]
}

const USUAL =
  'Authorization, Content-Type, Accept, Accept-Language, If-Match, If-None-Match, If-None-Exist, If-Modified-Since, Prefer, X-Request-Id'
const MOST_HEADERS = 64

/**
 * Clients send headers of their own, which are ignored. The answer repeats the requested list. This is safe: secrets are only in headers that the page
 * sets itself, so allowing one more name gives the page nothing.
 */
function allowedHeaders(request: HttpRequest): string {
  const asked = (request.header('access-control-request-headers') ?? '').split(',').map((name) => name.trim())
  const names = asked.filter((name) => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name)).slice(0, MOST_HEADERS)
  return names.length === 0 ? USUAL : names.join(', ')
}
