export { createSessions, type Sessions, type SessionsOptions } from './sessions.js'
export { type ForeignToken, type IssuedToken, type NewSession, type SeenCaller, type SessionUser, scopeProblem } from './issue.js'
export type { EndedLogin, Revocation } from './end.js'
export type { Principal } from './verify.js'
export { INVALID_TOKEN, rejected, rejectionReason, type RejectionReason, TOKEN_PREFIX, sha256 } from './state.js'
export {
  createAudit,
  type AuditEvent,
  type AuditOrigin,
  type AuditSink,
  type AuditType,
  type AuditEntry,
  type AuditOptions,
  toAuditEvent,
  openAuditStore,
  type AuditStore,
} from './audit.js'
