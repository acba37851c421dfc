import { OperationError } from '../errors/index.js'

/** What is worth an audit record. */
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

/** Where the audited action came from. */
export interface AuditOrigin {
  readonly requestId?: string | undefined
  readonly remoteHost?: string | undefined
}

/** One audited action. It never holds tokens, bodies, query values, codes or patient data. */
export interface AuditEvent extends AuditOrigin {
  readonly time: Date
  readonly type: AuditType
  readonly outcome: 'success' | 'refused'
  /** One of our own words, for example `expired`. */
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

/** Receives audit events; what it returns is awaited where audit is required. */
export type AuditSink = (event: AuditEvent) => void | Promise<void>

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
 * Makes the function that forwards events.
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
