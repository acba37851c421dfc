import type { ForeignToken } from 'fhir-ops/sessions'

/** Checks tokens of another issuer. */
export interface TokenVerifier {
  /** True when the token claims to be of this issuer; decides which verifier is asked. Nothing is trusted yet. */
  claims(token: string): boolean
  /** @throws {OperationError} `token-invalid`; `unavailable` when the issuer's keys cannot be had. */
  verify(token: string): Promise<ForeignToken>
}
