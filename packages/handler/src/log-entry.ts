/** One structured line of the log: one per request, and one for a failure in the middle of an answer. */
export interface LogEntry {
  readonly time: string
  readonly level: 'info' | 'error'
  readonly requestId: string
  readonly method: string
  /** Template of the route, for example `/fhir/R4/:type/:id`; never the URL. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly sub?: string | undefined
  /** Code of the error. */
  readonly error?: string | undefined
  /** Of a failure that nobody foresaw; the answer shows the same request id. */
  readonly stack?: string | undefined
}
