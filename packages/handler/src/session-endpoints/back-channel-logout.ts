import type { Sessions } from 'fhir-ops/sessions'
import { LOGOUT_TOKEN_MS, refused, type LogoutTokenVerifier } from '../auth/logout-token.js'
import { emptyAnswer, type Answer } from '../http/answer.js'
import { parseQuery } from '../http/target.js'
import type { Exchange } from '../exchange.js'

/**
 * Ends what an issuer's logout token names (BC-01): the sessions of one login, or of the user.
 *
 * @throws {OperationError} `parameter-invalid` for every token that is not accepted, alike; `unavailable`.
 */
export async function backChannelLogout(
  sessions: Sessions,
  verifiers: readonly LogoutTokenVerifier[],
  exchange: Exchange,
): Promise<Answer> {
  const tokens = parseQuery(exchange.body?.text ?? '', { queryParameters: 100 }).filter(([name]) => name === 'logout_token')
  const [token = ''] = tokens.map(([, value]) => value)
  const verifier = verifiers.find((one) => one.claims(token))
  if (tokens.length !== 1 || verifier === undefined) throw refused()
  const { requestId, remoteHost } = exchange
  const ended = await verifier.verify(token, { isNew: (key) => sessions.useOnce(key, LOGOUT_TOKEN_MS) })
  await sessions.endLogin(ended, { requestId, remoteHost })
  return emptyAnswer(200)
}
