import { createPace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { objectAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { StoredResource } from 'fhir-ops/storage'
import { onlyValue } from '../http/target.js'
import type { Exchange } from '../exchange.js'
import type { Answer } from '../http/answer.js'
import { readingBase64, writingBase64 } from '../http/base64.js'
import { mediaTypeOf } from '../http/negotiation.js'
import { addressIn } from './reach.js'

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
export function asksForContent({ request, target, bundle }: Exchange): boolean {
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
export async function contentAnswer({ ctx }: Exchange, stored: StoredResource, headers: Answer['headers']): Promise<Answer | undefined> {
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
