/** Every scope that exists: user information, all resources, and the bots, which have to be named. */
export const FULL_SCOPES: readonly string[] = ['openid', 'profile', 'email', 'system/*.cruds', 'system/Bot.cruds']

/** All claims of the user-information endpoint for a user who is nobody in particular. */
export function demoClaims(sub: string): Readonly<Record<string, unknown>> {
  return {
    name: 'Demo User',
    given_name: 'Demo',
    family_name: 'User',
    preferred_username: sub,
    email: `${sub.replaceAll(/[^\w.-]/g, '-')}@example.org`,
  }
}
