import type { OperationContext } from 'fhir-ops/context'
import { ERRORS, OperationError, type ErrorCode } from 'fhir-ops/errors'
import type { Awaitable } from 'fhir-ops/internal/work'
import { withinSpan } from 'fhir-ops/internal/telemetry'
import type { Span, Telemetry } from 'fhir-ops/telemetry'
import type { AuditEntry, AuditType } from 'fhir-ops/internal/sessions'
import type { Sessions } from 'fhir-ops/sessions'
import type { Exchange } from './exchange.js'
import type { Answer } from './http/answer.js'

/** A structured log line: one per request, and one for a failure in the middle of an answer. */
export interface LogEntry {
  /** Instant at which the entry was written, in UTC. */
  readonly time: string
  /** `error` for unexpected failures. */
  readonly level: 'info' | 'error'
  /** Value of `X-Request-Id` in the answer. */
  readonly requestId: string
  readonly method: string
  /** Template of the route, for example `/fhir/R4/:type/:id`; never the URL. */
  readonly route: string
  readonly status: number
  /** Milliseconds from the arrival of the request until its answer is ready. */
  readonly durationMs: number
  /** Subject identifier of the caller; absent without a valid token. */
  readonly sub?: string | undefined
  /** Error code. */
  readonly error?: string | undefined
  /** Stack of an unexpected failure; the answer shows the same request id. */
  readonly stack?: string | undefined
}

/** How a request ended. */
export interface Ending {
  readonly status: number
  /** Start time, as given by `performance.now()`. */
  readonly started: number
  readonly error?: OperationError | undefined
  /** Receives the entry in addition to the log. */
  readonly note?: ((entry: LogEntry) => void) | undefined
}

/** Where the log goes. */
interface LogTarget {
  readonly log: ((entry: LogEntry) => void) | undefined
  readonly ctx: Pick<OperationContext, 'now'>
}

/** Writes the log line of a request, with the stack of an unexpected error. */
export function logRequest({ log, ctx }: LogTarget, exchange: Exchange, { status, started, error, note }: Ending): void {
  if (log === undefined && note === undefined) return
  const isUnforeseen = error !== undefined && ERRORS[error.code].issue === 'exception'
  const entry: LogEntry = {
    time: ctx.now().toISOString(),
    level: isUnforeseen ? 'error' : 'info',
    requestId: exchange.requestId,
    method: exchange.request.method,
    route: templateOf(exchange),
    status,
    durationMs: performance.now() - started,
    sub: exchange.caller.principal?.sub,
    error: error?.code,
    stack: isUnforeseen && error.cause instanceof Error ? error.cause.stack : undefined,
  }
  log?.(entry)
  note?.(entry)
}

/** All routes of a path have the same template, whatever their method. */
function templateOf({ match }: Exchange): string {
  const [route] = match?.routes.values() ?? []
  return route?.path ?? 'none'
}

/** Observes the serving of a request; `note` receives the log entry. */
export type Observe = (serve: (note: (entry: LogEntry) => void) => Awaitable<Answer>) => Promise<Answer>

/**
 * Records a span for each request and its duration in the histogram `fhir_ops.request.duration`; `fhir_ops.request.active` counts requests in progress.
 * Attributes are method, route template, status and error code: nothing else of a request leaves the process.
 */
export function observerOf({ tracer, meter }: Telemetry): Observe {
  const duration = meter?.createHistogram('fhir_ops.request.duration', { description: 'Duration of requests', unit: 's' })
  const active = meter?.createUpDownCounter('fhir_ops.request.active', { description: 'Requests in progress', unit: '{request}' })
  return (serve) =>
    withinSpan(tracer, 'request', async (span) => {
      active?.add(1)
      try {
        return await serve((entry) => {
          duration?.record(entry.durationMs / 1_000, attributesOf(entry))
          if (span !== undefined) describe(span, entry)
        })
      } finally {
        active?.add(-1)
      }
    })
}

function describe(span: Span, entry: LogEntry): void {
  span.updateName(`${methodOf(entry)} ${entry.route}`)
  span.setAttributes({ ...attributesOf(entry), 'fhir_ops.request_id': entry.requestId })
  if (entry.status >= 500) span.setStatus({ code: 2 })
}

function attributesOf(entry: LogEntry): Record<string, string | number> {
  const { route, status, error } = entry
  return {
    'http.request.method': methodOf(entry),
    'http.route': route,
    'http.response.status_code': status,
    ...(error !== undefined && { 'error.type': error }),
  }
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])

/** The method is text from the caller, so unknown methods are logged as `_OTHER`. */
function methodOf({ method }: LogEntry): string {
  return METHODS.has(method) ? method : '_OTHER'
}

/** Where events are recorded. */
interface AuditTarget {
  readonly sessions: Pick<Sessions, 'audit'>
}

/** Records an event of a request, with its caller and origin. @throws {OperationError} `unavailable` if audit is required and fails. */
export function audit({ sessions }: AuditTarget, { caller, requestId, remoteHost }: Exchange, event: AuditEntry): Promise<void> {
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
export async function auditRefusal(target: AuditTarget, exchange: Exchange, error: unknown): Promise<void> {
  const type = error instanceof OperationError ? REFUSALS.get(error.code) : undefined
  if (type === undefined || !(error instanceof OperationError)) return
  const { match, route, params } = exchange
  const asked =
    match === undefined
      ? {}
      : { operation: route?.operation?.name ?? route?.interaction, resourceType: params.get('type'), resourceId: params.get('id') }
  await audit(target, exchange, { type, outcome: 'refused', reason: error.code, ...asked })
}
