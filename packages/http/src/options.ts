/** How an upstream FHIR server is reached. */
export interface HttpStorageOptions {
  /** Base of the FHIR server, for example `https://fhir.example.org/fhir/R4`. Nothing else is ever connected to. */
  readonly baseUrl: string
  /** Bearer token for the upstream, or what gives the current one before each request. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Time for a call with all its tries, in milliseconds. Default 4,500. */
  readonly timeoutMs?: number
  /** Most bytes of one answer. Default 32 MiB. */
  readonly maxAnswerBytes?: number
  /** Most pages of one search. Default 1,000. */
  readonly maxPages?: number
  /** Secret that cursors are signed with; instances that share callers need the same. Default: random, for this storage only. */
  readonly cursorSecret?: string
}

/** The options with their defaults, checked. */
export interface HttpSettings {
  readonly base: URL
  readonly token: () => Promise<string | undefined>
  readonly fetch: typeof globalThis.fetch
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
  readonly maxPages: number
  readonly cursorSecret: string
}

/** @throws {TypeError} when `baseUrl` is no http or https address, or has credentials, a query or a fragment. */
export function settingsOf(options: HttpStorageOptions): HttpSettings {
  const { token } = options
  return {
    base: baseOf(options.baseUrl),
    token: async () => (typeof token === 'function' ? token() : token),
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: options.timeoutMs ?? 4_500,
    maxAnswerBytes: options.maxAnswerBytes ?? 32 * 1024 * 1024,
    maxPages: options.maxPages ?? 1_000,
    cursorSecret: options.cursorSecret ?? crypto.randomUUID(),
  }
}

/** Whether a link of the upstream stays below its base: the same origin, and a path under the base's. */
export function isBelow(base: URL, link: URL): boolean {
  const path = base.pathname.replace(/\/$/, '')
  return (
    link.origin === base.origin &&
    (link.pathname === path || link.pathname.startsWith(`${path}/`)) &&
    link.username === '' &&
    link.password === ''
  )
}

function baseOf(baseUrl: string): URL {
  const base = URL.parse(baseUrl)
  if (base === null || !['http:', 'https:'].includes(base.protocol)) throw new TypeError('baseUrl must be an http or https address.')
  if (base.username !== '' || base.password !== '' || base.search !== '' || base.hash !== '') {
    throw new TypeError('baseUrl must have no credentials, query or fragment.')
  }
  return base
}
