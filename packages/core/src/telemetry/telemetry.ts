import { checkGiven, checkHas, OperationError } from '../errors/index.js'
import { wrappedStorage, type ResourceHistory, type Storage } from '../storage/index.js'

/** Attributes of spans and measurements. */
export type Attributes = Readonly<Record<string, string | number>>

/** The part of the OpenTelemetry `Span` interface that is used. */
export interface Span {
  updateName(name: string): unknown
  setAttributes(attributes: Record<string, string | number>): unknown
  /** `2` is OpenTelemetry's `SpanStatusCode.ERROR`. */
  setStatus(status: { readonly code: 2 }): unknown
  end(): void
}

/** The part of the OpenTelemetry `Tracer` interface that is used; `trace.getTracer('fhir-ops')` fits. */
export interface Tracer {
  /** Calls `run` with the span as the parent of spans that are started meanwhile. */
  startActiveSpan(name: string, options: object, run: (span: Span) => Promise<void>): Promise<void>
}

/** The part of the OpenTelemetry `Meter` interface that is used; `metrics.getMeter('fhir-ops')` fits. */
export interface Meter {
  createHistogram(name: string, options: InstrumentOptions): { record(value: number, attributes: Record<string, string | number>): void }
  createUpDownCounter(name: string, options: InstrumentOptions): { add(value: number): void }
}

/** Description of an instrument. */
export interface InstrumentOptions {
  readonly description: string
  readonly unit: string
}

/** Receivers of spans and measurements; each is optional. */
export interface Telemetry {
  readonly tracer?: Tracer
  readonly meter?: Meter
}

/** Runs work within a span, if there is a tracer. The work receives the span and must not keep it. */
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

/** Observes one call of a storage. */
type Observe = <T>(call: string, about: Attributes, work: () => Promise<T>) => Promise<T>

/**
 * Wraps a storage: each call creates a span (`storage.read`, ...) and is recorded in the histogram `fhir_ops.storage.duration`, both with the resource
 * type and, for a failed call, the error code. No content of resources, ids or queries is recorded.
 */
export function observedStorage(storage: Storage, telemetry: Telemetry): Storage {
  checkHas('The storage', storage, ['read', 'search', 'write'])
  checkGiven('telemetry', telemetry)
  const observe = observerOf(telemetry)
  const { history, revision, scan, changes } = storage
  return wrappedStorage({
    capabilities: storage.capabilities,
    revision,
    history: history && observedHistory(history, observe),
    read: (type, id) => observe('read', { 'fhir.type': type }, () => storage.read(type, id)),
    scan: scan && ((query) => observe('scan', { 'fhir.type': query.type }, () => scan(query))),
    changes: changes && ((since) => observe('changes', {}, () => changes(since))),
    search: (query) => observe('search', { 'fhir.type': query.type }, () => storage.search(query)),
    count: (query) => observe('count', { 'fhir.type': query.type }, () => storage.count(query)),
    write: (entries) => observe('write', {}, () => storage.write(entries)),
    close: () => storage.close(),
  })
}

function observedHistory(history: ResourceHistory, observe: Observe): ResourceHistory {
  return {
    version: (type, id, versionId) => observe('version', { 'fhir.type': type }, () => history.version(type, id, versionId)),
    page: (query) => observe('history', {}, () => history.page(query)),
  }
}

function observerOf({ tracer, meter }: Telemetry): Observe {
  const duration = meter?.createHistogram('fhir_ops.storage.duration', { description: 'Duration of calls to the storage', unit: 's' })
  return (call, about, work) =>
    withinSpan(tracer, `storage.${call}`, async (span) => {
      const started = performance.now()
      const attributes: Record<string, string | number> = { 'db.operation.name': call, ...about }
      try {
        return await work()
      } catch (error) {
        attributes['error.type'] = error instanceof OperationError ? error.code : 'unforeseen'
        throw error
      } finally {
        span?.setAttributes(attributes)
        duration?.record((performance.now() - started) / 1_000, attributes)
      }
    })
}
