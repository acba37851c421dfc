import { OperationError } from 'fhir-ops/errors'
import { withBlanks } from 'fhir-ops/internal/text'

/** A request's path and query, decoded once. */
export interface Target {
  /** Segments of the path after WHATWG normalisation; a slash at the end makes no segment. */
  readonly segments: readonly string[]
  /** Names and values in their order. */
  readonly query: readonly (readonly [string, string])[]
  /** The query as sent, without the question mark. */
  readonly rawQuery: string
}

/** Bounds on a request's target. */
export interface TargetLimits {
  readonly urlBytes: number
  readonly queryParameters: number
}

/**
 * Takes a request's target apart.
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

/** True for what a parser of URLs, which takes longer than the rest of this, leaves as it is: no dot segments, nothing to encode. */
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

/** Names and values of a form. @throws {OperationError} `parameter-too-long` for too many; `parameter-invalid` where it is not well-formed. */
export function parseForm(text: string, limits: Pick<TargetLimits, 'queryParameters'>): Target['query'] {
  return pairsOf(text, limits, 'The form is not well-formed: percent-encoded UTF-8 is expected.')
}

/** Decodes a query; a plus is a blank, as `withBlanks` has it. @throws {OperationError} as `parseTarget`. */
export function parseQuery(text: string, limits: Pick<TargetLimits, 'queryParameters'>): Target['query'] {
  return pairsOf(text, limits, MALFORMED)
}

/** @param malformed What is said of a text that is not well-formed. */
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

/** The value of a parameter that may be given once. @throws {OperationError} `parameter-invalid` for a repeated one. */
export function onlyValue(query: Target['query'], name: string): string | undefined {
  const [first, another] = query.filter(([given]) => given === name)
  if (another !== undefined) throw new OperationError('parameter-invalid', `Parameter '${name}' is given more than once.`)
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
