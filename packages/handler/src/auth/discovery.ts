import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { SmartConfiguration } from '../options.js'
import { checkIssuerUri, issuerJson } from './issuer-json.js'

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
