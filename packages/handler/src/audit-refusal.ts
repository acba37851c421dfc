import { OperationError, type ErrorCode } from 'fhir-ops/errors'
import type { AuditEntry, AuditType } from 'fhir-ops/sessions'
import type { Arrival } from './arrival.js'
import { routeFor } from './routes/router.js'
import type { Service } from './service.js'

/** Failures that are worth a record (AU-01). Those of tokens and bots are recorded where they happen. */
const REFUSALS: ReadonlyMap<ErrorCode, AuditType> = new Map<ErrorCode, AuditType>([
  ['forbidden', 'scope-denied'],
  ['throttled', 'limit-reached'],
  ['body-too-long', 'limit-reached'],
  ['too-costly', 'limit-reached'],
  ['computation-timeout', 'limit-reached'],
  ['definition-invalid', 'definition-refused'],
])

/** Records a refusal. @throws {OperationError} `unavailable` where audit is required and fails. */
export async function auditRefusal(service: Service, arrival: Arrival, error: unknown): Promise<void> {
  if (!(error instanceof OperationError)) return
  const type = REFUSALS.get(error.code)
  if (type === undefined) return
  const { requestId, remoteHost } = arrival.exchange
  const { sub, client, loginId } = arrival.caller.principal ?? {}
  await service.sessions.audit({
    type,
    outcome: 'refused',
    reason: error.code,
    sub,
    client,
    loginId,
    requestId,
    remoteHost,
    ...whatWasAsked(arrival),
  })
}

function whatWasAsked({ exchange, match }: Arrival): Pick<AuditEntry, 'operation' | 'resourceType' | 'resourceId'> {
  if (match === undefined) return {}
  const route = routeFor(match, exchange.request.method)
  return {
    operation: route?.operation?.name ?? route?.interaction,
    resourceType: match.params.get('type'),
    resourceId: match.params.get('id'),
  }
}
