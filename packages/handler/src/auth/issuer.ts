import { isObject, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { MemberKind } from 'fhir-ops/internal/input'
import { chunksOf } from 'fhir-ops/internal/text'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'

/** An address of an issuer, and the maximum size of its answers. */
interface IssuerEndpoint {
  readonly uri: string
  readonly fetch: typeof fetch
  readonly maxBytes: number
}

const TIMEOUT_MS = 5_000

/**
 * Fetches a JSON object from an issuer: within 5 seconds, without redirects, at most `maxBytes`.
 *
 * @throws any failure as it is; its text is for the operator only.
 */
export async function issuerJson({ uri, fetch, maxBytes }: IssuerEndpoint, init: RequestInit): Promise<JsonObject> {
  const response = await fetch(uri, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  const body: unknown = JSON.parse(await boundedText(response, maxBytes))
  if (!response.ok || !isObject(body)) throw new TypeError('The issuer gave no object.')
  return body
}

async function boundedText({ body }: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let length = 0
  for await (const chunk of chunksOf(body)) {
    length += chunk.length
    if (length > maxBytes) throw new TypeError('The answer of the issuer is too long.')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** An address of an issuer, or a function that finds it whenever it is needed, so that the issuer need not run before this service. */
export type IssuerAddress = string | (() => Promise<string>)

/** An `IssuerAddress` in plain JavaScript. */
export const ADDRESS: MemberKind = {
  words: 'an address, or a function that finds it out',
  is: (value) => typeof value === 'string' || typeof value === 'function',
}

/** @returns A function that resolves the address and checks it with `checkIssuerUri`. @throws {TypeError} immediately for a text that is not an address. */
export function issuerAddress(
  name: string,
  { uri, allowInsecureLoopback }: { readonly uri: IssuerAddress; readonly allowInsecureLoopback: boolean },
): () => Promise<string> {
  const checked = (found: string): string => {
    checkIssuerUri(name, { uri: found, allowInsecureLoopback })
    return found
  }
  if (typeof uri === 'function') return async () => checked(await uri())
  checked(uri)
  return async () => uri
}

/** The addresses are matched in full: a name such as `127.example.org` is not a loopback address. */
const LOOPBACK = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/

/** @throws {TypeError} for an address that names a user or is neither https nor, if allowed, http on the loopback interface. */
function checkIssuerUri(
  name: string,
  { uri, allowInsecureLoopback }: { readonly uri: string; readonly allowInsecureLoopback: boolean },
): void {
  const address = URL.parse(uri)
  if (address === null) throw new TypeError(`${name} must be an https address.`)
  const { protocol, hostname, username, password } = address
  if (username + password !== '') throw new TypeError(`${name} must be an address without user and password.`)
  if (protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname) && allowInsecureLoopback)) return
  throw new TypeError(`${name} must be an https address.`)
}

/** Members of a SMART configuration, by their names in the specification. @see https://hl7.org/fhir/smart-app-launch/conformance.html */
export type SmartConfiguration = Readonly<Record<string, string | boolean | readonly string[]>>

/** The part of an OpenID provider's discovery document that verifiers need. */
export interface DiscoveredIssuer {
  readonly jwksUri: string
  /** Absent if the provider does not offer introspection. */
  readonly introspectionEndpoint?: string
  /** All strings, booleans and lists of strings in the document, by name; for `smartConfiguration`. */
  readonly published: SmartConfiguration
}

const MAX_BYTES = 256 * 1024

/**
 * Reads the discovery document of an OpenID provider, once.
 *
 * @param issuer The provider's identifier: https, or http for a provider on the loopback interface.
 * @throws {TypeError} for another address. @throws {OperationError} `unavailable` if there is no document of this issuer.
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
 */
export async function discoverIssuer(issuer: string): Promise<DiscoveredIssuer> {
  checkIssuerUri('issuer', { uri: issuer, allowInsecureLoopback: true })
  const document = await documentOf(issuer)
  const [jwksUri, introspectionEndpoint] = [stringAt(document, 'jwks_uri'), stringAt(document, 'introspection_endpoint')]
  if (stringAt(document, 'issuer') !== issuer || jwksUri === undefined) throw undiscovered(issuer)
  return { jwksUri, published: publishedIn(document), ...(introspectionEndpoint !== undefined && { introspectionEndpoint }) }
}

function publishedIn(document: JsonObject): SmartConfiguration {
  const isText = (value: unknown): value is string => typeof value === 'string'
  const members = Object.entries(document).flatMap(([name, value]): [string, string | boolean | readonly string[]][] =>
    isText(value) || typeof value === 'boolean' || (Array.isArray(value) && value.every(isText)) ? [[name, value]] : [],
  )
  return Object.fromEntries(members)
}

async function documentOf(issuer: string): Promise<JsonObject> {
  const uri = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  try {
    return await issuerJson({ uri, fetch: (...input) => fetch(...input), maxBytes: MAX_BYTES }, { headers: { accept: 'application/json' } })
  } catch (cause) {
    throw undiscovered(issuer, cause)
  }
}

function undiscovered(issuer: string, cause?: unknown): OperationError {
  return new OperationError('unavailable', `The discovery document of the issuer ${quoted(issuer)} cannot be fetched.`, { cause })
}
