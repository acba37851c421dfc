import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { readableJsonType } from 'fhir-ops/internal/json'
import type { HttpRequest } from './http-request.js'
import { onlyValue } from './target.js'

/** Parameters of every URL that ask for the form of the answer; operations, searches and reads do not see them. */
export const PROTOCOL_PARAMETERS: ReadonlySet<string> = new Set(['_format', '_pretty'])

const JSON_TYPES: ReadonlySet<string> = new Set(['application/fhir+json', 'application/json+fhir', 'application/json', 'text/json', 'json'])

/** Names of JSON that are treated as `application/fhir+json` and `application/json`, besides all that end in `+json`. */
export const OTHER_JSON_TYPES: readonly string[] = ['application/json+fhir', 'text/json']

const NDJSON_TYPES: ReadonlySet<string> = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson'])
const JSON_RANGES: ReadonlySet<string> = new Set([...JSON_TYPES, 'application/*', '*/*'])

/** Returns the media type of a `Content-Type` in lower case, without parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** Returns the media type as which a body is read, because JSON has many names. */
export function bodyTypeOf(request: HttpRequest): string {
  return readableJsonType(mediaTypeOf(request.header('content-type')))
}

/**
 * Checks that a body can be read: its type is one of these, or another name of JSON if JSON is one; it is UTF-8 and, unless it is inflated already, not compressed, not even for transfer.
 *
 * @throws {OperationError} `media-type-unsupported`
 */
export function checkContentType(request: HttpRequest, allowed: readonly string[] | 'any'): void {
  const contentType = request.header('content-type')
  checkPlain('Content-Encoding', request.header('content-encoding'), 'identity')
  checkPlain('Transfer-Encoding', request.header('transfer-encoding'), 'chunked')
  if (allowed === 'any') return checkHasType(contentType)
  if (!allowed.includes(bodyTypeOf(request))) {
    throw new OperationError(
      'media-type-unsupported',
      `${/xml/i.test(contentType ?? '') ? 'XML is not read. ' : ''}The Content-Type must be ${namesOf(allowed)}, not ${quoted(contentType ?? '')}.`,
    )
  }
  if (!isUtf8(contentType ?? '')) throw new OperationError('media-type-unsupported', 'The charset must be UTF-8.')
  if (!isR4(contentType ?? '')) throw new OperationError('media-type-unsupported', 'The fhirVersion must be 4.0.')
}

/** Media types for the error message: if JSON is allowed, any of its names is. */
function namesOf(allowed: readonly string[]): string {
  return [...allowed, ...(allowed.includes('application/json') ? ['another type of JSON'] : [])].join(' or ')
}

function checkHasType(contentType: string | undefined): void {
  if (mediaTypeOf(contentType) === '') throw new OperationError('media-type-unsupported', 'The Content-Type is missing.')
}

function checkPlain(name: string, value: string | undefined, allowed: string): void {
  const coding = value?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== allowed)
    throw new OperationError('media-type-unsupported', `The ${name} ${quoted(coding)} is not supported: send the body without it.`)
}

function isUtf8(contentType: string): boolean {
  return valuesOf(contentType, 'charset').every((charset) => charset === 'utf-8' || charset === 'utf8')
}

/** @see https://hl7.org/fhir/R4/http.html#version-parameter */
function isR4(type: string): boolean {
  return valuesOf(type, 'fhirversion').every((version) => version === '4.0' || version.startsWith('4.0.'))
}

/** Returns the values of a parameter of a media type, in lower case and without quotes. */
function valuesOf(type: string, parameter: string): readonly string[] {
  return type
    .split(';')
    .slice(1)
    .flatMap((part) => {
      const [name, value = ''] = part.split('=', 2).map((text) => text.trim().toLowerCase())
      return name === parameter ? [value.replaceAll('"', '')] : []
    })
}

/**
 * Checks that the caller accepts JSON, by `_format` or else by `Accept`. An `Accept` without any media range counts as absent. The
 * `+` of `_format=application/fhir+json` arrives as a space unless it was escaped.
 *
 * @throws {OperationError} `not-acceptable`; `parameter-invalid` for a repeated `_format`.
 */
export function checkAcceptsJson(request: HttpRequest, query: readonly (readonly [string, string])[]): void {
  const format = onlyValue(query, '_format')
  if (format === undefined ? acceptsJson(request.header('accept')) : isJsonFormat(format)) return
  const reason = /xml/i.test(format ?? request.header('accept') ?? '') ? 'XML is not offered. ' : ''
  throw new OperationError('not-acceptable', `${reason}Only JSON of FHIR R4 is available: application/fhir+json or application/json.`)
}

/** True if the caller requests NDJSON by name, with `_format` or else with `Accept`. */
export function asksForNdjson(request: HttpRequest, query: readonly (readonly [string, string])[]): boolean {
  const format = onlyValue(query, '_format')
  if (format !== undefined) return NDJSON_TYPES.has(mediaTypeOf(format).replace(' ', '+'))
  return (request.header('accept') ?? '').split(',').some((range) => NDJSON_TYPES.has(mediaTypeOf(range)) && !isRefused(range))
}

function isJsonFormat(format: string): boolean {
  return JSON_TYPES.has(mediaTypeOf(format).replace(' ', '+')) && isR4(format)
}

function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined) return true
  const ranges = accept.split(',').filter((range) => range.includes('/'))
  return ranges.length === 0 || ranges.some((range) => JSON_RANGES.has(mediaTypeOf(range)) && isR4(range) && !isRefused(range))
}

/** True for a media range with quality 0. */
function isRefused(range: string): boolean {
  return valuesOf(range, 'q').some((quality) => /^0(\.0*)?$/.test(quality))
}

/** What the body of the answer to a write contains (`Prefer: return=...`). */
type ReturnPreference = 'minimal' | 'representation' | 'OperationOutcome'

const RETURNS: ReadonlyMap<string, ReturnPreference> = new Map([
  ['return=minimal', 'minimal'],
  ['return=representation', 'representation'],
  ['return=operationoutcome', 'OperationOutcome'],
])

/** Returns the first known preference about the body; others are ignored (RFC 7240 2). */
export function returnPreference(request: Pick<HttpRequest, 'header'>): ReturnPreference | undefined {
  return preferencesOf(request)
    .map((preference) => RETURNS.get(preference))
    .find((known) => known !== undefined)
}

/** True if the caller prefers this handling of unknown parameters: refuse them (`strict`) or ignore them (`lenient`). */
export function prefersHandling(request: Pick<HttpRequest, 'header'>, handling: 'strict' | 'lenient'): boolean {
  return preferencesOf(request).includes(`handling=${handling}`)
}

/** True if the caller prefers an asynchronous answer (`Prefer: respond-async`, RFC 7240 4.1). */
export function prefersAsync(request: Pick<HttpRequest, 'header'>): boolean {
  return preferencesOf(request).includes('respond-async')
}

function preferencesOf(request: Pick<HttpRequest, 'header'>): readonly string[] {
  const given = request.header('prefer')
  return given === undefined ? [] : given.split(/[,;]/).map((preference) => preference.replaceAll(/[\s"]/g, '').toLowerCase())
}
