import { createPace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { objectAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { StoredResource } from 'fhir-ops/storage'
import { onlyValue } from '../http/target.js'
import type { Exchange } from '../exchange.js'
import type { Answer } from '../http/answer.js'
import { readingBase64, writingBase64 } from '../http/base64.js'
import { mediaTypeOf } from '../http/media-types.js'
import { addressIn } from './reach.js'

/** A media type with its parameters that can stand in a header. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:; ?[\w!#$&^.+-]{1,50}=(?:[\w!#$&^.+-]{1,100}|"[\w !#$&^.+-]{1,100}"))*$/

/** Types that a browser may run, or take for a page: they are sent as bytes without a meaning. */
const ACTIVE = /html|xml|svg|script|ecma|css|wasm|^multipart\/|^text\/(?!plain|csv|markdown|calendar|vcard|rtf)|flash|java|message\//

/**
 * Makes the resource of content that came as it is: with its `Content-Type`, and the header `X-Security-Context`. A body that is a Binary in JSON stays as it is.
 *
 * @throws {OperationError} `parameter-value` for a context that is not a reference to a resource.
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

/** Whether the caller asks for the content of a Binary rather than for the resource: by naming no type of FHIR. */
export function asksForContent({ request, target, whole }: Exchange): boolean {
  if (whole !== undefined || onlyValue(target.query, '_format') !== undefined) return false
  if (target.query.some(([name]) => name === '_summary' || name === '_elements')) return false
  const ranges = (request.header('accept') ?? '').split(',').map(mediaTypeOf)
  return !ranges.includes('application/fhir+json') && ranges[0] !== 'application/json'
}

/**
 * The content of a Binary as it was sent, to be saved and not to be shown: as an attachment, in a sandbox, never as a page or a script. `undefined` when it has
 * none.
 *
 * @param headers Of its version.
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
