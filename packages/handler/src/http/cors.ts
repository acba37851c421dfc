import type { Answer } from './answer.js'
import type { HttpRequest } from './http-request.js'

/** Which pages of other origins may call the service. Credentials of the browser are never asked for. */
export interface CorsOptions {
  /** Exact origins, or `*` for all. */
  readonly origins: readonly string[]
}

const EXPOSED = 'ETag, Location, Last-Modified, WWW-Authenticate, Retry-After, X-Request-Id'
const ALLOWED = 'Authorization, Content-Type, Accept, Accept-Language, If-Match, If-None-Match, Prefer, X-Request-Id'

/** What a browser needs to hand the answer to an allowed origin's page. Without `cors`, nothing. */
export function corsHeaders(answer: Answer, request: HttpRequest, cors: CorsOptions | undefined): Answer['headers'] {
  if (cors === undefined) return []
  const allowed = allowedOrigin(request.header('origin'), cors)
  if (allowed === undefined) return [['Vary', 'Origin']]
  return [
    ['Vary', 'Origin'],
    ['Access-Control-Allow-Origin', allowed],
    ['Access-Control-Expose-Headers', EXPOSED],
    ...preflight(answer, request),
  ]
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
    ['Access-Control-Allow-Headers', ALLOWED],
    ['Access-Control-Max-Age', '600'],
  ]
}
