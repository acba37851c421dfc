import { ERRORS, type OperationError } from 'fhir-ops/errors'
import type { HttpRequest } from './http/http-request.js'
import type { LogEntry } from './log-entry.js'
import type { Family } from './routes/route.js'
import type { Service } from './service.js'

/** What the log line of a request says beside its answer; filled in while the request is served. */
export interface Trace {
  family: Family
  /** Template of the route. */
  route: string
  sub?: string | undefined
  error?: OperationError
}

/** A request that was answered, or whose answer failed on its way. */
export interface Finished {
  readonly request: HttpRequest
  readonly requestId: string
  readonly trace: Trace
  readonly status: number
  readonly durationMs: number
  /** Takes the entry beside the log. */
  readonly note: ((entry: LogEntry) => void) | undefined
}

/** Writes the log line of a request; an error that nobody foresaw with its stack. */
export function logRequest(service: Service, { request, requestId, trace, note, status, durationMs }: Finished): void {
  if (service.log === undefined && note === undefined) return
  const { error, sub, route } = trace
  const isUnforeseen = error !== undefined && ERRORS[error.code].issue === 'exception'
  const entry: LogEntry = {
    time: service.ctx.now().toISOString(),
    level: isUnforeseen ? 'error' : 'info',
    requestId,
    method: request.method,
    route,
    status,
    durationMs,
    sub,
    error: error?.code,
    stack: isUnforeseen && error.cause instanceof Error ? error.cause.stack : undefined,
  }
  service.log?.(entry)
  note?.(entry)
}
