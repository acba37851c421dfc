import { OperationError } from 'fhir-ops/errors'
import { openApiDocument } from '../openapi/document.js'
import { capabilityStatement, terminologyStatement } from '../capability-statement.js'
import { fhirText, jsonAnswer, jsonText, type Answer } from '../http/answer.js'
import { onlyValue } from '../http/target.js'
import type { SmartConfiguration } from '../options.js'
import { FHIR_PATH, type Service } from '../service.js'
import type { Exchange, Route } from '../exchange.js'
import { authorizationRoutes, statedConfiguration } from './authorization-documents.js'

/** What anybody may ask: what the service can do, whether it lives, and whether it is ready. */
export function serviceRoutes(service: Service, routes: readonly Route[]): readonly Route[] {
  let terminology: string | undefined
  const statements: Statements = {
    full: keptOnceMade(async () =>
      JSON.stringify(capabilityStatement({ service, routes, authorization: await statedConfiguration(service) })),
    ),
    withoutAuthorization: () => JSON.stringify(capabilityStatement({ service, routes, authorization: {} })),
    terminology: () => (terminology ??= JSON.stringify(terminologyStatement(service))),
  }
  const open = { method: 'GET', access: 'public', body: 'none', needs: 'nothing', answer: { json: { type: 'object' } } } as const
  const own: readonly Route[] = [
    {
      ...open,
      path: `${FHIR_PATH}/metadata`,
      answer: { resource: 'CapabilityStatement' },
      summary: 'The CapabilityStatement',
      run: (exchange) => metadata(statements, exchange),
    },
    {
      ...open,
      path: '/openapi.json',
      summary: 'The OpenAPI document of the service',
      run: async () => jsonText(200, await document()),
    },
    ...authorizationRoutes(service),
    { ...open, path: '/healthz', summary: 'Whether the process answers', run: async () => jsonAnswer(200, { status: 'ok' }) },
    { ...open, path: '/readyz', summary: 'Whether requests can be served', run: () => ready(service) },
  ]
  const document = keptOnceMade(async () =>
    JSON.stringify(await openApiDocument(service, [...routes, ...own], issuerOf(await statedConfiguration(service)))),
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
  readonly full: () => Promise<string>
  /** While the host cannot say where tokens come from, all else is said. */
  readonly withoutAuthorization: () => string
  readonly terminology: () => string
}

async function metadata(statements: Statements, { target }: Exchange): Promise<Answer> {
  const mode = onlyValue(target.query, 'mode') ?? 'full'
  if (mode === 'terminology') return fhirText(200, statements.terminology())
  if (mode !== 'full' && mode !== 'normative')
    throw new OperationError('parameter-value', 'The mode must be full, normative or terminology.')
  return fhirText(200, await statements.full().catch(() => statements.withoutAuthorization()))
}

function issuerOf({ issuer }: SmartConfiguration): string | undefined {
  return typeof issuer === 'string' ? issuer : undefined
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
