import { OperationError } from 'fhir-ops/errors'
import { stringAt } from 'fhir-ops/internal/json'
import type { EndedLogin } from 'fhir-ops/internal/sessions'
import type { JWTPayload } from 'jose'
import { algorithmsOf, checkParties, KEY_OPTIONS, keysOf, type JwtKeys } from './issuer-keys.js'
import { signedPayload } from './jwt-verifier.js'
import { checkHeader, jwtShape, type Replays } from './token-verifier.js'
import { checkOptions, CLOCK, having, inputShape, TEXT, type InputShape } from 'fhir-ops/internal/input'

/** Options for checking the logout tokens of one issuer. */
export type LogoutTokenOptions = JwtKeys & {
  /** Exact value of `iss`. */
  readonly issuer: string
  /** Our client id at the issuer, which `aud` must contain. */
  readonly audience: string
  /** Default: the system's clock. */
  readonly now?: () => Date
  /** Store that remembers the ids of tokens for 4 minutes. Default: the store of the sessions, which instances share. */
  readonly replays?: Replays
}

/** Content of a valid logout token. */
export interface LogoutToken extends EndedLogin {
  /** Records the use of the token, after its sessions have ended: until then the issuer may send it again. Absent if the use is already recorded. */
  readonly markUsed?: (() => Promise<unknown>) | undefined
}

/** Checks the logout tokens of one issuer. */
export interface LogoutTokenVerifier {
  /** True if the token claims to come from this issuer. */
  claims(token: string): boolean
  /**
   * @param shared Store that remembers ids, unless the options name one.
   * @throws {OperationError} `parameter-invalid`; `unavailable` if the issuer's keys cannot be fetched.
   */
  verify(token: string, shared: Replays): Promise<LogoutToken>
}

const SHAPE: InputShape = inputShape<LogoutTokenOptions>({
  ...KEY_OPTIONS,
  issuer: TEXT,
  audience: TEXT,
  now: CLOCK,
  replays: having('a memory of used tokens', ['isNew']),
})

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const WINDOW_SECONDS = 120
/** How long used tokens are remembered. */
export const LOGOUT_TOKEN_MS: number = 2 * WINDOW_SECONDS * 1_000

/**
 * Creates a verifier of logout tokens.
 *
 * @throws {TypeError} as `jwtVerifier`.
 * @see https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation
 */
export function logoutTokenVerifier(options: LogoutTokenOptions): LogoutTokenVerifier {
  checkOptions('logoutTokenVerifier', SHAPE, options)
  checkParties(options)
  const { issuer, replays, now = () => new Date() } = options
  const keys = keysOf(options)
  const checks = { issuer, audience: options.audience, algorithms: [...algorithmsOf(options)], requiredClaims: ['exp', 'iat', 'jti'] }
  const verified = async (token: string): Promise<JWTPayload> => {
    const shape = jwtShape(token)
    if (shape === undefined) throw refused()
    try {
      checkHeader(shape.header, { algorithms: checks.algorithms, typ: ['logout+jwt'] })
      return await signedPayload(keys, token, { ...checks, clockTolerance: 30, currentDate: now() })
    } catch (error) {
      if (error instanceof OperationError && error.code === 'unavailable') throw error
      throw refused()
    }
  }
  return {
    claims: (token) => stringAt(jwtShape(token)?.payload, 'iss') === issuer,
    async verify(token, shared) {
      const payload = await verified(token)
      const [sub, sid, jti = ''] = [stringAt(payload, 'sub'), stringAt(payload, 'sid'), stringAt(payload, 'jti')]
      if (!isLogout(payload, now()) || (sub === undefined && sid === undefined) || jti === '') throw refused()
      return { issuer, sub, sid, markUsed: await useOf(replays ?? shared, `${issuer} ${jti}`) }
    },
  }
}

/** Returns how to record the use of an unused token. @throws {OperationError} `parameter-invalid` if the token was already used. */
async function useOf(replays: Replays, key: string): Promise<LogoutToken['markUsed']> {
  const isUsed = replays.isUsed === undefined ? !(await replays.isNew(key)) : await replays.isUsed(key)
  if (isUsed) throw refused()
  return replays.isUsed && (async () => replays.isNew(key))
}

function isLogout({ iat = 0, nonce, events }: JWTPayload, now: Date): boolean {
  const isEvent = typeof events === 'object' && events !== null && Object.hasOwn(events, EVENT)
  return isEvent && nonce === undefined && Math.abs(now.getTime() / 1_000 - iat) <= WINDOW_SECONDS
}

/** The error for every refused token, always with the same sentence. */
export function refused(): OperationError {
  return new OperationError('parameter-invalid', 'The logout token is not valid.')
}
