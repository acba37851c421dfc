import { OperationError } from '../errors/index.js'
import { AMOUNT, checkOptions, FUNCTION, having, inputShape, needed, type InputShape } from '../input/index.js'
import { putResource, type Indexer, type PutEntry, type Storage } from '../storage/index.js'
import { toAuditEvent } from './audit-event.js'
import type { AuditEvent, AuditSink } from './audit.js'

/** Where audit events are kept, and how. */
export interface AuditStoreOptions {
  readonly storage: Storage
  /** What they are found by, for example that of `r4()`. */
  readonly indexer: Indexer
  /** Told about every write that failed, and when events are refused because too many wait; never about a single event's content. */
  readonly onFailure: (error: unknown, lost: number) => void
  /** Most events that wait to be written. Default 1,000. */
  readonly maxWaiting?: number
  /** Random UUID. */
  readonly newId?: () => string
}

/** Keeps audit events as AuditEvent resources. */
export interface AuditStore {
  /** For `createSessions`. It resolves when the event is durable, and rejects when it is lost; requests need not wait for it. */
  readonly onAudit: AuditSink
  /** Waits for what is being written. The storage stays open. */
  close(): Promise<void>
}

interface Waiting {
  readonly entry: PutEntry
  readonly settled: PromiseWithResolvers<void>
}

const DEFAULT_MAX_WAITING = 1_000

const SHAPE: InputShape = inputShape<AuditStoreOptions>({
  storage: needed(having('a storage', ['read', 'write'])),
  indexer: needed(FUNCTION),
  onFailure: needed(FUNCTION),
  maxWaiting: AMOUNT,
  newId: FUNCTION,
})

/**
 * Makes an audit sink that stores AuditEvents: one write at a time, of all events that have come meanwhile. Memory is bounded: events beyond
 * `maxWaiting` are refused.
 *
 * @throws {TypeError} for an option that is missing, unknown or of another type.
 */
export function openAuditStore(options: AuditStoreOptions): AuditStore {
  checkOptions('openAuditStore', SHAPE, options)
  const { storage, onFailure, maxWaiting = DEFAULT_MAX_WAITING } = options
  let waiting: Waiting[] = []
  let writing: Promise<void> | undefined

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await storage.write(batch.map(({ entry }) => entry))
        for (const { settled } of batch) settled.resolve()
      } catch (error) {
        onFailure(error, batch.length)
        for (const { settled } of batch) settled.reject(error)
      }
    }
    writing = undefined
  }
  return {
    onAudit(event) {
      if (waiting.length >= maxWaiting) {
        const error = new OperationError('unavailable', 'Too many audit events wait to be stored.')
        onFailure(error, 1)
        return Promise.reject(error)
      }
      const settled = Promise.withResolvers<void>()
      waiting.push({ entry: entryFor(options, event), settled })
      writing ??= writeAll()
      return settled.promise
    },
    close: async () => writing,
  }
}

function entryFor({ indexer, newId = () => crypto.randomUUID() }: AuditStoreOptions, event: AuditEvent): PutEntry {
  const id = newId()
  return putResource({ type: 'AuditEvent', id, source: { ...toAuditEvent(event) }, ifVersion: null }, indexer)
}
