import { OperationError } from 'fhir-ops/errors'
import { openApiDocument } from '../openapi/document.js'
import { capabilityStatement, terminologyStatement } from '../capability-statement.js'
import { fhirText, jsonAnswer, jsonText, type Answer } from '../http/answer.js'
import { onlyValue } from '../http/target.js'
import { FHIR_PATH, type Service } from '../service.js'
import type { Exchange, Route } from '../exchange.js'

/** What anybody may ask: what the service can do, whether it lives, and whether it is ready. */
export function serviceRoutes(service: Service, routes: readonly Route[]): readonly Route[] {
  let full: string | undefined
  let terminology: string | undefined
  const statements: Statements = {
    full: () => (full ??= JSON.stringify(capabilityStatement(service, routes))),
    terminology: () => (terminology ??= JSON.stringify(terminologyStatement(service))),
  }
  const open = { method: 'GET', access: 'public', body: 'none', needs: 'nothing', answer: { json: { type: 'object' } } } as const
  const own: readonly Route[] = [
    {
      ...open,
      path: `${FHIR_PATH}/metadata`,
      answer: { resource: 'CapabilityStatement' },
      summary: 'The CapabilityStatement',
      run: async (exchange) => metadata(statements, exchange),
    },
    {
      ...open,
      path: '/openapi.json',
      summary: 'The OpenAPI document of the service',
      run: async () => jsonText(200, await document()),
    },
    ...['', FHIR_PATH].map((base) => ({
      ...open,
      path: `${base}/.well-known/smart-configuration`,
      summary: 'What clients of SMART need to know of the authorization',
      run: async () => jsonAnswer(200, await smartConfiguration(service)),
    })),
    {
      ...open,
      path: '/.well-known/oauth-protected-resource',
      summary: 'Where tokens for this service come from (RFC 9728)',
      run: async () => jsonAnswer(200, protectedResource(service, await smartConfiguration(service))),
    },
    { ...open, path: '/healthz', summary: 'Whether the process answers', run: async () => jsonAnswer(200, { status: 'ok' }) },
    { ...open, path: '/readyz', summary: 'Whether requests can be served', run: () => ready(service) },
  ]
  const document = keptOnceMade(async () =>
    JSON.stringify(await openApiDocument(service, [...routes, ...own], issuerOf(await smartConfiguration(service)))),
  )
  return own
}

/** Made when it is first asked for, by one for all; what failed is tried again. */
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

/** Texts of the statements, each made when it is first asked for. */
interface Statements {
  readonly full: () => string
  readonly terminology: () => string
}

function metadata(statements: Statements, { target }: Exchange): Answer {
  const mode = onlyValue(target.query, 'mode') ?? 'full'
  if (mode === 'terminology') return fhirText(200, statements.terminology())
  if (mode !== 'full' && mode !== 'normative')
    throw new OperationError('parameter-value', 'The mode must be full, normative or terminology.')
  return fhirText(200, statements.full())
}

/** What scopes can say here; endpoints are the authorization server's, which is the host's matter. */
const SMART = {
  capabilities: ['permission-patient', 'permission-user', 'permission-v1', 'permission-v2'],
  scopes_supported: ['openid', 'profile', 'email', 'phone', 'address', 'patient/*.rs', 'user/*.cruds', 'system/*.cruds'],
} as const

/** @throws {OperationError} `unavailable` when the host cannot state its part now. */
async function smartConfiguration({ smartConfiguration: stated, baseUrl }: Service): Promise<object> {
  try {
    return { ...SMART, revocation_endpoint: `${baseUrl}/oauth2/revoke`, ...(typeof stated === 'function' ? await stated() : stated) }
  } catch (cause) {
    throw new OperationError('unavailable', 'The configuration of the authorization server is not available.', { cause })
  }
}

function issuerOf(smart: object): string | undefined {
  return 'issuer' in smart && typeof smart.issuer === 'string' ? smart.issuer : undefined
}

/** @see https://www.rfc-editor.org/rfc/rfc9728 */
function protectedResource({ baseUrl }: Service, smart: object): object {
  const issuer = issuerOf(smart)
  return {
    resource: `${baseUrl}${FHIR_PATH}`,
    ...(issuer !== undefined && { authorization_servers: [issuer] }),
    bearer_methods_supported: ['header'],
    scopes_supported: SMART.scopes_supported,
  }
}

/** @throws {OperationError} `unavailable` while the service is closing, and when its readiness check fails or is late. */
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
