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
