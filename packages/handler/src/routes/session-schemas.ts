import type { JsonObject } from 'fhir-ops/internal/json'
import { SCOPE_CLAIMS } from '../auth/jwt-claims.js'

/** JSON Schemas of what the session routes take and give. */

/** Most characters of a login id in a request. */
export const MAX_LOGIN_ID = 128

const TEXT = { type: 'string' } as const
const INSTANT = { type: 'string', format: 'date-time' } as const

/** Names of claims whose values are not texts. */
const TYPES_OF_CLAIMS: ReadonlyMap<string, JsonObject> = new Map([
  ['email_verified', { type: 'boolean' }],
  ['phone_number_verified', { type: 'boolean' }],
  ['updated_at', { type: 'number' }],
  ['address', { type: 'object' }],
])

/** Which claims there are depends on the scopes of the token and on the user. */
export const USER_CLAIMS: JsonObject = {
  type: 'object',
  required: ['sub'],
  properties: {
    sub: TEXT,
    ...Object.fromEntries(SCOPE_CLAIMS.flatMap(([, names]) => names.map((name) => [name, TYPES_OF_CLAIMS.get(name) ?? TEXT]))),
  },
}

/** A session by its login id, or all others. */
export const REVOCATION: JsonObject = {
  type: 'object',
  oneOf: [{ required: ['loginId'] }, { required: ['others'] }],
  properties: { loginId: { type: 'string', minLength: 1, maxLength: MAX_LOGIN_ID }, others: { const: true } },
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
export const SESSION_LIST: JsonObject = {
  type: 'object',
  required: ['sub', 'sessions'],
  properties: { sub: TEXT, name: TEXT, email: TEXT, sessions: { type: 'array', items: SESSION } },
}

/** A form with one field that is needed. */
export function formOf(field: string): JsonObject {
  return { type: 'object', required: [field], properties: { [field]: { type: 'string', minLength: 1 } } }
}
