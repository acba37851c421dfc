import { paced, createPace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { StoredResource } from 'fhir-ops/storage'
import type { ResourceVersion } from 'fhir-ops/internal/storage'
import type { Awaitable } from 'fhir-ops/internal/work'
import { notFound } from '../auth/caller.js'
import { param, type Exchange } from '../exchange.js'
import { emptyAnswer, fhirText, type Answer } from '../http/answer.js'
import { type Target, onlyValue } from '../http/target.js'
import { withDefinitions } from './definitions.js'
import type { Service } from '../service.js'
import { mediaTypeOf, prefersHandling, PROTOCOL_PARAMETERS } from '../http/negotiation.js'
import { isReached, isVersionReached, addressIn } from './reach.js'
import { SHAPING, subsetAsAsked } from './search/subset.js'
import { objectAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { readingBase64, writingBase64 } from '../http/base64.js'

/**
 * Reads the current version of a resource, in full unless `_summary` or `_elements` is given; 304 if the caller already has it (`If-None-Match`,
 * `If-Modified-Since`).
 *
 * @throws {OperationError} `not-found`; `deleted` if the storage knows that it existed; as `checkParameters`.
 */
export async function readResource(service: Service, asked: Exchange): Promise<Answer> {
  checkParameters(asked)
  const [type, id] = [param(asked, 'type'), param(asked, 'id')]
  const ctx = await withDefinitions(service, asked, type)
  const exchange = ctx === asked.ctx ? asked : { ...asked, ctx }
  const stored = await ctx.storage.read(type, id)
  if (stored === undefined) throw await missing(exchange, type, id)
  if (!(await isReached(exchange, stored))) throw notFound(type, id)
  const headers = versionHeaders(stored)
  if (isKnown(exchange, stored)) return emptyAnswer(304, headers)
  const content = type === 'Binary' && asksForContent(exchange) ? await contentAnswer(exchange, stored, headers) : undefined
  return content ?? fhirText(200, await textAsAsked(exchange, stored), headers)
}

/**
 * Reads a version by number. A storage without history has only the current version.
 *
 * @throws {OperationError} `not-found`; `deleted` for a version that is a deletion; as `checkParameters`.
 */
export async function readVersion(service: Service, exchange: Exchange): Promise<Answer> {
  checkParameters(exchange)
  const [type, id, number] = [param(exchange, 'type'), param(exchange, 'id'), param(exchange, 'version')]
  const version =
    (await versionOf(exchange.ctx, { type, id, number })) ?? (await definitionVersion(service, exchange, { type, id, number }))
  if (version === undefined || !(await isVersionReached(exchange, version)))
    throw await missingVersion(service, exchange, { type, id, number })
  if (version.stored === undefined) throw deleted(`${type}/${id}/_history/${number}`)
  return fhirText(200, await textAsAsked(exchange, version.stored), versionHeaders(version))
}

interface VersionAddress {
  readonly type: string
  readonly id: string
  readonly number: string
}

async function versionOf({ storage }: Exchange['ctx'], { type, id, number }: VersionAddress): Promise<ResourceVersion | undefined> {
  if (storage.history !== undefined) return storage.history.version(type, id, number)
  const stored = await storage.read(type, id)
  return stored?.versionId === number ? { type, id, versionId: number, lastUpdated: stored.lastUpdated, stored } : undefined
}

/** The error for a version that does not exist. It names the resource if that does not exist for the caller, as for one that a rule of the host hides. */
async function missingVersion(service: Service, exchange: Exchange, { type, id, number }: VersionAddress): Promise<OperationError> {
  const { storage } = await withDefinitions(service, exchange, type)
  const stored = await storage.read(type, id)
  const isKnown = stored !== undefined && (await isReached(exchange, stored))
  return notFound(type, isKnown ? `${id}/_history/${number}` : id)
}

/** Reads a definition by version; it has only one. */
async function definitionVersion(
  service: Service,
  exchange: Exchange,
  { type, id, number }: VersionAddress,
): Promise<ResourceVersion | undefined> {
  const { storage } = await withDefinitions(service, exchange, type)
  const stored = await storage.read(type, id)
  return stored?.versionId === number ? { type, id, versionId: number, lastUpdated: stored.lastUpdated, stored } : undefined
}

/** Other parameters are ignored, unless the caller prefers strict handling. @throws {OperationError} `parameter-unsupported` */
function checkParameters({ request, target }: Exchange): void {
  const [unknown] = target.query.find(([name]) => !SHAPING.has(name) && !PROTOCOL_PARAMETERS.has(name)) ?? []
  if (unknown === undefined || !prefersHandling(request, 'strict')) return
  throw new OperationError('parameter-unsupported', `A read takes no parameter ${quoted(unknown)}.`, { expression: [unknown] })
}

/** Returns the text of a resource, or the part of it that `_summary` or `_elements` selects. */
function textAsAsked(exchange: Exchange, stored: StoredResource): Awaitable<string> {
  const asked = exchange.target.query.filter(([name]) => SHAPING.has(name))
  return asked.length === 0 ? stored.text : subsetText(exchange, stored, asked)
}

async function subsetText(exchange: Exchange, { type, text }: StoredResource, query: Target['query']): Promise<string> {
  const subset = await subsetAsAsked(exchange, { type, query })
  return subset === undefined ? text : paced(exchange.ctx, subset(text))
}

/** The error for a resource that does not exist now. */
export async function missing({ ctx, caller }: Pick<Exchange, 'ctx' | 'caller'>, type: string, id: string): Promise<OperationError> {
  const [last] = (await ctx.storage.history?.page({ types: [type], id, limit: 1 }))?.items ?? []
  // Another request may have stored the resource since the lookup.
  const isDeleted = last !== undefined && last.stored === undefined && (await isVersionReached({ ctx, caller }, last))
  return isDeleted ? deleted(`${type}/${id}`) : notFound(type, id)
}

function deleted(address: string): OperationError {
  return new OperationError('deleted', `${address} is deleted.`)
}

/** Returns `ETag` and `Last-Modified` of a version. */
export function versionHeaders({ versionId, lastUpdated }: Pick<StoredResource, 'versionId' | 'lastUpdated'>): Answer['headers'] {
  return [
    ['ETag', `W/"${versionId}"`],
    ['Last-Modified', httpDateOf(lastUpdated)],
  ]
}

/** Format of stored times: an instant in UTC. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Formats an instant as an HTTP date (RFC 9110 5.6.7). For UTC, this takes a tenth of the time of `toUTCString` (bench `http`, read). */
export function httpDateOf(instant: string): string {
  if (!INSTANT.test(instant)) return new Date(instant).toUTCString()
  const [year, month, day] = [instant.slice(0, 4), instant.slice(5, 7), instant.slice(8, 10)]
  const weekday = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDay()
  return `${DAYS[weekday]}, ${day} ${MONTHS[Number(month) - 1]} ${year} ${instant.slice(11, 19)} GMT`
}

/** `If-None-Match` takes precedence over `If-Modified-Since`, which has only whole seconds (RFC 9110 13.2.2). */
function isKnown({ request }: Exchange, { versionId, lastUpdated }: StoredResource): boolean {
  const tags = request.header('if-none-match')
  if (tags !== undefined) return namesVersion(tags, versionId)
  const since = request.header('if-modified-since')
  return since !== undefined && secondOf(lastUpdated) <= Date.parse(since)
}

/** True if the version was written after the date in `If-Unmodified-Since`; false for text that is not a date, which is ignored (RFC 9110, 13.1.4). */
export function isModifiedSince(date: string, { lastUpdated }: Pick<StoredResource, 'lastUpdated'>): boolean {
  return secondOf(lastUpdated) > Date.parse(date)
}

/** HTTP dates have whole seconds. A storage without times reports the beginning of 1970: its resources may have changed at any time. */
function secondOf(instant: string): number {
  return Math.floor(Date.parse(instant) / 1_000) * 1_000 || Infinity
}

/** True if `If-Match` or `If-None-Match` names this version, or any (`*`). Weak and strong tags are equal; versions without quotes are accepted. */
export function namesVersion(tags: string, versionId: string): boolean {
  return tags.split(',').some((tag) => ['*', versionId, `"${versionId}"`].includes(tag.trim().replace(/^W\//, '')))
}

/** A media type, with parameters, that is valid in a header. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:; ?[\w!#$&^.+-]{1,50}=(?:[\w!#$&^.+-]{1,100}|"[\w !#$&^.+-]{1,100}"))*$/

/** Types that a browser may execute or display as a page; they are sent as opaque bytes. */
const ACTIVE = /html|xml|svg|script|ecma|css|wasm|^multipart\/|^text\/(?!plain|csv|markdown|calendar|vcard|rtf)|flash|java|message\//

/**
 * Makes a Binary of content that was sent in its own format, using `Content-Type` and `X-Security-Context`. A Binary sent as JSON is left unchanged.
 *
 * @throws {OperationError} `parameter-value` for a security context that is not a reference to a resource.
 * @see https://hl7.org/fhir/R4/binary.html#rest
 */
export async function takeContent(exchange: Exchange): Promise<void> {
  const { body, request, params, ctx } = exchange
  if (body === undefined || body.json !== undefined) return
  const contentType = request.header('content-type') ?? ''
  if (!MEDIA_TYPE.test(contentType.trim())) throw new OperationError('media-type-unsupported', 'The Content-Type must be a media type.')
  const id = params.get('id')
  const context = request.header('x-security-context')
  const head = {
    resourceType: 'Binary',
    ...(id !== undefined && { id }),
    contentType: contentType.trim(),
    ...(context !== undefined && { securityContext: { reference: contextOf(context) } }),
  }
  const data = await createPace(ctx).run(writingBase64(body.bytes))
  const text = data === '' ? JSON.stringify(head) : `${JSON.stringify(head).slice(0, -1)},"data":"${data}"}`
  exchange.body = { ...body, text, json: data === '' ? head : { ...head, data } }
}

function contextOf(reference: string): string {
  if (/^[!-~]{1,500}$/.test(reference) && addressIn(reference) !== undefined) return reference
  throw new OperationError('parameter-value', 'The header X-Security-Context must be a reference to a resource, such as Patient/example.')
}

/** True if the caller requests the content of a Binary rather than the resource, by not naming a FHIR media type. */
function asksForContent({ request, target, bundle }: Exchange): boolean {
  if (bundle !== undefined || onlyValue(target.query, '_format') !== undefined) return false
  if (target.query.some(([name]) => name === '_summary' || name === '_elements')) return false
  const ranges = (request.header('accept') ?? '').split(',').map(mediaTypeOf)
  return !ranges.includes('application/fhir+json') && ranges[0] !== 'application/json'
}

/**
 * Returns the content of a Binary as it was sent, to be saved rather than displayed: as an attachment, in a sandbox, never as a page or a script.
 * `undefined` if it has no content.
 *
 * @param headers Headers of the version.
 * @throws {OperationError} `unprocessable` for data that is not base64.
 */
async function contentAnswer({ ctx }: Exchange, stored: StoredResource, headers: Answer['headers']): Promise<Answer | undefined> {
  const resource: JsonObject = stored.resource
  const data = stringAt(resource, 'data')
  if (data === undefined) return undefined
  const bytes = await createPace(ctx).run(readingBase64(data))
  if (bytes === undefined)
    throw new OperationError('unprocessable', `The data of Binary/${stored.id} is not base64; ask for application/fhir+json.`)
  const contentType = stringAt(resource, 'contentType') ?? ''
  const isSafe = MEDIA_TYPE.test(contentType) && !ACTIVE.test(mediaTypeOf(contentType))
  const context = stringAt(objectAt(resource, 'securityContext'), 'reference')
  return {
    status: 200,
    headers: [
      ['Content-Type', isSafe ? contentType : 'application/octet-stream'],
      ['Content-Disposition', `attachment; filename="${stored.id}"`],
      ['Content-Security-Policy', 'sandbox'],
      ...headers,
      ...(context !== undefined && /^[!-~]{1,500}$/.test(context) ? [['X-Security-Context', context] as const] : []),
    ],
    bytes,
  }
}
