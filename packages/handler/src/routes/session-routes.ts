import { OperationError } from 'fhir-ops/errors'
import { outcomeOk } from 'fhir-ops/internal/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import type { Sessions } from 'fhir-ops/sessions'
import type { AuditOrigin } from 'fhir-ops/internal/sessions'
import type { SessionRecord } from 'fhir-ops/storage'
import { malformedCredentials } from '../auth/credentials.js'
import { SCOPE_CLAIMS } from '../auth/token-verifier.js'
import { LOGOUT_TOKEN_MS, refused, type LogoutTokenVerifier } from '../auth/logout-token.js'
import { principalOf, type Exchange, type Route } from '../exchange.js'
import { emptyAnswer, jsonAnswer, type Answer } from '../http/answer.js'
import { parseForm } from '../http/target.js'
import type { Service } from '../service.js'

/** Routes of user information and sessions. */
export function sessionRoutes(service: Service): readonly Route[] {
  const token = { access: 'token' } as const
  const userinfo = {
    ...token,
    path: '/oauth2/userinfo',
    family: 'userinfo',
    answer: { json: USER_CLAIMS },
    needs: 'openid',
    summary: 'Claims about the user',
  } as const
  const done = { json: { $ref: '#/components/schemas/OperationOutcome' } } as const
  return [
    { ...userinfo, method: 'GET', body: 'none', run: userInfo },
    { ...userinfo, method: 'POST', body: 'optional-form', run: userInfo },
    {
      ...token,
      method: 'POST',
      path: '/oauth2/logout',
      body: 'optional-json',
      bodySchema: { type: 'object' },
      answer: done,
      needs: 'a token',
      summary: 'Ends the session of the token',
      run: (exchange) => logout(service.sessions, exchange),
    },
    {
      ...token,
      method: 'POST',
      path: '/auth/revoke',
      body: 'optional-json',
      bodySchema: REVOCATION,
      answer: done,
      needs: 'a token',
      summary: 'Ends another session of the user, or all others',
      run: (exchange) => revoke(service.sessions, exchange),
    },
    {
      ...token,
      method: 'GET',
      path: '/auth/me',
      body: 'none',
      answer: { json: SESSION_LIST },
      needs: 'a token',
      summary: 'The active sessions of the user',
      run: (exchange) => sessionList(service.sessions, exchange),
    },
    revocationRoute(service),
    ...(service.logoutTokens.length === 0 ? [] : [backChannelRoute(service)]),
  ]
}

/** Maximum bytes of a form with a token. */
const FORM_BYTES = 16 * 1024

/** The token in the body is the credential: whoever has it may end its session. @see https://www.rfc-editor.org/rfc/rfc7009 */
function revocationRoute({ sessions }: Service): Route {
  return {
    access: 'public',
    method: 'POST',
    path: '/oauth2/revoke',
    family: 'userinfo',
    body: 'form',
    bodySchema: formOf('token'),
    answer: 'nothing',
    maxBytes: () => FORM_BYTES,
    needs: 'a token in the body',
    summary: 'Ends the session of a token of this service (RFC 7009)',
    run: (exchange) => revokeToken(sessions, exchange),
  }
}

/**
 * Ends the session of the token in the form. An invalid or expired token gets the same answer, because it is useless anyway.
 *
 * @throws {OperationError} `parameter-required`, `parameter-invalid` unless there is exactly one token.
 */
async function revokeToken(sessions: Sessions, exchange: Exchange): Promise<Answer> {
  const [token, another] = parseForm(exchange.body?.text ?? '', { queryParameters: 100 }).filter(([name]) => name === 'token')
  if (token === undefined || token[1] === '') throw new OperationError('parameter-required', 'The field token is missing.')
  if (another !== undefined) throw new OperationError('parameter-invalid', 'The field token is there twice.')
  try {
    await sessions.logout(await sessions.verify(token[1]), originOf(exchange))
  } catch (error) {
    if (!(error instanceof OperationError) || error.code !== 'token-invalid') throw error
  }
  return emptyAnswer(200)
}

/** The token in the body is the credential: the issuer has no other. */
function backChannelRoute(service: Service): Route {
  return {
    access: 'public',
    method: 'POST',
    path: '/oauth2/backchannel-logout',
    family: 'userinfo',
    body: 'form',
    bodySchema: formOf('logout_token'),
    answer: 'nothing',
    needs: 'a logout token in the body',
    summary: 'Ends the sessions that a configured issuer names',
    run: (exchange) => backChannelLogout(service.sessions, service.logoutTokens, exchange),
  }
}

/** Ends the session of the caller's token. */
async function logout(sessions: Sessions, exchange: Exchange): Promise<Answer> {
  await sessions.logout(principalOf(exchange), originOf(exchange))
  return jsonAnswer(200, outcomeOk())
}

/**
 * Ends another session of the user, by login id, or all others.
 *
 * @throws {OperationError} `parameter-required`, `parameter-invalid`, `parameter-value`; `not-found` for unknown ids and for those of other users alike.
 */
async function revoke(sessions: Sessions, exchange: Exchange): Promise<Answer> {
  const principal = principalOf(exchange)
  const loginId = loginIdOf(exchange.body?.json ?? {})
  if (loginId === undefined) await sessions.revokeOthers(principal, originOf(exchange))
  else await sessions.revoke({ principal, loginId }, originOf(exchange))
  return jsonAnswer(200, outcomeOk())
}

/** Returns the login id, or `undefined` for all other sessions. */
function loginIdOf(body: JsonObject): string | undefined {
  const { loginId, others } = body
  if (loginId === undefined && others === undefined) throw new OperationError('parameter-required', 'The member loginId is missing.')
  if (loginId !== undefined && others !== undefined) {
    throw new OperationError('parameter-invalid', 'Only one of the members loginId and others can be given.')
  }
  if (others === true) return undefined
  if (typeof loginId === 'string' && loginId.length >= 1 && loginId.length <= MAX_LOGIN_ID) return loginId
  throw new OperationError('parameter-value', `The member loginId must be a text of 1 to ${MAX_LOGIN_ID} characters, others must be true.`)
}

function originOf({ requestId, remoteHost }: Exchange): AuditOrigin {
  return { requestId, remoteHost }
}

/** The caller's active sessions, newest first. */
async function sessionList(sessions: Sessions, exchange: Exchange): Promise<Answer> {
  const { sub, claims, loginId } = principalOf(exchange)
  const active = await sessions.list(sub)
  return jsonAnswer(200, {
    sub,
    ...textClaim('name', claims),
    ...textClaim('email', claims),
    sessions: active.map((session) => sessionEntry(session, session.loginId === loginId)),
  })
}

function textClaim(name: string, claims: Readonly<Record<string, unknown>>): Record<string, string> {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}

function sessionEntry(session: SessionRecord, current: boolean): object {
  const { loginId, userAgent, remoteHost, authMethod, createdAt, lastUsedAt, expiresAt } = session
  return {
    loginId,
    userAgent,
    remoteHost,
    authMethod,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: new Date(lastUsedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    current,
  }
}

/**
 * Ends the sessions that an issuer's logout token names: those of one login, or of the user.
 *
 * @throws {OperationError} `parameter-invalid`, always the same for a token that is not accepted; `unavailable`.
 */
async function backChannelLogout(sessions: Sessions, verifiers: readonly LogoutTokenVerifier[], exchange: Exchange): Promise<Answer> {
  const tokens = parseForm(exchange.body?.text ?? '', { queryParameters: 100 }).filter(([name]) => name === 'logout_token')
  const [token = ''] = tokens.map(([, value]) => value)
  const verifier = verifiers.find((one) => one.claims(token))
  if (tokens.length !== 1 || verifier === undefined) throw refused()
  const { requestId, remoteHost } = exchange
  const { markUsed, ...ended } = await verifier.verify(token, {
    isNew: (key) => sessions.useOnce(key, LOGOUT_TOKEN_MS),
    isUsed: async (key) => !(await sessions.useOnce(key, 0)),
  })
  await sessions.endLogin(ended, { requestId, remoteHost })
  await markUsed?.()
  return emptyAnswer(200)
}

/**
 * Returns the claims about the user that the token's scopes release; claims without a value are omitted.
 *
 * @throws {OperationError} `forbidden` without the scope `openid`; `token-malformed` if a form contains a token in addition to the header.
 */
async function userInfo(exchange: Exchange): Promise<Answer> {
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

/** Refuses a token in the form, in addition to the one in the header. */
function refuseSecondToken({ body }: Exchange): void {
  if (body === undefined) return
  const fields = parseForm(body.text, { queryParameters: 1_000 })
  if (fields.some(([name]) => name === 'access_token')) throw malformedCredentials()
}

const BOOLEANS: ReadonlySet<string> = new Set(['email_verified', 'phone_number_verified'])

function hasClaimType(name: string, value: unknown): boolean {
  if (BOOLEANS.has(name)) return typeof value === 'boolean'
  if (name === 'updated_at') return typeof value === 'number'
  if (name === 'address') return typeof value === 'object' && value !== null
  return typeof value === 'string' && value !== ''
}

/** Maximum characters of a login id in a request. */
const MAX_LOGIN_ID = 128

const TEXT = { type: 'string' } as const
const INSTANT = { type: 'string', format: 'date-time' } as const

/** Claims whose values are not strings. */
const TYPES_OF_CLAIMS: ReadonlyMap<string, JsonObject> = new Map([
  ['email_verified', { type: 'boolean' }],
  ['phone_number_verified', { type: 'boolean' }],
  ['updated_at', { type: 'number' }],
  ['address', { type: 'object' }],
])

/** The scopes of the token and the user decide which claims are present. */
const USER_CLAIMS: JsonObject = {
  type: 'object',
  required: ['sub'],
  properties: {
    sub: TEXT,
    ...Object.fromEntries(SCOPE_CLAIMS.flatMap(([, names]) => names.map((name) => [name, TYPES_OF_CLAIMS.get(name) ?? TEXT]))),
  },
}

const REVOCATION: JsonObject = {
  type: 'object',
  description: 'One session by its `loginId`, or all `others`',
  properties: { loginId: { type: 'string', minLength: 1, maxLength: MAX_LOGIN_ID }, others: { type: 'boolean', const: true } },
}

const SESSION: JsonObject = {
  type: 'object',
  required: ['loginId', 'createdAt', 'lastUsedAt', 'expiresAt', 'current'],
  properties: {
    loginId: TEXT,
    userAgent: TEXT,
    remoteHost: TEXT,
    authMethod: TEXT,
    createdAt: INSTANT,
    lastUsedAt: INSTANT,
    expiresAt: INSTANT,
    current: { type: 'boolean', description: 'Whether it is that of the token' },
  },
}

/** The caller's active sessions. */
const SESSION_LIST: JsonObject = {
  type: 'object',
  required: ['sub', 'sessions'],
  properties: { sub: TEXT, name: TEXT, email: TEXT, sessions: { type: 'array', items: SESSION } },
}

/** JSON Schema of a form with one required field. */
function formOf(field: string): JsonObject {
  return { type: 'object', required: [field], properties: { [field]: { type: 'string', minLength: 1 } } }
}
