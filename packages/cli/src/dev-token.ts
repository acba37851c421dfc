import type { TokenVerifier } from '@fhir-ops/handler'
import { demoClaims, FULL_SCOPES } from './demo-user.js'

const DAY_MS = 86_400_000
const LIFETIME_MS = 30 * DAY_MS

/** Accepts one fixed text as the token of the demo user with every scope. Each start of the server makes it a new session. */
export function devTokenVerifier(token: string, startedAt: number = Date.now()): TokenVerifier {
  const session = {
    issuer: 'fhir-ops serve --dev-token',
    sub: 'demo',
    sessionKey: crypto.randomUUID(),
    issuedAt: startedAt,
    expiresAt: startedAt + LIFETIME_MS,
    scopes: FULL_SCOPES,
    claims: demoClaims('demo'),
  }
  return { claims: (text) => text === token, verify: async () => session }
}
