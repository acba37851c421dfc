import { isObject, stringAt, type JsonObject } from 'fhir-ops/json'
import { rejected } from 'fhir-ops/sessions'
import { base64url } from 'jose'

/** The parts of a signed token, decoded and not yet trusted. */
export interface JwtShape {
  readonly header: JsonObject
  readonly payload: JsonObject
}

const MAX_LENGTH = 8_192

/** Members that change how a token is read; none of them is used here. */
const REFUSED: readonly string[] = ['crit', 'b64', 'zip', 'enc']

/**
 * Takes a token apart before any cryptography (TK-03): three parts in the base64url alphabet, at most 8 KiB, two JSON objects.
 *
 * @returns `undefined` for what is not a signed token.
 */
export function jwtShape(token: string): JwtShape | undefined {
  if (token.length > MAX_LENGTH || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined
  const [header, payload] = token.split('.').map(objectIn)
  return header === undefined || payload === undefined ? undefined : { header, payload }
}

/** @throws {OperationError} `token-invalid` for a header that asks for more than a signature of one of these algorithms and types. */
export function checkHeader(
  header: JsonObject,
  { algorithms, typ }: { readonly algorithms: readonly string[]; readonly typ: readonly string[] },
): void {
  const isRefused = REFUSED.some((name) => Object.hasOwn(header, name))
  const isSigned = algorithms.includes(stringAt(header, 'alg') ?? '')
  const isTyped = typ.includes((stringAt(header, 'typ') ?? '').toLowerCase().replace(/^application\//, ''))
  if (isRefused || !isSigned || !isTyped) throw rejected('malformed')
}

function objectIn(part: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(base64url.decode(part)))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
