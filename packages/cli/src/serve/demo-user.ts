import type { TokenVerifier } from '@fhir-ops/handler'

/** All supported scopes: user information, all resources, and bots, which must be named. */
export const FULL_SCOPES: readonly string[] = ['openid', 'profile', 'email', 'system/*.cruds', 'system/Bot.cruds']

/** A fictitious user with all claims of the user-information endpoint. */
export const DEMO_USER = {
  sub: 'demo',
  name: 'Demo User',
  given_name: 'Demo',
  family_name: 'User',
  preferred_username: 'demo',
  email: 'demo@example.org',
}

const DAY_MS = 86_400_000
const LIFETIME_MS = 30 * DAY_MS

/** Accepts a fixed text as the token of the demo user, with all scopes. Each start of the server creates a new session. */
export function devTokenVerifier(token: string): TokenVerifier {
  const { sub, ...claims } = DEMO_USER
  const startedAt = Date.now()
  const session = {
    issuer: 'fhir-ops serve --dev-token',
    sub,
    sessionKey: crypto.randomUUID(),
    issuedAt: startedAt,
    expiresAt: startedAt + LIFETIME_MS,
    scopes: FULL_SCOPES,
    claims,
  }
  return { claims: (text) => text === token, verify: async () => session }
}
