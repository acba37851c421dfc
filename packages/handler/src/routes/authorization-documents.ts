import { OperationError } from 'fhir-ops/errors'
import { jsonAnswer } from '../http/answer.js'
import { FHIR_PATH, type Service } from '../service.js'
import type { SmartConfiguration } from '../options.js'
import type { Route } from '../exchange.js'

/** What anybody may ask about the authorization, in the words of SMART, OAuth and OpenID Connect. */
export function authorizationRoutes(service: Service): readonly Route[] {
  const open = { method: 'GET', access: 'public', body: 'none', needs: 'nothing', answer: { json: { type: 'object' } } } as const
  const issuer = async (): Promise<SmartConfiguration> => issuerDocument(await statedConfiguration(service))
  return [
    ...['', FHIR_PATH].map((base) => ({
      ...open,
      path: `${base}/.well-known/smart-configuration`,
      summary: 'What clients of SMART need to know of the authorization',
      run: async () => jsonAnswer(200, smartConfiguration(service, await statedConfiguration(service))),
    })),
    {
      ...open,
      path: '/.well-known/oauth-protected-resource',
      summary: 'Where tokens for this service come from (RFC 9728)',
      run: async () => jsonAnswer(200, protectedResource(service, await statedConfiguration(service))),
    },
    ...['', FHIR_PATH].map((base) => ({
      ...open,
      path: `${base}/.well-known/openid-configuration`,
      summary: 'What the configured issuer of tokens publishes of itself (OpenID Connect Discovery); 404 without one',
      run: async () => jsonAnswer(200, await issuer()),
    })),
    {
      ...open,
      path: '/.well-known/oauth-authorization-server',
      summary: 'The same, for clients of OAuth (RFC 8414)',
      run: async () => jsonAnswer(200, await issuer()),
    },
  ]
}

/** What scopes can say here; endpoints are the authorization server's, which is the host's matter. */
const SMART = {
  capabilities: ['permission-patient', 'permission-user', 'permission-v1', 'permission-v2'],
  scopes_supported: ['openid', 'profile', 'email', 'phone', 'address', 'patient/*.rs', 'user/*.cruds', 'system/*.cruds'],
} as const

/** What the host states of the authorization server; empty where it states nothing. @throws {OperationError} `unavailable` when it cannot now. */
export async function statedConfiguration({ smartConfiguration: stated = {} }: Service): Promise<SmartConfiguration> {
  try {
    return typeof stated === 'function' ? await stated() : stated
  } catch (cause) {
    throw new OperationError('unavailable', 'The configuration of the authorization server is not available.', { cause })
  }
}

function smartConfiguration({ baseUrl }: Service, stated: SmartConfiguration): object {
  return { ...SMART, revocation_endpoint: `${baseUrl}/oauth2/revoke`, ...stated }
}

/** @see https://www.rfc-editor.org/rfc/rfc9728 */
function protectedResource({ baseUrl }: Service, { issuer }: SmartConfiguration): object {
  return {
    resource: `${baseUrl}${FHIR_PATH}`,
    ...(issuer !== undefined && { authorization_servers: [issuer] }),
    bearer_methods_supported: ['header'],
    scopes_supported: SMART.scopes_supported,
  }
}

/** It is the issuer's: clients compare its `issuer` with whom they trust. @throws {OperationError} `not-found` where there is none. */
function issuerDocument(stated: SmartConfiguration): SmartConfiguration {
  if (typeof stated['issuer'] === 'string') return stated
  throw new OperationError('not-found', 'No issuer of tokens is configured for this service.')
}
