import { withinSpan, type Span, type Telemetry } from 'fhir-ops/telemetry'
import type { Answer } from './http/answer.js'
import type { LogEntry } from './log-entry.js'

/** Observes how a request is served; `note` takes what the log says about it. */
export type Observe = (serve: (note: (entry: LogEntry) => void) => Promise<Answer>) => Promise<Answer>

/**
 * A span for each request, and its duration in the histogram `fhir_ops.request.duration`; `fhir_ops.request.active` counts those under way.
 * Both are described by method, route template, status and code of the error: nothing else of a request is told.
 */
export function observerOf({ tracer, meter }: Telemetry): Observe {
  const duration = meter?.createHistogram('fhir_ops.request.duration', { description: 'Duration of requests', unit: 's' })
  const active = meter?.createUpDownCounter('fhir_ops.request.active', { description: 'Requests under way', unit: '{request}' })
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

/** A method is the caller's text; those that nobody knows are one. */
function methodOf({ method }: LogEntry): string {
  return METHODS.has(method) ? method : '_OTHER'
}
