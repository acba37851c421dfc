import { OperationError } from 'fhir-ops/errors'
import { withBlanks } from 'fhir-ops/internal/text'

/** A request's path and query, decoded once. */
export interface Target {
  /** Segments of the path after WHATWG normalization; a trailing slash does not add a segment. */
  readonly segments: readonly string[]
  /** Names and values in order. */
  readonly query: readonly (readonly [string, string])[]
  /** The query as sent, without the question mark. */
  readonly rawQuery: string
}

/** Limits on a request's target. */
export interface TargetLimits {
  /** Maximum length of path and query, in bytes. */
  readonly urlBytes: number
  /** Maximum number of parameters in a query. */
  readonly queryParameters: number
}

/**
 * Splits and decodes a request's target.
 *
 * @throws {OperationError} `url-too-long`, `parameter-too-long` for too many parameters, `parameter-invalid` for a target that is not a
 *   path, has a fragment, or has a malformed percent-encoding, invalid UTF-8 or a NUL.
 */
export function parseTarget(target: string, limits: TargetLimits): Target {
  if (target.length > limits.urlBytes) throw new OperationError('url-too-long', `The URL is longer than ${limits.urlBytes} bytes.`)
  if (!target.startsWith('/') || target.includes('#')) throw new OperationError('parameter-invalid', MALFORMED)
  const { pathname, search } = isPlain(target) ? splitAt(target) : new URL(`http://localhost${target}`)
  const rawQuery = search.slice(1)
  return { segments: segmentsOf(pathname), query: parseQuery(rawQuery, limits), rawQuery }
}

/** True if a URL parser would leave the target unchanged (no dot segments, nothing to encode). Such a parser takes longer than the rest of this function. */
function isPlain(target: string): boolean {
  return !target.includes('/.') && PLAIN.test(target)
}

const PLAIN = /^\/[\w/$.~-]*(?:\?[\w/$.~=&+:,;%|!*()@-]*)?$/

function splitAt(target: string): Pick<URL, 'pathname' | 'search'> {
  const mark = target.indexOf('?')
  return mark < 0 ? { pathname: target, search: '' } : { pathname: target.slice(0, mark), search: target.slice(mark) }
}

function segmentsOf(pathname: string): readonly string[] {
  const path = pathname.endsWith('/') ? pathname.slice(1, -1) : pathname.slice(1)
  return path === '' ? [] : path.split('/').map((segment) => decoded(segment, MALFORMED))
}

/** Parses a form to names and values. @throws {OperationError} `parameter-too-long` for too many; `parameter-invalid` if it is malformed. */
export function parseForm(text: string, limits: Pick<TargetLimits, 'queryParameters'>): Target['query'] {
  return pairsOf(text, limits, 'The form is not well-formed: percent-encoded UTF-8 is expected.')
}

/** Parses a query; a plus is a space, as in `withBlanks`. @throws {OperationError} as `parseTarget`. */
export function parseQuery(text: string, limits: Pick<TargetLimits, 'queryParameters'>): Target['query'] {
  return pairsOf(text, limits, MALFORMED)
}

/** @param malformed Message for a malformed text. */
function pairsOf(text: string, limits: Pick<TargetLimits, 'queryParameters'>, malformed: string): Target['query'] {
  const pairs = text.split('&').filter((pair) => pair !== '')
  if (pairs.length > limits.queryParameters) {
    throw new OperationError('parameter-too-long', `There are more than ${limits.queryParameters} parameters.`)
  }
  return pairs.map((pair) => {
    const equals = pair.indexOf('=')
    const end = equals < 0 ? pair.length : equals
    return [formDecoded(pair.slice(0, end), malformed), formDecoded(pair.slice(end + 1), malformed)]
  })
}

/** Returns the value of a parameter that may occur once. @throws {OperationError} `parameter-invalid` if it is repeated. */
export function onlyValue(query: Target['query'], name: string): string | undefined {
  const [first, another] = query.filter(([given]) => given === name)
  if (another !== undefined)
    throw new OperationError('parameter-invalid', `Parameter '${name}' is given more than once.`, { expression: [name] })
  return first?.[1]
}

function formDecoded(text: string, malformed: string): string {
  return decoded(withBlanks(text), malformed)
}

function decoded(text: string, malformed: string): string {
  if (!text.includes('%')) return text
  const plain = strictlyDecoded(text, malformed)
  if (plain.includes('\u0000')) throw new OperationError('parameter-invalid', malformed)
  return plain
}

function strictlyDecoded(text: string, malformed: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new OperationError('parameter-invalid', malformed, { cause })
  }
}

const MALFORMED = 'The URL is not well-formed: a path with percent-encoded UTF-8 is expected.'
