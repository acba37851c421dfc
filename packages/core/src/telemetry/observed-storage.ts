import { OperationError } from '../errors/index.js'
import { wrappedStorage, type ResourceHistory, type Storage } from '../storage/index.js'
import { withinSpan, type Attributes, type Telemetry } from './telemetry.js'

/** Observes one call of a storage. */
type Observe = <T>(call: string, about: Attributes, work: () => Promise<T>) => Promise<T>

/**
 * The storage with a span for each call (`storage.read`, ...) and its duration in the histogram `fhir_ops.storage.duration`, both with the
 * type of the resources and, for a call that failed, the code of the error. Nothing of resources, ids or queries goes there.
 */
export function observedStorage(storage: Storage, telemetry: Telemetry): Storage {
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
