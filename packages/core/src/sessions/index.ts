export { createSessions, type Sessions, type SessionsOptions } from './sessions.js'
export type { ForeignToken, IssuedToken, NewSession, SeenCaller, SessionUser } from './issue.js'
export type { EndedLogin, Revocation } from './end.js'
export type { Principal } from './verify.js'
export { INVALID_TOKEN, rejected, rejectionReason, type RejectionReason } from './state.js'
export { scopeProblem } from './scope-problem.js'
export { TOKEN_PREFIX, sha256 } from './token.js'
export {
  createAudit,
  type AuditEvent,
  type AuditOrigin,
  type AuditSink,
  type AuditType,
  type AuditEntry,
  type AuditOptions,
} from './audit.js'
export { toAuditEvent, openAuditStore, type AuditStore } from './audit-store.js'
