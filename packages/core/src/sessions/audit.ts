import { OperationError } from '../errors/index.js'

/** Types of audit events. */
export type AuditType =
  | 'token-rejected'
  | 'token-in-url'
  | 'session-created'
  | 'logout'
  | 'session-revoked'
  | 'revoke-denied'
  | 'global-sign-out'
  | 'scope-denied'
  | 'bot-executed'
  | 'bot-stopped'
  | 'outbound-refused'
  | 'limit-reached'
  | 'definition-refused'

/** Origin of an audited action. */
export interface AuditOrigin {
  readonly requestId?: string | undefined
  readonly remoteHost?: string | undefined
}

/** An audited action. It never contains tokens, bodies, query values, codes or patient data. */
export interface AuditEvent extends AuditOrigin {
  readonly time: Date
  readonly type: AuditType
  readonly outcome: 'success' | 'refused'
  /** A fixed word of this project, for example `expired`. */
  readonly reason?: string | undefined
  /** Present once the caller is verified. */
  readonly sub?: string | undefined
  readonly client?: string | undefined
  readonly loginId?: string | undefined
  /** For example `$translate`. */
  readonly operation?: string | undefined
  readonly resourceType?: string | undefined
  readonly resourceId?: string | undefined
}

/** Receives audit events; its promise is awaited where audit is required. */
export type AuditSink = (event: AuditEvent) => void | Promise<void>

/** Audit options of `createSessions`. */
export interface AuditOptions {
  readonly onAudit?: AuditSink | undefined
  /** `required`: an action whose event cannot be stored fails. Default `best-effort`. */
  readonly auditMode?: 'best-effort' | 'required' | undefined
  /** Called for events that could not be stored in `best-effort` mode. */
  readonly onAuditFailure?: ((error: unknown) => void) | undefined
}

/** An event before its time is set. */
export type AuditEntry = Omit<AuditEvent, 'time'>

/**
 * Creates the function that forwards events.
 *
 * @returns A function that resolves immediately in `best-effort` mode; in `required` mode it resolves when the event is stored, or throws `unavailable`.
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
