import { OperationError } from 'fhir-ops/errors'
import { resourceSchema } from '../openapi/components.js'
import { openApiDocument } from '../openapi/document.js'
import { capabilityStatement, terminologyStatement, supportedSystems } from '../capability-statement.js'
import { fhirText, jsonAnswer, jsonText, type Answer } from '../http/answer.js'
import { onlyValue } from '../http/target.js'
import type { SmartConfiguration } from '../auth/issuer.js'
import { paced } from 'fhir-ops/internal/context'
import { subsetAsAsked } from '../content/search/subset.js'
import { FHIR_PATH, type Service } from '../service.js'
import type { Exchange, Route } from '../exchange.js'

/** Public routes: what the service can do, whether it is alive, and whether it is ready. */
export function serviceRoutes(service: Service, routes: readonly Route[]): readonly Route[] {
  const systems = supportedSystems({ ctx: service.ctx, withStored: service.isOpen })
  const statements: Statements = {
    full: keptOnceMade(async () =>
      JSON.stringify(capabilityStatement({ service, routes, authorization: await statedConfiguration(service) })),
    ),
    withoutAuthorization: () => JSON.stringify(capabilityStatement({ service, routes, authorization: {} })),
    terminology: async () => JSON.stringify(terminologyStatement(service, await systems())),
  }
  const open = { method: 'GET', access: 'public', body: 'none', needs: 'nothing', answer: { json: { type: 'object' } } } as const
  const own: readonly Route[] = [
    {
      ...open,
      path: `${FHIR_PATH}/metadata`,
      answer: { schema: { anyOf: ['CapabilityStatement', 'TerminologyCapabilities'].map(resourceSchema) } },
      summary: 'The CapabilityStatement, or the TerminologyCapabilities',
      run: (exchange) => metadata(statements, exchange),
    },
    {
      ...open,
      path: '/openapi.json',
      summary: 'The OpenAPI document of the service',
      run: async () => jsonText(200, await document()),
    },
    ...authorizationRoutes(service),
    { ...open, path: '/healthz', summary: 'Whether the process responds', run: async () => jsonAnswer(200, { status: 'ok' }) },
    { ...open, path: '/readyz', summary: 'Whether requests can be served', run: () => ready(service) },
  ]
  const document = keptOnceMade(async () =>
    JSON.stringify(await openApiDocument(service, [...routes, ...own], issuerOf(await statedConfiguration(service)))),
  )
  return own
}

/** Makes a text when it is first needed and shares it with all callers; after a failure, tries again. */
function keptOnceMade(make: () => Promise<string>): () => Promise<string> {
  let made: Promise<string> | undefined
  return () => {
    if (made !== undefined) return made
    const making = make()
    made = making
    making.catch(() => (made = undefined))
    return making
  }
}

/** Texts of the statements; the first two are made once, when they are first needed. */
interface Statements {
  readonly full: () => Promise<string>
  /** Used if the host cannot provide the authorization endpoints at the moment; everything else is stated. */
  readonly withoutAuthorization: () => string
  readonly terminology: () => Promise<string>
}

async function metadata(statements: Statements, exchange: Exchange): Promise<Answer> {
  const mode = onlyValue(exchange.target.query, 'mode') ?? 'full'
  if (mode !== 'full' && mode !== 'normative' && mode !== 'terminology')
    throw new OperationError('parameter-value', 'The mode must be full, normative or terminology.')
  const isTerminology = mode === 'terminology'
  const type = isTerminology ? 'TerminologyCapabilities' : 'CapabilityStatement'
  const subset = await subsetAsAsked(exchange, { type, query: exchange.target.query })
  const text = isTerminology ? await statements.terminology() : await statements.full().catch(() => statements.withoutAuthorization())
  return fhirText(200, subset === undefined ? text : await paced(exchange.ctx, subset(text)))
}

function issuerOf({ issuer }: SmartConfiguration): string | undefined {
  return typeof issuer === 'string' ? issuer : undefined
}

/** @throws {OperationError} `unavailable` while the service is closing, and if its readiness check fails or is late. */
async function ready({ executor, readiness, limits }: Service): Promise<Answer> {
  if (executor.isClosed()) throw new OperationError('unavailable', 'The server is shutting down.')
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('The readiness check is late.')), limits.readinessMs)
  try {
    await Promise.race([readiness(), late.promise])
  } catch (cause) {
    throw new OperationError('unavailable', 'The service is not ready.', { cause })
  } finally {
    clearTimeout(timer)
  }
  return jsonAnswer(200, { status: 'ready' })
}

/** Public documents about authorization, as defined by SMART, OAuth and OpenID Connect. */
function authorizationRoutes(service: Service): readonly Route[] {
  const open = { method: 'GET', access: 'public', body: 'none', needs: 'nothing', answer: { json: { type: 'object' } } } as const
  const issuer = async (): Promise<SmartConfiguration> => issuerDocument(await statedConfiguration(service))
  return [
    ...['', FHIR_PATH].map((base) => ({
      ...open,
      path: `${base}/.well-known/smart-configuration`,
      summary: 'The SMART configuration: authorization endpoints and capabilities',
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
      summary: 'The discovery document of the configured token issuer (OpenID Connect Discovery); 404 without one',
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

/** Supported kinds of scopes; the endpoints belong to the authorization server, which the host describes. */
const SMART = {
  capabilities: ['permission-patient', 'permission-user', 'permission-v1', 'permission-v2'],
  scopes_supported: ['openid', 'profile', 'email', 'phone', 'address', 'patient/*.rs', 'user/*.cruds', 'system/*.cruds'],
} as const

/** The host's SMART configuration; empty if there is none. @throws {OperationError} `unavailable` if the host cannot provide it at the moment. */
async function statedConfiguration({ smartConfiguration: stated = {} }: Service): Promise<SmartConfiguration> {
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

/** The issuer's own document: clients compare its `issuer` with the one that they trust. @throws {OperationError} `not-found` without an issuer. */
function issuerDocument(stated: SmartConfiguration): SmartConfiguration {
  if (typeof stated['issuer'] === 'string') return stated
  throw new OperationError('not-found', 'No issuer of tokens is configured for this service.')
}
