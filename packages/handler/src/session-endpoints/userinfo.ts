import { OperationError } from 'fhir-ops/errors'
import { malformedCredentials } from '../auth/credentials.js'
import { SCOPE_CLAIMS } from '../auth/scope-claims.js'
import { jsonAnswer, type Answer } from '../http/answer.js'
import { parseQuery } from '../http/target.js'
import type { Exchange } from '../exchange.js'
import { principalOf } from './principal-of.js'

/**
 * The claims of the user that the token's scopes give (UI-01 to UI-08); a claim without a value is left out.
 *
 * @throws {OperationError} `forbidden` without the scope `openid`; `token-malformed` when a form carries a token beside the header.
 */
export async function userInfo(exchange: Exchange): Promise<Answer> {
  refuseSecondToken(exchange)
  const { sub, scopes, claims } = principalOf(exchange)
  if (!scopes.includes('openid')) throw new OperationError('forbidden', 'The access token does not have the scope openid.')
  const names = SCOPE_CLAIMS.filter(([scope]) => scopes.includes(scope)).flatMap(([, claimNames]) => claimNames)
  const present = names.flatMap((name): [string, unknown][] => {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined
    return hasClaimType(name, value) ? [[name, value]] : []
  })
  return jsonAnswer(200, { sub, ...Object.fromEntries(present) })
}

/** AUTH-13 */
function refuseSecondToken({ body }: Exchange): void {
  if (body === undefined) return
  const fields = parseQuery(body.text, { queryParameters: 1_000 })
  if (fields.some(([name]) => name === 'access_token')) throw malformedCredentials()
}

const BOOLEANS: ReadonlySet<string> = new Set(['email_verified', 'phone_number_verified'])

function hasClaimType(name: string, value: unknown): boolean {
  if (BOOLEANS.has(name)) return typeof value === 'boolean'
  if (name === 'updated_at') return typeof value === 'number'
  if (name === 'address') return typeof value === 'object' && value !== null
  return typeof value === 'string' && value !== ''
}
