import type { ForeignToken } from 'fhir-ops/sessions'

/** Checks tokens of another issuer. */
export interface TokenVerifier {
  /** True when the token claims to be of this issuer; decides which verifier is asked. Nothing is trusted yet. */
  claims(token: string): boolean
  /**
   * @param jkt Thumbprint of the key that the request has proved to hold (DPoP): the token must be bound to it. When absent, a token that
   *   is bound to a key must be refused.
   * @throws {OperationError} `token-invalid`; `unavailable` when the issuer cannot be asked.
   */
  verify(token: string, jkt?: string): Promise<ForeignToken>
}

/** Remembers what may be used once. */
export interface Replays {
  /** True the first time. */
  isNew(key: string): boolean | Promise<boolean>
}
