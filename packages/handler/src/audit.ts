import { OperationError, type ErrorCode } from 'fhir-ops/errors'
import type { AuditEntry, AuditType } from 'fhir-ops/internal/sessions'
import type { Exchange } from './exchange.js'
import type { Service } from './service.js'

/** Records an event of a request, with its caller and origin. @throws {OperationError} `unavailable` if audit is required and fails. */
export function audit({ sessions }: Service, { caller, requestId, remoteHost }: Exchange, event: AuditEntry): Promise<void> {
  const { sub, client, loginId } = caller.principal ?? {}
  return sessions.audit({ sub, client, loginId, requestId, remoteHost, ...event })
}

/** Failures that are recorded. Failures of tokens and bots are recorded where they happen. */
const REFUSALS: ReadonlyMap<ErrorCode, AuditType> = new Map<ErrorCode, AuditType>([
  ['forbidden', 'scope-denied'],
  ['throttled', 'limit-reached'],
  ['body-too-long', 'limit-reached'],
  ['too-costly', 'limit-reached'],
  ['computation-timeout', 'limit-reached'],
  ['definition-invalid', 'definition-refused'],
])

/** Records that a request was refused. @throws {OperationError} as `audit`. */
export async function auditRefusal(service: Service, exchange: Exchange, error: unknown): Promise<void> {
  const type = error instanceof OperationError ? REFUSALS.get(error.code) : undefined
  if (type === undefined || !(error instanceof OperationError)) return
  const { match, route, params } = exchange
  const asked =
    match === undefined
      ? {}
      : { operation: route?.operation?.name ?? route?.interaction, resourceType: params.get('type'), resourceId: params.get('id') }
  await audit(service, exchange, { type, outcome: 'refused', reason: error.code, ...asked })
}
