import { OperationError } from '../errors/index.js'
import type { AuditEvent, AuditSink } from './audit-event.js'

/** How audit events are kept. */
export interface AuditOptions {
  readonly onAudit?: AuditSink | undefined
  /** `required`: an action whose event cannot be stored fails. Default `best-effort`. */
  readonly auditMode?: 'best-effort' | 'required' | undefined
  /** Told about events that could not be stored in `best-effort` mode. */
  readonly onAuditFailure?: ((error: unknown) => void) | undefined
}

/** An event before its time is set. */
export type AuditEntry = Omit<AuditEvent, 'time'>

/**
 * Makes the function that hands events on.
 *
 * @returns It resolves at once in `best-effort` mode; in `required` mode when the event is stored, and it throws `unavailable` otherwise.
 */
export function createAudit(options: AuditOptions, now: () => Date): (entry: AuditEntry) => Promise<void> {
  const { onAudit, auditMode = 'best-effort', onAuditFailure = () => {} } = options
  if (onAudit === undefined) return () => Promise.resolve()
  const store = async (entry: AuditEntry): Promise<void> => onAudit({ ...entry, time: now() })
  if (auditMode === 'best-effort') {
    return (entry) => {
      void store(entry).catch(onAuditFailure)
      return Promise.resolve()
    }
  }
  return async (entry) => {
    try {
      await store(entry)
    } catch (cause) {
      throw new OperationError('unavailable', 'The audit event could not be stored.', { cause })
    }
  }
}
