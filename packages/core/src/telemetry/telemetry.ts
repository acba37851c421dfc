/** Values that spans and measurements are described by. */
export type Attributes = Readonly<Record<string, string | number>>

/** The part of an OpenTelemetry span that is called. */
export interface Span {
  updateName(name: string): unknown
  setAttributes(attributes: Record<string, string | number>): unknown
  /** `2` is OpenTelemetry's `SpanStatusCode.ERROR`. */
  setStatus(status: { readonly code: 2 }): unknown
  end(): void
}

/** The part of an OpenTelemetry tracer that is called; `trace.getTracer('fhir-ops')` fits. */
export interface Tracer {
  /** Runs with the span as the parent of those that are started meanwhile. */
  startActiveSpan(name: string, options: object, run: (span: Span) => Promise<void>): Promise<void>
}

/** The part of an OpenTelemetry meter that is called; `metrics.getMeter('fhir-ops')` fits. */
export interface Meter {
  createHistogram(name: string, options: InstrumentOptions): { record(value: number, attributes: Record<string, string | number>): void }
  createUpDownCounter(name: string, options: InstrumentOptions): { add(value: number): void }
}

/** How an instrument is described. */
export interface InstrumentOptions {
  readonly description: string
  readonly unit: string
}

/** Where spans and measurements go. Either may be absent. */
export interface Telemetry {
  readonly tracer?: Tracer
  readonly meter?: Meter
}

/** Runs work within a span, where there is a tracer; the work gets the span and must not keep it. */
export async function withinSpan<T>(tracer: Tracer | undefined, name: string, work: (span?: Span) => Promise<T>): Promise<T> {
  if (tracer === undefined) return work()
  const outcome = Promise.withResolvers<T>()
  await tracer.startActiveSpan(name, {}, async (span) => {
    try {
      outcome.resolve(await work(span))
    } catch (error) {
      span.setStatus({ code: 2 })
      outcome.reject(error)
    } finally {
      span.end()
    }
  })
  return outcome.promise
}
