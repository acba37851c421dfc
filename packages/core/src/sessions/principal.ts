/** Who makes a request: the user and session behind an accepted token. */
export interface Principal {
  /** Subject identifier of the user. */
  readonly sub: string
  readonly loginId: string
  readonly scopes: readonly string[]
  /** Every stored claim of the user, whatever the scopes; the user-information endpoint chooses from them. */
  readonly claims: Readonly<Record<string, unknown>>
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly client?: string | undefined
  readonly project?: string | undefined
  /** Id of the Patient that `patient/` scopes are about. */
  readonly patient?: string | undefined
}
