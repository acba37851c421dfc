import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkOptions, inputShape, type InputShape, type MemberKind, TEXT } from 'fhir-ops/internal/input'

/** Absolute path of the built page: copy the folder to any web server, and it runs there, with the engines in the browser. */
export const playgroundFolder: string = fileURLToPath(new URL('../dist/page', import.meta.url))

/** Options of `createPlayground`. */
export interface PlaygroundOptions {
  /** Path of the page, with a trailing slash. Default `/`. */
  readonly path?: string
  /** FHIR base of the server that the page uses, relative to the page. Default `fhir/R4`. */
  readonly fhirBase?: string
}

const PATH: MemberKind = {
  words: 'a path from a slash to a slash, such as /try/',
  is: (value) => typeof value === 'string' && /^\/(?:[^?#]*\/)?$/.test(value),
}

const SHAPE: InputShape = inputShape<PlaygroundOptions>({ path: PATH, fhirBase: TEXT })

/** Answers a request for the page or one of its files and returns true; returns false, without touching it, for any other request. */
export type Playground = (message: IncomingMessage, response: ServerResponse) => boolean

/** The page may only load its own parts and call its own server. */
const POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  bin: 'application/octet-stream',
}

/** The names of these files contain a hash of their content. */
const FOREVER = 'public, max-age=31536000, immutable'

/**
 * Serves the page next to a handler in `node:http`: `server.on('request', (message, response) => page(message, response) || listener(message,
 * response))`. It has no secrets: users enter their access tokens themselves, or open the page with `#token=...`.
 *
 * @throws {TypeError} for an option that is unknown or of another type, and for a path without its slashes.
 * @throws {Error} `ENOENT` before the package is built.
 */
export function createPlayground(options: PlaygroundOptions = {}): Playground {
  checkOptions('createPlayground', SHAPE, options)
  const { path = '/', fhirBase = 'fhir/R4' } = options
  const index = indexPage(fhirBase)
  const parts = partsBelow(path)
  return (message, response) => {
    if (message.method !== 'GET' && message.method !== 'HEAD') return false
    const [address = ''] = (message.url ?? '').split('?', 1)
    const isHead = message.method === 'HEAD'
    if (address === path) {
      const headers = { ...HEADERS, 'Content-Type': TYPES['html'], 'Cache-Control': 'no-cache', 'Content-Length': index.length }
      response.writeHead(200, headers).end(isHead ? undefined : index)
      return true
    }
    const part = parts.get(address)
    if (part === undefined) return false
    const { file, size, ...encoding } = takesGzip(message) ? part.gzip : part.plain
    response.writeHead(200, {
      ...HEADERS,
      'Content-Type': part.type,
      'Cache-Control': FOREVER,
      Vary: 'Accept-Encoding',
      'Content-Length': size,
      ...encoding,
    })
    if (isHead) response.end()
    else
      createReadStream(file)
        .on('error', () => response.destroy())
        .pipe(response)
    return true
  }
}

function indexPage(fhirBase: string): Buffer {
  const escaped = fhirBase.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const page = readFileSync(join(playgroundFolder, 'index.html'), 'utf8')
  return Buffer.from(page.replace('<meta name="fhir-base" content=""', () => `<meta name="fhir-base" content="${escaped}"`))
}

/** True if the client accepts gzip, that is, names it without a weight of 0. */
function takesGzip({ headers }: IncomingMessage): boolean {
  const codings = String(headers['accept-encoding'] ?? '').split(',')
  return codings.some((coding) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0{0,3})?\s*$).*)?$/i.test(coding))
}

interface Part {
  readonly type: string
  readonly plain: Content
  /** Content for clients that accept gzip; the plain content if the file is already compressed. */
  readonly gzip: Content
}

interface Content {
  readonly file: string
  readonly size: number
  readonly 'Content-Encoding'?: 'gzip'
}

/** Files that the page loads by address. Source maps are not served; they are for readers of the package. */
function partsBelow(path: string): ReadonlyMap<string, Part> {
  const folder = join(playgroundFolder, 'assets')
  const names = new Set(readdirSync(folder))
  const contentOf = (name: string): Content => ({ file: join(folder, name), size: statSync(join(folder, name)).size })
  return new Map(
    [...names].flatMap((name) => {
      const type = TYPES[name.split('.').at(-1) ?? '']
      if (type === undefined) return []
      const [plain, packed] = [contentOf(name), `${name}.gz`]
      const gzip = names.has(packed) ? { ...contentOf(packed), 'Content-Encoding': 'gzip' as const } : plain
      return [[`${path}assets/${name}`, { type, plain, gzip }] as const]
    }),
  )
}
