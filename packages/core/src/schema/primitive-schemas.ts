import type { JsonObject } from '../json/index.js'

const YEAR = '(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])'
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)'
const MONTH = '(?:0[1-9]|1[0-2])'
const LONG_MONTH_DAY = '(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])'
const SHORT_MONTH_DAY = '(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)'
const DAY = `(?:${YEAR}-(?:${LONG_MONTH_DAY}|${SHORT_MONTH_DAY}|02-(?:0[1-9]|1[0-9]|2[0-8]))|${LEAP_YEAR}-02-29)`
const TIME = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\\.[0-9]+)?'
const ZONE = '(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])'
const OID = '^urn:oid:[0-2](?:\\.(?:0|[1-9][0-9]*))+$'
const HEX = '[0-9a-fA-F]'
const UUID = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`
const BASE64 = '[A-Za-z0-9+/]'

/** Octets of the longest string; characters are counted here. */
const LONGEST = 1_048_576
const MAX_INTEGER = 2_147_483_647

const TEXT: JsonObject = { type: 'string', minLength: 1, maxLength: LONGEST }

/** A URI: no white space, and what looks like a URN of an OID or UUID is one. */
const URI: JsonObject = {
  type: 'string',
  pattern: '^\\S+$',
  not: { pattern: '^(?:oid|uuid):' },
  allOf: [
    { if: { pattern: '^urn:oid:' }, then: { pattern: OID } },
    { if: { pattern: '^urn:uuid:' }, then: { pattern: `^urn:uuid:${UUID}(?:#.*)?$` } },
  ],
}

/**
 * What JSON Schema says of the values of each primitive type. The expressions are those of FHIR's data types, with the days of months and
 * leap years, and without look-around and repetition inside repetition of the same, so that every engine matches them in linear time.
 *
 * @see https://hl7.org/fhir/R4/datatypes.html#primitive
 */
export const PRIMITIVE_SCHEMAS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['boolean', { type: 'boolean' }],
  ['base64Binary', { type: 'string', minLength: 1, pattern: base64Pattern(), contentEncoding: 'base64' }],
  ['canonical', { allOf: [URI, { pattern: '^(?:#|[A-Za-z][A-Za-z0-9+.-]*:)' }] }],
  ['code', { type: 'string', pattern: '^\\S+(?:[^\\S\\t\\n\\r]\\S+)*$' }],
  ['date', { type: 'string', pattern: `^(?:${YEAR}(?:-${MONTH})?|${DAY})$` }],
  ['dateTime', { type: 'string', pattern: `^(?:${YEAR}(?:-${MONTH})?|${DAY}(?:T${TIME}${ZONE})?)$` }],
  ['decimal', { type: 'number' }],
  ['id', { type: 'string', pattern: '^[A-Za-z0-9.-]{1,64}$' }],
  ['instant', { type: 'string', pattern: `^${DAY}T${TIME}${ZONE}$` }],
  ['integer', { type: 'integer', minimum: -MAX_INTEGER - 1, maximum: MAX_INTEGER }],
  ['markdown', TEXT],
  ['oid', { type: 'string', pattern: OID }],
  ['positiveInt', { type: 'integer', minimum: 1, maximum: MAX_INTEGER }],
  ['string', TEXT],
  ['time', { type: 'string', pattern: `^${TIME}$` }],
  ['unsignedInt', { type: 'integer', minimum: 0, maximum: MAX_INTEGER }],
  ['uri', URI],
  ['url', URI],
  ['uuid', { type: 'string', pattern: '^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }],
  ['xhtml', { type: 'string', minLength: 1 }],
])

/** Groups of four characters, of which the last may end with one or two `=`, with white space anywhere. */
function base64Pattern(): string {
  const space = '[ \\t\\n\\r]*'
  const digit = `${BASE64}${space}`
  const pad = `=${space}`
  return `^${space}(?:(?:${digit}){4})*(?:${digit}${digit}${pad}${pad}|${digit}${digit}${digit}${pad})?$`
}
